//! Steps at a fixed rate, and what became of those that were late.

use std::time::{Duration, Instant};

/// Behind by this much, missed steps are skipped instead of made up for.
const HOPELESS: Duration = Duration::from_secs(1);

/// The times of steps.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    period: Duration,
    next: Instant,
    /// Steps that began more than half a period late.
    pub(crate) late: u64,
    /// Steps that were skipped.
    pub(crate) skipped: u64,
}

impl Schedule {
    /// Steps from a moment on.
    pub(crate) fn new(period: Duration, start: Instant) -> Self {
        Schedule { period, next: start, late: 0, skipped: 0 }
    }

    /// The time of the next step.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// The time for which a step is due, if one is. A late step is made all the same, because a model takes
    /// every row for one period.
    pub(crate) fn due(&mut self, now: Instant) -> Option<Instant> {
        let behind = now.checked_duration_since(self.next)?;
        if behind > HOPELESS {
            let missed = (behind.as_secs_f64() / self.period.as_secs_f64()) as u64;
            self.skipped += missed;
            self.next = now;
        }
        if behind > self.period / 2 {
            self.late += 1;
        }
        let due = self.next;
        self.next += self.period;
        Some(due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_steps_are_made_and_hopeless_ones_skipped() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut schedule = Schedule::new(Duration::from_millis(10), at(10));
        assert_eq!(schedule.due(at(9)), None);
        assert_eq!(schedule.due(at(10)), Some(at(10)));
        assert_eq!(schedule.due(at(19)), None);
        assert_eq!((schedule.due(at(45)), schedule.due(at(45))), (Some(at(20)), Some(at(30))));
        assert_eq!((schedule.due(at(45)), schedule.due(at(45))), (Some(at(40)), None));
        assert_eq!((schedule.late, schedule.skipped), (2, 0), "the last of them was in time");
        assert_eq!(schedule.due(at(2050)), Some(at(2050)));
        assert_eq!((schedule.late, schedule.skipped, schedule.next()), (3, 200, at(2060)));
    }
}
