//! Columns of a file that `inputs = "all"` does not mean: constant ones, clocks and counters of rows.
//!
//! A network that reads a clock learns when things happened in the training data, and meets values it has
//! never seen in every later recording.

use std::fmt;

use super::rows::Sequence;

/// With fewer training rows nothing can be said about a column.
const FEWEST_ROWS: usize = 20;

/// A clock is steady if this fraction of its steps is within [`STEADY`] of the median step.
const STEADY_FRACTION: f64 = 0.95;

/// Largest difference from the median step, as a fraction of it. Timers of operating systems are no better.
const STEADY: f64 = 0.5;

/// Why a column says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uninformative {
    /// Every value is missing.
    Empty,
    /// All values are the same.
    Constant,
    /// Values grow by equal steps through every sequence.
    Clock,
}

impl fmt::Display for Uninformative {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Uninformative::Empty => "empty",
            Uninformative::Constant => "constant",
            Uninformative::Clock => "grows steadily, as a clock or a counter of rows",
        })
    }
}

/// The input columns of the training sequences that say nothing, with the reason.
pub(super) fn uninformative(train: &[Sequence]) -> Vec<(usize, Uninformative)> {
    let rows: usize = train.iter().map(Sequence::len).sum();
    let Some(first) = train.first().filter(|_| rows >= FEWEST_ROWS) else { return Vec::new() };
    (0..first.inputs.channels).filter_map(|column| Some((column, reason(train, column)?))).collect()
}

fn reason(train: &[Sequence], column: usize) -> Option<Uninformative> {
    let mut values = train.iter().flat_map(|s| s.inputs.iter().map(move |row| row[column]));
    let Some(first) = values.find(|value| !value.is_nan()) else { return Some(Uninformative::Empty) };
    if values.all(|value| value == first || value.is_nan()) {
        return Some(Uninformative::Constant);
    }
    is_clock(train, column).then_some(Uninformative::Clock)
}

fn is_clock(train: &[Sequence], column: usize) -> bool {
    let pairs = |s: &Sequence| s.inputs.len().saturating_sub(1);
    let step =
        |s: &Sequence, t: usize| f64::from(s.inputs.row(t + 1)[column]) - f64::from(s.inputs.row(t)[column]);
    let steps = || train.iter().flat_map(|s| (0..pairs(s)).map(move |t| step(s, t)));
    // A step of zero or backwards, or a gap, is none of a clock: most columns end here, after a few rows.
    if !steps().all(|step| step > 0.0) {
        return false;
    }
    let mut steps: Vec<f64> = steps().collect();
    if steps.len() < FEWEST_ROWS / 2 {
        return false;
    }
    steps.sort_by(f64::total_cmp);
    let median = steps[steps.len() / 2];
    let steady = steps.iter().filter(|step| (*step - median).abs() <= STEADY * median).count();
    steady as f64 >= STEADY_FRACTION * steps.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    /// One sequence whose columns are these functions of the row.
    fn found(columns: &[fn(usize) -> f32], rows: usize) -> Vec<(usize, Uninformative)> {
        let values = (0..rows).flat_map(|t| columns.iter().map(move |column| column(t))).collect();
        uninformative(&[Sequence::next(Rows { channels: columns.len(), values })])
    }

    #[test]
    fn constants_clocks_and_empty_columns_are_found() {
        let columns: [fn(usize) -> f32; 7] = [
            |t| (t as f32).sin(),
            |_| 3.0,
            |t| t as f32,
            |t| 1.6e9 + 0.01 * t as f32,
            |_| f32::NAN,
            |t| if t % 7 == 0 { f32::NAN } else { 2.0 },
            // A clock with jitter.
            |t| 0.01 * (t as f32 + 0.3 * ((7 * t % 5) as f32 / 5.0)),
        ];
        let reasons = found(&columns, 100);
        let expected = [
            (1, Uninformative::Constant),
            (2, Uninformative::Clock),
            (4, Uninformative::Empty),
            (5, Uninformative::Constant),
            (6, Uninformative::Clock),
        ];
        // Seconds since 1970 do not fit into f32: column 3 is constant or has steps of 0 and 128.
        let without_epoch: Vec<_> = reasons.iter().copied().filter(|(column, _)| *column != 3).collect();
        assert_eq!(without_epoch, expected);
    }

    #[test]
    fn signals_are_kept() {
        let columns: [fn(usize) -> f32; 3] = [
            // A ramp that is held, a random walk upwards, a square.
            |t| t.min(50) as f32,
            |t| t as f32 + 5.0 * (t as f32).sin(),
            |t| (t * t) as f32,
        ];
        assert_eq!(found(&columns, 100), []);
    }

    #[test]
    fn few_rows_say_nothing() {
        assert_eq!(found(&[|t| t as f32, |_| 1.0], FEWEST_ROWS - 1), []);
    }
}
