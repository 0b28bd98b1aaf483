//! The linear part of a model: ridge regression on the last rows, in the numbers of a checkpoint.

use std::ops::Range;

use quaver::linear::{self, moments};
use quaver::moments::Moments;
use serde::{Deserialize, Serialize};

use super::ridge::RidgeFit;
use super::rows::Sequence;
use super::scaler::Scaling;

/// Most values in the rows that a linear part reads: a fit takes seconds with as many.
pub const MOST_LINEAR_VALUES: usize = 1024;

/// Largest magnitude of a number in a checkpoint.
const LARGEST: f32 = 1e6;

/// A linear prediction of every target from the last input rows, in standardised units. What it predicts is
/// computed by the runtime's own formula, in f32.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearPart {
    /// Rows that it reads.
    pub rows: usize,
    /// The penalty on the squares of its weights, as chosen on the validation data.
    pub penalty: f64,
    /// For each target a bias, then the weights of the last rows, the newest first.
    pub numbers: Vec<f32>,
    /// Variance of the training residuals of each target.
    pub noise_var: Vec<f32>,
}

impl LinearPart {
    /// Fits the weights on the training data, with the penalty that has the smallest squared error on the
    /// validation data; nothing if some target is never observed.
    pub fn fit(train: &[Sequence], valid: &[Sequence], scaling: &Scaling, rows: usize) -> Option<Self> {
        Self::fit_best(train, valid, scaling, &[rows])
    }

    /// Like [`fit`](Self::fit), with the best of several numbers of rows, in ascending order.
    pub fn fit_best(
        train: &[Sequence],
        valid: &[Sequence],
        scaling: &Scaling,
        rows: &[usize],
    ) -> Option<Self> {
        let fit = RidgeFit::fit(train, valid, scaling, rows)?;
        let numbers = fit.weights.iter().map(|weight| (*weight as f32).clamp(-LARGEST, LARGEST)).collect();
        let noise_var = fit.variance.iter().map(|variance| *variance as f32).collect();
        Some(LinearPart { rows: fit.lags, penalty: fit.penalty, numbers, noise_var })
    }

    /// Whether this is a linear part of a model with this many inputs and targets.
    pub(crate) fn fits(&self, inputs: usize, targets: usize) -> bool {
        let values = self.rows.saturating_mul(inputs);
        let sound = |number: &f32| (-LARGEST..=LARGEST).contains(number);
        (1..=MOST_LINEAR_VALUES).contains(&values)
            && self.numbers.len() == targets * linear::numbers(self.rows, inputs)
            && self.noise_var.len() == targets
            && self.noise_var.iter().all(|variance| variance.is_finite() && *variance >= 0.0)
            && self.numbers.iter().all(sound)
    }

    /// Passes what it predicts for some steps of a sequence to `each`, with the step, counted from the first,
    /// and the target. Rows before the range are read, too.
    pub(crate) fn predict(
        &self,
        sequence: &Sequence,
        steps: Range<usize>,
        scaling: &Scaling,
        mut each: impl FnMut(usize, usize, Moments),
    ) {
        let inputs = scaling.inputs.channels();
        let first = (steps.start + 1).saturating_sub(self.rows);
        let rows = Backwards::new(sequence, first..steps.end, scaling);
        let numbers = self.numbers.chunks(linear::numbers(self.rows, inputs));
        for (step, at) in steps.clone().enumerate() {
            let [means, vars] = rows.last(at, self.rows);
            let vars = vars.iter().any(|var| *var > 0.0).then_some([&*vars, &[]]);
            for (output, numbers) in numbers.clone().enumerate() {
                each(step, output, moments(numbers, |number| number, [&means, &[]], vars));
            }
        }
    }
}

/// Standardised moments of some input rows of a sequence, the last one first.
struct Backwards {
    range: Range<usize>,
    channels: usize,
    mean: Vec<f32>,
    var: Vec<f32>,
    /// Whether the range begins before the first row of a sequence that predicts itself.
    starts: bool,
}

impl Backwards {
    fn new(sequence: &Sequence, range: Range<usize>, scaling: &Scaling) -> Self {
        let channels = scaling.inputs.channels();
        // Before anything is read, a row has the moments of the training data.
        let (mut mean, mut var) = (vec![0.0; range.len() * channels], vec![1.0; range.len() * channels]);
        let places = mean.chunks_mut(channels).zip(var.chunks_mut(channels));
        for (step, (mean, var)) in range.clone().rev().zip(places) {
            if let Some(row) = sequence.input(step) {
                scaling.row_moments(row, mean, var);
            }
        }
        let starts = range.clone().next().is_some_and(|step| sequence.input(step).is_none());
        Backwards { range, channels, mean, var, starts }
    }

    /// Means and variances of the last `count` rows up to step `at`, the newest first. Rows before the first
    /// one of a sequence equal that.
    fn last(&self, at: usize, count: usize) -> [Vec<f32>; 2] {
        // Where nothing has been read yet, there is no first row to repeat.
        let oldest = self.range.start + usize::from(self.starts && at > self.range.start);
        let kept = count.min(at + 1 - oldest);
        let start = (self.range.end - 1 - at) * self.channels;
        [&self.mean, &self.var].map(|list| {
            let rows = &list[start..start + kept * self.channels];
            let first = &rows[rows.len() - self.channels..];
            [rows, &first.repeat(count - kept)].concat()
        })
    }
}
