//! Rows that do not come: when they are given up, and what becomes of samples that come after that.

use std::time::{Duration, Instant};

/// Missing rows at once, at most; after a longer pause of the machine, time has passed without rows.
const AT_ONCE: usize = 1000;

/// The time stamps of a stream of fixed rate.
#[derive(Clone, Debug)]
pub(crate) struct Timeline {
    period: Option<f64>,
    timeout: f64,
    /// The last sample: its time stamp, and when it came.
    last: Option<(f64, Instant)>,
    /// Time stamp of the last row that was given up since.
    given_up: Option<f64>,
    /// Rows that were given up.
    pub(crate) missing: u64,
    /// Samples that came after their rows had been given up.
    pub(crate) too_late: u64,
}

impl Timeline {
    /// A stream of this many samples per second, 0 for no fixed rate, whose rows are missing when nothing has
    /// come for `timeout` seconds.
    pub(crate) fn new(rate: f64, timeout: f64) -> Self {
        let period = (rate > 0.0).then(|| 1.0 / rate);
        Timeline { period, timeout, last: None, given_up: None, missing: 0, too_late: 0 }
    }

    /// Takes in the time stamp of a sample. Whether it is a row: not if its time was given up.
    pub(crate) fn sample(&mut self, time: f64, now: Instant) -> bool {
        if self.given_up.is_some_and(|given_up| time <= given_up) {
            self.too_late += 1;
            return false;
        }
        (self.last, self.given_up) = (Some((time, now)), None);
        true
    }

    /// Time stamps of the rows that are to be given up by now.
    pub(crate) fn give_up(&mut self, now: Instant) -> Vec<f64> {
        let (Some(period), Some((time, arrival))) = (self.period, self.last) else { return Vec::new() };
        let silent = now.saturating_duration_since(arrival).as_secs_f64();
        if silent <= self.timeout {
            return Vec::new();
        }
        let until = time + silent;
        let mut times = Vec::new();
        let mut next = self.given_up.unwrap_or(time) + period;
        while next <= until && times.len() < AT_ONCE {
            times.push(next);
            next += period;
        }
        self.given_up = times.last().copied().or(self.given_up);
        self.missing += times.len() as u64;
        times
    }

    /// How long to wait for a sample.
    pub(crate) fn patience(&self) -> Duration {
        let period = self.period.filter(|_| self.given_up.is_some());
        Duration::from_secs_f64(period.unwrap_or(0.1).clamp(0.001, 0.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_given_up_after_the_timeout() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut timeline = Timeline::new(10.0, 0.45);
        assert!(timeline.give_up(at(900)).is_empty(), "nothing has come yet");
        assert!(timeline.sample(7.0, at(0)));
        assert!(timeline.give_up(at(440)).is_empty());
        let times = timeline.give_up(at(460));
        assert_eq!(times.len(), 4);
        assert!((times[3] - 7.4).abs() < 1e-9);
        assert_eq!(timeline.give_up(at(530)).len(), 1);
        assert!(!timeline.sample(7.3, at(540)), "its row was missing");
        assert!(timeline.sample(7.6, at(600)));
        assert!(timeline.give_up(at(700)).is_empty());
        assert_eq!((timeline.missing, timeline.too_late), (5, 1));
    }

    #[test]
    fn without_a_rate_nothing_is_missing() {
        let start = Instant::now();
        let mut timeline = Timeline::new(0.0, 0.1);
        assert!(timeline.sample(7.0, start) && timeline.sample(6.0, start));
        assert!(timeline.give_up(start + Duration::from_secs(9)).is_empty());
    }
}
