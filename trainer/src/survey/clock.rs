//! The time column: sampling rate, jitter, gaps and order.

use std::fmt;
use std::str::FromStr;

use super::column::ColumnStatistics;
use super::unit::{name_and_unit, time_suffix};

/// A step longer than this many sampling intervals is a gap, where no other length is given.
const GAP_STEPS: f64 = 10.0;

/// Sampling is irregular if more than this share of the steps differs from the median step by more than
/// [`STEADY`] of it.
const IRREGULAR_SHARE: f64 = 0.05;
const STEADY: f64 = 0.1;

/// The unit of numbers in a time column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
    /// Microseconds.
    Microseconds,
    /// Nanoseconds.
    Nanoseconds,
}

impl TimeUnit {
    /// Seconds of one of it.
    pub fn seconds(self) -> f64 {
        match self {
            TimeUnit::Seconds => 1.0,
            TimeUnit::Milliseconds => 1e-3,
            TimeUnit::Microseconds => 1e-6,
            TimeUnit::Nanoseconds => 1e-9,
        }
    }

    /// The unit of a column: from its header, or from the size of seconds since 1970; and how it was found.
    pub(super) fn of(column: &ColumnStatistics) -> (Self, &'static str) {
        if column.stamps > 0 {
            return (TimeUnit::Seconds, "ISO 8601");
        }
        let (stem, unit) = name_and_unit(&column.name);
        let named = column.unit.as_deref().or(unit).or_else(|| time_suffix(stem));
        if let Some(unit) = named.and_then(|unit| unit.parse().ok()) {
            return (unit, "unit in the header");
        }
        let largest = column.range.map_or(0.0, |[low, high]| low.abs().max(high.abs()));
        // Seconds since 1970 have ten digits from 2001 to 2286.
        match largest {
            1e9..1e11 => (TimeUnit::Seconds, "seconds since 1970"),
            1e12..1e14 => (TimeUnit::Milliseconds, "milliseconds since 1970"),
            1e15..1e17 => (TimeUnit::Microseconds, "microseconds since 1970"),
            1e18.. => (TimeUnit::Nanoseconds, "nanoseconds since 1970"),
            _ => (TimeUnit::Seconds, "no unit in the header, taken for seconds"),
        }
    }
}

impl FromStr for TimeUnit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.trim() {
            "s" | "sec" | "seconds" => Ok(TimeUnit::Seconds),
            "ms" | "milliseconds" => Ok(TimeUnit::Milliseconds),
            "us" | "µs" | "μs" | "microseconds" => Ok(TimeUnit::Microseconds),
            "ns" | "nanoseconds" => Ok(TimeUnit::Nanoseconds),
            other => Err(format!("found `{other}`, expected s, ms, us or ns")),
        }
    }
}

/// The times of one file in seconds, and what they say.
#[derive(Clone, Debug)]
pub struct Clock {
    /// Time of every row in seconds; NaN where it is missing.
    pub seconds: Vec<f64>,
    /// Median step in seconds.
    pub step: f64,
}

impl Clock {
    /// The clock of a column, in this unit.
    pub fn new(times: &[f64], unit: TimeUnit, starts: &[usize]) -> Option<Self> {
        let seconds: Vec<f64> = times.iter().map(|time| time * unit.seconds()).collect();
        let mut steps: Vec<f64> =
            steps(&seconds, starts).map(|(_, step)| step).filter(|step| *step > 0.0).collect();
        steps.sort_by(f64::total_cmp);
        let step = *steps.get(steps.len() / 2)?;
        Some(Clock { seconds, step })
    }

    /// The longest step that is no gap.
    pub fn longest_step(&self, max_gap: Option<f64>) -> f64 {
        max_gap.unwrap_or(GAP_STEPS * self.step)
    }

    /// Rows before which there is a gap, or at which time goes backwards: sequences start there.
    pub fn breaks(&self, starts: &[usize], max_gap: Option<f64>) -> Vec<usize> {
        let longest = self.longest_step(max_gap);
        steps(&self.seconds, starts)
            .filter(|(_, step)| *step > longest || *step < 0.0)
            .map(|(row, _)| row)
            .collect()
    }
}

/// Steps of time within sequences, by the row that they lead to. Rows without a time have none.
fn steps<'a>(seconds: &'a [f64], starts: &'a [usize]) -> impl Iterator<Item = (usize, f64)> + 'a {
    let step = |row: usize| (row, seconds[row] - seconds[row - 1]);
    (1..seconds.len())
        .filter(|row| starts.binary_search(row).is_err())
        .map(step)
        .filter(|(_, step)| !step.is_nan())
}

/// What the clocks of all files say together.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct ClockSummary {
    /// Samples per second.
    pub rate_hz: f64,
    /// 95th percentile of the deviation of steps from the median step, as a share of it.
    pub jitter: f64,
    /// Whether steps are nearly equal.
    pub is_regular: bool,
    /// Steps that are longer than the longest that is no gap.
    pub gaps: usize,
    /// The longest step that is no gap, in seconds.
    pub longest_step: f64,
    /// Steps backwards.
    pub backwards: usize,
    /// Steps of zero: rows with the time of the row before.
    pub repeated: usize,
    /// Steps in all.
    pub steps: usize,
}

impl ClockSummary {
    /// Sums up clocks with the starts of their sequences.
    pub fn new<'a>(
        clocks: impl Iterator<Item = (&'a Clock, &'a [usize])>,
        max_gap: Option<f64>,
    ) -> Option<Self> {
        let mut all: Vec<f64> = Vec::new();
        for (clock, starts) in clocks {
            all.extend(steps(&clock.seconds, starts).map(|(_, step)| step));
        }
        let mut forward: Vec<f64> = all.iter().copied().filter(|step| *step > 0.0).collect();
        forward.sort_by(f64::total_cmp);
        let median = *forward.get(forward.len() / 2)?;
        let longest_step = max_gap.unwrap_or(GAP_STEPS * median);
        let mut deviations: Vec<f64> = all.iter().map(|step| (step - median).abs() / median).collect();
        deviations.sort_by(f64::total_cmp);
        let unsteady = deviations.iter().filter(|deviation| **deviation > STEADY).count();
        // The resolution of a time stamp makes single steps longer and shorter; their mean is the rate.
        let within: Vec<f64> = forward.iter().copied().filter(|step| *step <= longest_step).collect();
        let is_regular = unsteady as f64 <= IRREGULAR_SHARE * all.len() as f64;
        let mean = within.iter().sum::<f64>() / within.len().max(1) as f64;
        Some(ClockSummary {
            rate_hz: 1.0 / if is_regular { mean } else { median },
            jitter: deviations[((deviations.len() - 1) as f64 * 0.95) as usize],
            is_regular,
            gaps: forward.iter().filter(|step| **step > longest_step).count(),
            longest_step,
            backwards: all.iter().filter(|step| **step < 0.0).count(),
            repeated: all.iter().filter(|step| **step == 0.0).count(),
            steps: all.len(),
        })
    }
}

impl fmt::Display for ClockSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} Hz", short(self.rate_hz))?;
        match self.is_regular {
            true => write!(f, ", regular (95 % of steps within {:.1} %)", 100.0 * self.jitter)?,
            false => write!(
                f,
                ", IRREGULAR: 5 % of steps are off by more than {:.0} %; rows are used as they come, or give --resample {}Hz",
                100.0 * self.jitter,
                short(self.rate_hz)
            )?,
        }
        if self.gaps > 0 {
            write!(
                f,
                "; {} gaps longer than {} s: a sequence starts after each (--max-gap)",
                self.gaps,
                short(self.longest_step)
            )?;
        }
        if self.backwards > 0 {
            write!(f, "; {} steps back in time: a sequence starts at each", self.backwards)?;
        }
        if self.repeated > 0 {
            write!(f, "; {} rows repeat the time of the row before", self.repeated)?;
        }
        Ok(())
    }
}

/// A number with four significant digits.
pub(crate) fn short(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summary(times: &[f64]) -> ClockSummary {
        let clock = Clock::new(times, TimeUnit::Milliseconds, &[0]).unwrap();
        ClockSummary::new([(&clock, &[0][..])].into_iter(), None).unwrap()
    }

    #[test]
    fn a_steady_clock_has_its_rate() {
        let found = summary(&(0..500).map(|row| 5.0 * f64::from(row)).collect::<Vec<_>>());
        assert!(found.is_regular && (found.rate_hz - 200.0).abs() < 1e-9, "{found:?}");
        assert_eq!((found.gaps, found.backwards, found.repeated, found.steps), (0, 0, 0, 499));
        assert!(found.to_string().starts_with("200 Hz, regular"), "{found}");
    }

    #[test]
    fn gaps_repeats_and_jumps_back_are_counted() {
        let mut times: Vec<f64> = (0..100).map(|row| 10.0 * f64::from(row)).collect();
        times.extend((0..100).map(|row| 5000.0 + 10.0 * f64::from(row)));
        times.push(5990.0);
        times.extend((0..100).map(|row| 10.0 * f64::from(row)));
        let found = summary(&times);
        assert_eq!((found.gaps, found.backwards, found.repeated), (1, 1, 1));
        let clock = Clock::new(&times, TimeUnit::Milliseconds, &[0]).unwrap();
        assert_eq!(clock.breaks(&[0], None), [100, 201]);
        assert_eq!(clock.breaks(&[0], Some(60.0)), [201]);
        assert!(clock.breaks(&[0, 100, 201], None).is_empty());
    }

    #[test]
    fn irregular_sampling_is_told() {
        let found = summary(&(0..200).map(|row| f64::from(row * 10 + (row % 3) * 4)).collect::<Vec<_>>());
        assert!(!found.is_regular && found.to_string().contains("--resample"), "{found}");
    }

    #[test]
    fn units_follow_from_header_and_size() {
        let unit = |name: &str, value: &str| {
            let mut column = ColumnStatistics::new(name, None);
            column.add(value, true);
            TimeUnit::of(&column).0
        };
        assert_eq!(unit("time", "12.5"), TimeUnit::Seconds);
        assert_eq!(unit("t [ms]", "12.5"), TimeUnit::Milliseconds);
        assert_eq!(unit("time_us", "12.5"), TimeUnit::Microseconds);
        assert_eq!(unit("ts", "1794909600"), TimeUnit::Seconds);
        assert_eq!(unit("ts", "1794909600000"), TimeUnit::Milliseconds);
        assert_eq!(unit("ts", "1794909600000000"), TimeUnit::Microseconds);
        assert_eq!(unit("ts", "1794909600000000000"), TimeUnit::Nanoseconds);
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [200.0, 99.96, 1.0 / 3.0, 123_456.0, 0.0].map(short),
            ["200", "99.96", "0.3333", "123456", "0"]
        );
    }
}
