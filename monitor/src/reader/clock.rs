//! Times of rows: on the clock of the sender, which may begin again, as seconds that only go forward.

/// Turns times of a sender into times since the monitor was started.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Clock {
    /// Time since the start at which the sender's clock was zero.
    offset: Option<f64>,
    last: f64,
}

impl Clock {
    /// The sender has begun again, or its port was opened again.
    pub(super) fn begin_again(&mut self) {
        self.offset = None;
    }

    /// Time of a row. Its first row, and one whose time goes back, is at the time of its arrival.
    pub(super) fn time(&mut self, sent: f64, arrival: f64) -> f64 {
        let known = self.offset.map(|offset| sent + offset).filter(|time| *time >= self.last);
        let time = known.unwrap_or_else(|| {
            let time = arrival.max(self.last);
            self.offset = Some(time - sent);
            time
        });
        self.last = time;
        time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_go_forward_whatever_the_sender_does() {
        let mut clock = Clock::default();
        assert_eq!(clock.time(100.0, 2.0), 2.0);
        assert_eq!(clock.time(100.5, 9.0), 2.5);
        assert_eq!(clock.time(0.0, 3.0), 3.0);
        assert_eq!(clock.time(0.25, 3.0), 3.25);
        clock.begin_again();
        assert_eq!(clock.time(0.25, 10.0), 10.0);
        assert_eq!(clock.time(0.5, 0.0), 10.25);
    }
}
