//! The result of a step, in memory of its own.

use quaver::anomaly::Anomaly;
use quaver::{Novelty, Output, Prediction};

/// Everything that a step of a model returns; see [`quaver::Prediction`].
#[derive(Clone, Debug, Default)]
pub struct Estimate {
    /// Mean and variances of every output, in raw units.
    pub outputs: Vec<Output>,
    /// Negative log-likelihood of the row in nats, for models of their own next input.
    pub surprise: Option<f32>,
    /// Residual of each channel of the row in predicted standard deviations, NaN where it was missing; empty
    /// if the row was not scored.
    pub z: Vec<f32>,
    /// What is most suspicious about the row, for models with limits.
    pub anomaly: Option<Anomaly>,
    /// Distance of the row from the training rows, for models with an input density.
    pub novelty: Option<Novelty>,
    /// Channels whose values were outside of their plausible ranges.
    pub implausible: Vec<usize>,
}

impl Estimate {
    /// Whether the row exceeds the limit of its model.
    pub fn is_anomalous(&self) -> bool {
        self.anomaly.is_some_and(|anomaly| anomaly.is_anomalous())
    }

    /// Residual of the channel `index` in predicted standard deviations; NaN if there is none.
    pub fn z(&self, index: usize) -> f32 {
        self.z.get(index).copied().unwrap_or(f32::NAN)
    }

    pub(crate) fn set(&mut self, prediction: &Prediction<'_>) {
        self.outputs.clear();
        self.outputs.extend(prediction.iter());
        let surprise = prediction.surprise();
        self.surprise = surprise.map(|surprise| surprise.nll);
        self.z.clear();
        self.z.extend(surprise.map_or(&[][..], |surprise| surprise.z));
        self.anomaly = prediction.anomaly();
        self.novelty = prediction.novelty();
        self.implausible.clear();
        self.implausible.extend(prediction.implausible());
    }
}
