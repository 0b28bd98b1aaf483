//! Which values lie inside which intervals, step by step, for standard errors of coverage.

use std::ops::Range;

use super::bootstrap::{TrialSteps, frequency_std_error};
use super::score_totals::{INTERVALS, inside_intervals};
use super::scores::ValuePlace;
use crate::data::Sequence;
use crate::prediction::ScoredValue;

/// Bit of a value that was observed; bit k of a value inside interval k.
const OBSERVED: u8 = 1 << INTERVALS.len();

/// One byte of bits per value.
pub(super) struct CoverageSteps {
    outputs: usize,
    sequences: Vec<Vec<u8>>,
}

impl CoverageSteps {
    pub(super) fn new(sequences: &[Sequence], outputs: usize) -> Self {
        let values = |sequence: &Sequence| vec![0; sequence.len() * outputs];
        CoverageSteps { outputs, sequences: sequences.iter().map(values).collect() }
    }

    pub(super) fn add(&mut self, place: ValuePlace, value: &ScoredValue) {
        let inside = (0..).zip(inside_intervals(value)).map(|(bit, inside)| u8::from(inside) << bit);
        self.sequences[place.sequence][place.step * self.outputs + place.output] =
            inside.fold(OBSERVED, |bits, bit| bits | bit);
    }

    /// Standard error of the coverage of every interval, over some of the outputs.
    pub(super) fn std_errors(&self, outputs: Range<usize>) -> impl Iterator<Item = f64> {
        (0..INTERVALS.len()).map(move |interval| {
            let steps = self.sequences.iter().map(|values| self.steps(values, &outputs, interval));
            frequency_std_error(&steps.collect::<Vec<_>>())
        })
    }

    fn steps(&self, values: &[u8], outputs: &Range<usize>, interval: usize) -> TrialSteps {
        let rows = values.chunks(self.outputs.max(1));
        let count = |row: &[u8], bit: u8| -> f64 {
            row[outputs.clone()].iter().map(|bits| f64::from(u8::from(bits & bit != 0))).sum()
        };
        let (hits, trials) = rows.map(|row| (count(row, 1 << interval), count(row, OBSERVED))).unzip();
        TrialSteps { hits, trials }
    }
}
