//! Persistence: the last observed target as the prediction.

use super::constant::Constant;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// Predicts the last observed target, with the variance of its changes between steps.
#[derive(Clone, Debug)]
pub(super) struct Persistence<'a> {
    /// Prediction before the first observation.
    start: &'a Constant,
    variance: Vec<f64>,
}

impl<'a> Persistence<'a> {
    pub(super) const DETAIL: &'static str =
        "the last observed target, with the variance of its changes in training";

    pub(super) fn fit(train: &[Sequence], start: &'a Constant) -> Self {
        let mut sums = vec![(0.0, 0.0); start.mean.len()];
        for sequence in train {
            for_each_change(sequence, |output, last, value| {
                sums[output].0 += (value - last).powi(2);
                sums[output].1 += 1.0;
            });
        }
        // Without measured changes, the variance is that of the start.
        let variance =
            |((squares, n), start): (&(f64, f64), &f64)| if *n > 0.0 { squares / n } else { *start };
        let variance = sums.iter().zip(&start.variance).map(variance).collect();
        Persistence { start, variance }
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let mut prediction = self.start.prediction(sequence);
        for_each_memory(sequence, |step, output, last| {
            prediction.set(step, output, last, 0.0, self.variance[output] as f32);
        });
        prediction
    }
}

/// Visits every step and output that has an earlier observation: step, output, the last observation before
/// it.
pub(super) fn for_each_memory(sequence: &Sequence, mut visit: impl FnMut(usize, usize, f32)) {
    let mut last = vec![f32::NAN; sequence.targets.channels];
    for (step, row) in sequence.targets.iter().enumerate() {
        for (output, (last, &value)) in last.iter_mut().zip(row).enumerate() {
            if !last.is_nan() {
                visit(step, output, *last);
            }
            if !value.is_nan() {
                *last = value;
            }
        }
    }
}

/// Visits every observed target that has an earlier observation: output, that observation, the target.
pub(super) fn for_each_change(sequence: &Sequence, mut visit: impl FnMut(usize, f64, f64)) {
    for_each_memory(sequence, |step, output, last| {
        let value = sequence.targets.row(step)[output];
        if !value.is_nan() {
            visit(output, f64::from(last), f64::from(value));
        }
    });
}
