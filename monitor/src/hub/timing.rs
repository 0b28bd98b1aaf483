//! How regularly rows arrive.

use serde::Serialize;

use crate::row::Meta;

/// Seconds over which rates are measured, and most rows.
const WINDOW: f64 = 2.0;
const MAX_ROWS: usize = 8192;

/// Intervals between the newest rows, on the clock of the sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Timing {
    /// Rows per second.
    pub rate_hz: f64,
    /// Standard deviation of the intervals, in milliseconds.
    pub jitter_ms: f64,
    /// The longest interval, in milliseconds.
    pub longest_ms: f64,
}

impl Timing {
    /// Of rows that are given newest first. Intervals across a gap do not count.
    pub(super) fn of<'m>(newest: impl Iterator<Item = &'m Meta>) -> Self {
        let mut previous: Option<&Meta> = None;
        let (mut count, mut sum, mut squares, mut longest) = (0.0, 0.0, 0.0, 0.0_f64);
        for meta in newest.take(MAX_ROWS) {
            if let Some(later) = previous.filter(|later| !later.begins) {
                let interval = later.time - meta.time;
                count += 1.0;
                sum += interval;
                squares += interval * interval;
                longest = longest.max(interval);
            }
            previous = Some(meta);
            if sum > WINDOW {
                break;
            }
        }
        if sum <= 0.0 {
            return Timing::default();
        }
        let mean = sum / count;
        let jitter = (squares / count - mean * mean).max(0.0).sqrt();
        Timing { rate_hz: 1.0 / mean, jitter_ms: 1e3 * jitter, longest_ms: 1e3 * longest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing(times: &[f64]) -> Timing {
        let metas: Vec<Meta> = times.iter().map(|time| Meta { time: *time, ..Meta::default() }).collect();
        Timing::of(metas.iter().rev())
    }

    #[test]
    fn intervals_give_rate_and_jitter() {
        assert_eq!(timing(&[]), Timing::default());
        assert_eq!(timing(&[1.0]), Timing::default());
        let regular = timing(&[0.0, 0.01, 0.02, 0.03]);
        assert!((regular.rate_hz - 100.0).abs() < 1e-9 && regular.jitter_ms < 1e-5);
        // Intervals of 8 and 12 ms: 100 Hz, and 2 ms off the mean on either side.
        let uneven = timing(&[0.0, 0.008, 0.020, 0.028, 0.040]);
        assert!((uneven.rate_hz - 100.0).abs() < 1e-9, "{uneven:?}");
        assert!((uneven.jitter_ms - 2.0).abs() < 1e-6 && (uneven.longest_ms - 12.0).abs() < 1e-9);
    }

    #[test]
    fn a_gap_is_no_interval() {
        let metas = [0.0, 0.01, 5.0, 5.01].map(|time| Meta { time, begins: time == 5.0, ..Meta::default() });
        let timing = Timing::of(metas.iter().rev());
        assert!((timing.rate_hz - 100.0).abs() < 1e-6 && timing.longest_ms < 11.0);
    }
}
