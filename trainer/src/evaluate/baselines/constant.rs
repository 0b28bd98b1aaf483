//! The training mean as the prediction of every step.

use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// Mean and variance of every target over the training data.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Constant {
    pub(super) mean: Vec<f64>,
    pub(super) variance: Vec<f64>,
}

impl Constant {
    pub(super) const GAUSSIAN: &str = "mean and variance of the training targets";
    pub(super) const BERNOULLI: &str = "each output on its own, with its frequency in the training targets";

    /// Measures every target, ignoring missing values. For targets of 0 and 1 the mean is the frequency p,
    /// and the variance p (1 − p).
    pub(super) fn fit(train: &[Sequence]) -> Self {
        let outputs = train.first().map_or(0, |sequence| sequence.targets.channels);
        let (mean, variance) = (0..outputs).map(|output| measure(train, output)).unzip();
        Constant { mean, variance }
    }

    pub(super) fn prediction(&self, sequence: &Sequence) -> SequencePrediction {
        let mut prediction = SequencePrediction::zeros(sequence.len(), self.mean.len());
        for step in 0..sequence.len() {
            for (output, (mean, variance)) in self.mean.iter().zip(&self.variance).enumerate() {
                prediction.set(step, output, *mean as f32, 0.0, *variance as f32);
            }
        }
        prediction
    }
}

fn measure(train: &[Sequence], output: usize) -> (f64, f64) {
    let values = train.iter().flat_map(|sequence| sequence.targets.iter().map(|row| f64::from(row[output])));
    let values: Vec<f64> = values.filter(|value| !value.is_nan()).collect();
    let n = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / n;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n)
}
