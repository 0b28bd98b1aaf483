//! Progress of an evaluation that runs a model many times.

use std::time::{Duration, Instant};

/// Prints a line to standard error every two seconds, so that a short evaluation prints none.
pub(in crate::commands) struct RunCounter {
    what: &'static str,
    total: usize,
    done: usize,
    last: Instant,
}

const INTERVAL: Duration = Duration::from_secs(2);

impl RunCounter {
    pub(in crate::commands) fn new(what: &'static str, total: usize) -> Self {
        RunCounter { what, total, done: 0, last: Instant::now() }
    }

    /// Counts a run that has ended.
    pub(in crate::commands) fn count(&mut self) {
        self.done += 1;
        if self.last.elapsed() >= INTERVAL {
            eprintln!("{}: {} of {} runs over the recordings", self.what, self.done, self.total);
            self.last = Instant::now();
        }
    }
}
