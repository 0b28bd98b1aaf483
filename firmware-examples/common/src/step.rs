//! The task that steps a model.

use embassy_time::Instant;

use crate::line::Line;
use crate::queue::RowQueue;
use crate::stepper::Stepper;

/// Nanoseconds since the start, as fine as the board's timer counts.
fn now_ns() -> u64 {
    Instant::now().as_ticks().wrapping_mul(1_000_000_000 / embassy_time::TICK_HZ)
}

/// Takes rows from the queue and steps the model, for ever.
pub async fn run<const N: usize, const DEPTH: usize, const SIZE: usize>(
    stepper: &mut Stepper<'_, '_>,
    queue: &RowQueue<N, DEPTH>,
    line: &Line<SIZE>,
) -> ! {
    #[cfg(feature = "defmt")]
    crate::print::start(stepper);
    loop {
        let row = queue.next().await;
        let step = stepper.step(&row, queue.load(), now_ns, |frame| line.offer(frame));
        #[cfg(feature = "defmt")]
        crate::print::step(&step);
        let _ = step;
    }
}
