//! Sampling of sequences (Bayer 2015, thesis, 4.4.2).

use burn::tensor::Device;
use quaver::FeedMode;
use quaver::checkpoint::Likelihood;
use rand_core::Rng;

use super::model::{LatentFeed, TrainedLatentModel};
use super::posterior::PosteriorTensors;
use super::predict::drawn;
use super::stream::LatentStream;
use crate::data::Rows;
use crate::nn::BatchPrediction;
use crate::nn::net::{MomentTensors, moments};
use crate::random::{Purpose, normal, stream, uniform};

/// Options of sampling.
#[derive(Clone, Copy, Debug)]
pub struct SampleOptions {
    /// Rows per sample.
    pub steps: usize,
    /// Number of samples.
    pub samples: usize,
    /// What is returned and fed back as the last row.
    pub feed_mode: FeedMode,
    /// Seed of the draws.
    pub seed: u64,
}

impl TrainedLatentModel {
    /// Samples that continue a prefix, in raw units. Latent variables are the posterior means during the
    /// prefix and draws from the prior after it. The prefix may be empty, and may have missing values.
    ///
    /// # Panics
    /// If the model is not causal, or the prefix has other channels.
    pub fn sample(&self, prefix: &Rows, options: &SampleOptions) -> Vec<Rows> {
        let channels = self.nets.channels();
        assert!(prefix.is_empty() || prefix.channels == channels, "a prefix of other channels");
        let mut stream = LatentStream::new(self, options.samples);
        for row in prefix.iter() {
            let row = self.standardised(row, options.samples);
            let latent = stream.recognise(row.clone());
            stream.advance(row, latent, LatentFeed::Mean);
        }
        let mut rng = self::stream(options.seed, Purpose::Draws { epoch: 0, batch: 0 });
        let mut samples = vec![Rows::new(channels); options.samples];
        for _ in 0..options.steps {
            let latent = drawn(&stream.prior(), 1, &mut rng);
            let prediction = self.prediction(stream.look_ahead(latent.clone()));
            let row = match options.feed_mode {
                FeedMode::Mean => prediction.mean,
                FeedMode::Draw => self.draw_row(&prediction, &mut rng),
            };
            for (sample, row) in samples.iter_mut().zip(row.chunks(channels)) {
                let raw = row.iter().enumerate();
                sample.values.extend(raw.map(|(c, value)| self.scaling.targets.unstandardise(c, *value)));
            }
            let row = moments(&row, &vec![0.0; row.len()], channels, &Device::flex());
            let deterministic = PosteriorTensors { var: latent.mean.zeros_like(), mean: latent.mean };
            stream.recognise(row.clone());
            stream.advance(row, deterministic, LatentFeed::Mean);
        }
        samples
    }

    /// A row for all lanes, standardised; a missing value has the mean and variance of the training data.
    fn standardised(&self, row: &[f32], lanes: usize) -> MomentTensors {
        let known = |(c, value): (usize, &f32)| match value.is_nan() {
            true => (0.0, 1.0),
            false => (self.scaling.inputs.standardise(c, *value), 0.0),
        };
        let (mean, var): (Vec<f32>, Vec<f32>) = row.iter().enumerate().map(known).unzip();
        moments(&mean.repeat(lanes), &var.repeat(lanes), row.len(), &Device::flex())
    }

    /// A draw from a prediction, standardised.
    fn draw_row(&self, prediction: &BatchPrediction, rng: &mut impl Rng) -> Vec<f32> {
        let BatchPrediction { mean, var, noise } = prediction;
        match self.nets.generative.spec.likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {
                let total = var.iter().zip(noise).map(|(var, noise)| (var + noise).sqrt());
                mean.iter().zip(total).map(|(mean, std_dev)| mean + std_dev * normal(rng) as f32).collect()
            }
            Likelihood::Bernoulli => mean.iter().map(|p| f32::from(uniform(rng) < f64::from(*p))).collect(),
            Likelihood::Categorical => {
                mean.chunks(self.nets.channels()).flat_map(|p| one_of(p, uniform(rng))).collect()
            }
        }
    }
}

/// One-hot vector of the class whose interval of [0, 1) contains `at`.
fn one_of(probabilities: &[f32], at: f64) -> Vec<f32> {
    let mut sum = 0.0;
    let behind = |p: &f32| {
        sum += f64::from(*p);
        at < sum
    };
    let chosen = probabilities.iter().position(behind).unwrap_or(probabilities.len() - 1);
    (0..probabilities.len()).map(|class| f32::from(class == chosen)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_chosen_by_their_shares() {
        let p = [0.25, 0.5, 0.25];
        for (at, class) in [(0.0, 0), (0.24, 0), (0.26, 1), (0.74, 1), (0.99, 2), (1.0, 2)] {
            let found = one_of(&p, at);
            assert_eq!((found.iter().sum::<f32>(), found[class]), (1.0, 1.0), "{at}");
        }
    }
}
