//! Denoising row by row, as the runtime does it (Bayer and Osendorfer 2014, 4.2).

use burn::tensor::Device;
use quaver::Output;

use super::model::{LatentFeed, TrainedLatentModel, decoder_input};
use super::stream::LatentStream;
use crate::nn::BatchPrediction;
use crate::nn::net::moments;
use crate::prediction::ScoredValue;
use crate::random::{Purpose, stream};

/// A causal model on a stream of rows in raw units.
///
/// A missing value (NaN) is replaced by its prediction, mean and variance, in the input, and by the estimate
/// in the output.
#[derive(Debug)]
pub struct StreamingDenoiser<'a> {
    model: &'a TrainedLatentModel,
    stream: LatentStream<'a>,
}

/// The denoised row, and the surprise of the noisy one.
#[derive(Clone, Debug, PartialEq)]
pub struct DenoisedRow {
    /// Estimates of every channel, in raw units.
    pub outputs: Vec<Output>,
    /// −ln p(x_t | x_{1:t−1}) of the observed values, in nats with densities in raw units; nothing if none
    /// was observed.
    pub surprise: Option<f32>,
    /// Residual of every channel in predicted standard deviations; NaN where it was missing.
    pub z: Vec<f32>,
}

impl<'a> StreamingDenoiser<'a> {
    /// A stream before its first row.
    ///
    /// # Panics
    /// If the model is not causal.
    pub fn new(model: &'a TrainedLatentModel) -> Self {
        StreamingDenoiser { model, stream: LatentStream::new(model, 1) }
    }

    /// Resets the stream to its start.
    pub fn reset(&mut self) {
        self.stream = LatentStream::new(self.model, 1);
    }

    /// Reads a noisy row and estimates the clean one, feeding the posterior of z as moments.
    ///
    /// # Panics
    /// If the number of channels differs.
    pub fn step(&mut self, row: &[f32]) -> DenoisedRow {
        assert_eq!(row.len(), self.model.nets.channels(), "a row of other channels");
        // Moments need no draws, so the seed is irrelevant.
        let mut unused = stream(0, Purpose::Draws { epoch: 0, batch: 0 });
        let expected = self.model.predict_next(&self.stream, LatentFeed::Moments, &mut unused);
        let scaler = &self.model.scaling.inputs;
        let known = |(c, value): (usize, &f32)| match value.is_nan() {
            true => (expected.mean[c], expected.var[c] + expected.noise[c]),
            false => (scaler.standardise(c, *value), 0.0),
        };
        let (mean, var): (Vec<f32>, Vec<f32>) = row.iter().enumerate().map(known).unzip();
        let fed_row = moments(&mean, &var, row.len(), &Device::flex());
        // The generative network reads the state before the row.
        let before = self.stream.clone();
        let latent = self.stream.recognise(fed_row.clone());
        let prediction =
            self.model.prediction(before.look_ahead(decoder_input(latent.clone(), LatentFeed::Moments)));
        self.stream.advance(fed_row, latent, LatentFeed::Moments);
        let (surprise, z) = self.scored(row, &self.raw(&expected));
        DenoisedRow { outputs: self.raw(&prediction), surprise, z }
    }

    /// A prediction of one row, in raw units. (The scaler of probabilities is the identity.)
    fn raw(&self, prediction: &BatchPrediction) -> Vec<Output> {
        let scaler = &self.model.scaling.targets;
        let output = |c: usize| {
            let variance = |value: f32| scaler.unstandardise_variance(c, value);
            let (epistemic, aleatoric) = (variance(prediction.var[c]), variance(prediction.noise[c]));
            let mean = scaler.unstandardise(c, prediction.mean[c]);
            Output { mean, variance: epistemic + aleatoric, epistemic, aleatoric }
        };
        (0..prediction.mean.len()).map(output).collect()
    }

    /// Negative log-likelihood and z-scores of a row under its prediction.
    fn scored(&self, row: &[f32], expected: &[Output]) -> (Option<f32>, Vec<f32>) {
        let likelihood = self.model.nets.generative.spec.likelihood;
        let values = row.iter().zip(expected).map(|(observed, expected)| ScoredValue {
            observed: f64::from(*observed),
            mean: f64::from(expected.mean),
            epistemic: f64::from(expected.epistemic),
            aleatoric: f64::from(expected.aleatoric),
        });
        let observed = values.clone().filter(|value| !value.observed.is_nan());
        let nll: Option<f64> = observed.map(|value| value.nll(likelihood)).reduce(|sum, nll| sum + nll);
        (nll.map(|nll| nll as f32), values.map(|value| value.z() as f32).collect())
    }
}
