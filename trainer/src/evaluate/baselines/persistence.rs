//! Persistence: the last observed target as the prediction.

use super::constant::Constant;
use super::memory::Memory;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// Predicts the last observed target, with the variance of its changes between steps.
#[derive(Clone, Debug)]
pub(super) struct Persistence<'a> {
    memory: Memory<'a>,
    /// Prediction before the first observation.
    start: &'a Constant,
    variance: Vec<f64>,
}

impl<'a> Persistence<'a> {
    pub(super) const DETAIL: &'static str =
        "the last observed target, with the variance of its changes in training";

    pub(super) fn fit(train: &[Sequence], start: &'a Constant, memory: Memory<'a>) -> Self {
        let mut sums = vec![(0.0, 0.0); start.mean.len()];
        for sequence in train {
            memory.for_each_change(sequence, |output, last, value| {
                sums[output].0 += (value - last).powi(2);
                sums[output].1 += 1.0;
            });
        }
        // Without measured changes, the variance is that of the start.
        let variance =
            |((squares, n), start): (&(f64, f64), &f64)| if *n > 0.0 { squares / n } else { *start };
        let variance = sums.iter().zip(&start.variance).map(variance).collect();
        Persistence { memory, start, variance }
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let mut prediction = self.start.prediction(sequence);
        self.memory.for_each(sequence, |step, output, last| {
            prediction.set(step, output, last, 0.0, self.variance[output] as f32);
        });
        prediction
    }
}
