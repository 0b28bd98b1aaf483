//! Replaying a file at the speed of its rows, or a multiple of it.

use std::thread;
use std::time::{Duration, Instant};

use crate::Stop;

/// Longest time without a look at whether to stop.
const SLICE: f64 = 0.1;

/// Waits until it is time for a row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// How much faster than the rows were sampled; `None` for as fast as possible.
    speed: Option<f64>,
    origin: Option<(Instant, f64)>,
}

impl Pace {
    pub(super) fn new(speed: Option<f64>) -> Self {
        Pace { speed, origin: None }
    }

    /// Waits for the row that was sampled at `time` seconds. A time that goes back begins again.
    pub(super) fn wait(&mut self, time: f64, stop: &Stop) {
        let Some(speed) = self.speed else { return };
        let (begun, first) = *self.origin.get_or_insert_with(|| (Instant::now(), time));
        if time < first {
            self.origin = Some((Instant::now(), time));
            return;
        }
        loop {
            let rest = (time - first) / speed - begun.elapsed().as_secs_f64();
            if rest <= 0.0 || stop.is_set() {
                return;
            }
            thread::sleep(Duration::from_secs_f64(rest.min(SLICE)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_when_they_are_due() {
        let (stop, begun) = (Stop::default(), Instant::now());
        let mut pace = Pace::new(Some(10.0));
        [5.0, 5.5, 6.0, 1.0].iter().for_each(|time| pace.wait(*time, &stop));
        let seconds = begun.elapsed().as_secs_f64();
        assert!((0.1..0.5).contains(&seconds), "one second at ten times its speed took {seconds}");
        let begun = Instant::now();
        let mut pace = Pace::new(None);
        [0.0, 1e6].iter().for_each(|time| pace.wait(*time, &stop));
        stop.set();
        let mut pace = Pace::new(Some(1.0));
        [0.0, 1e6].iter().for_each(|time| pace.wait(*time, &stop));
        assert!(begun.elapsed().as_secs_f64() < 0.5);
    }
}
