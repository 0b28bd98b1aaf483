//! The time of one call.

use std::hint::black_box;
use std::time::Instant;

/// Rounds of which the fastest counts: whatever else the machine does only adds.
const ROUNDS: usize = 15;
/// A round is about this long.
const ROUND_SECONDS: f64 = 0.02;

/// Seconds of one call, from the fastest of several rounds of many.
pub(crate) fn per_call(mut work: impl FnMut() -> f32) -> f64 {
    let mut round = |calls: usize| {
        let begin = Instant::now();
        (0..calls).for_each(|_| {
            black_box(work());
        });
        begin.elapsed().as_secs_f64() / calls as f64
    };
    let calls = (ROUND_SECONDS / round(100)).clamp(1.0, 1e6) as usize;
    (0..ROUNDS).map(|_| round(calls)).fold(f64::INFINITY, f64::min)
}
