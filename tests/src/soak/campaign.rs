//! All cases, on all cores of this machine.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use super::cases::{model_and_layout, remembers_misses};
use super::drift::{self, Drift};
use super::recovery::{self, Recovery};
use crate::Case;
use crate::attack::campaign::caught;

/// The part of a case's steps that are spent on a periodic input: one in this many.
const DRIFT_SHARE: u64 = 4;

/// What a case went through.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The model.
    pub model: String,
    /// Its layout.
    pub layout: &'static str,
    /// Bursts and the way back.
    pub recovery: Recovery,
    /// The periodic input.
    pub drift: Drift,
    /// Whether the model keeps a record of its misses on purpose; see [`remembers_misses`].
    pub remembers: bool,
}

impl Outcome {
    /// Steps of both parts.
    pub fn steps(&self) -> u64 {
        self.recovery.steps + self.drift.steps
    }

    /// What is wrong with it, if anything.
    pub fn finding(&self) -> Option<String> {
        let (unrecovered, difference) = (self.recovery.unrecovered(), self.drift.difference);
        if unrecovered > 0 {
            let rows = recovery::LONGEST;
            return Some(format!("after {unrecovered} bursts it is not back within {rows} clean rows"));
        }
        let has_drifted = difference > drift::TOLERANCE && !self.remembers;
        has_drifted.then(|| format!("its state has drifted by {difference:e}"))
    }
}

/// Soaks one case.
///
/// # Errors
/// Says which promise was broken.
pub fn soak(case: &Case, steps: u64, seed: u64, progress: impl Fn(u64)) -> Result<Outcome, String> {
    caught(|| {
        let drift = drift::run(case, steps / DRIFT_SHARE, &progress)?;
        let recovery = recovery::run(case, steps.saturating_sub(drift.steps), seed, &progress)?;
        let (model, layout) = model_and_layout(case);
        Ok(Outcome { model: model.into(), layout, recovery, drift, remembers: remembers_misses(case) })
    })
}

/// Soaks every case with its share of the steps; `each` gets the name of every case with its result when it
/// is done, and `taken` counts the steps meanwhile.
pub fn soak_all(
    cases: &[Case],
    steps: u64,
    seed: u64,
    taken: &AtomicU64,
    each: impl FnMut(&Case, Result<Outcome, String>) + Send,
) {
    let share = steps / (cases.len() as u64).max(1);
    let (next, each) = (AtomicUsize::new(0), Mutex::new(each));
    let progress = |steps| _ = taken.fetch_add(steps, Ordering::Relaxed);
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let outcome = soak(case, share, seed, progress);
            if let Ok(mut each) = each.lock() {
                each(case, outcome);
            }
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| (0..threads).for_each(|_| _ = scope.spawn(work)));
}
