//! One-step-ahead prediction, p(x_t | x_{1:t−1}), by causal models.

use burn::tensor::{Device, Tensor, TensorData};
use rand_core::Rng;

use super::model::{LANES, LatentFeed, TrainedLatentModel, decoder_input};
use super::posterior::PosteriorTensors;
use super::stream::LatentStream;
use crate::data::Sequence;
use crate::data::batch::{self, Batch};
use crate::nn::BatchPrediction;
use crate::nn::net::{MomentTensors, moments};
use crate::prediction::SequencePrediction;
use crate::random::{Purpose, normals, stream};

impl TrainedLatentModel {
    /// The prediction of every row before it is observed: the generative network one step ahead, with latent
    /// variables from the prior, fed as `feed`. The state of a recurrent generative network follows the
    /// posteriors of the rows before, by moments or by means. The seed is for draws.
    ///
    /// # Panics
    /// If the model is not causal.
    pub fn predict(&self, sequences: &[Sequence], feed: LatentFeed, seed: u64) -> Vec<SequencePrediction> {
        let mut predictions = self.room(sequences);
        for (index, batch) in batch::evaluation(sequences, &self.scaling, LANES).enumerate() {
            let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: index as u64 });
            let prediction = self.predict_batch(&batch, feed, &mut rng);
            self.write_batch(&mut predictions, &batch, &prediction);
        }
        predictions
    }

    fn predict_batch(&self, batch: &Batch, feed: LatentFeed, rng: &mut impl Rng) -> BatchPrediction {
        let mut stream = LatentStream::new(self, batch.rows);
        let mut all = BatchPrediction { mean: Vec::new(), var: Vec::new(), noise: Vec::new() };
        let (mean, var) = batch.observed();
        let values = batch.rows * self.nets.channels();
        for (mean, var) in mean.chunks(values).zip(var.chunks(values)) {
            let prediction = self.predict_next(&stream, feed, rng);
            all.mean.extend(prediction.mean);
            all.var.extend(prediction.var);
            all.noise.extend(prediction.noise);
            let row = moments(mean, var, self.nets.channels(), &Device::flex());
            let latent = stream.recognise(row.clone());
            stream.advance(row, latent, feed);
        }
        all
    }

    /// The prediction of the next row of every lane.
    pub(super) fn predict_next(
        &self,
        stream: &LatentStream<'_>,
        feed: LatentFeed,
        rng: &mut impl Rng,
    ) -> BatchPrediction {
        let expected = stream.prior();
        match feed {
            LatentFeed::Moments | LatentFeed::Mean => {
                self.prediction(stream.look_ahead(decoder_input(expected, feed)))
            }
            LatentFeed::Draws(count) => {
                let drawn = drawn(&expected, count, rng);
                averaged(&self.prediction(stream.look_ahead(drawn)), count)
            }
        }
    }
}

/// `count` draws for every lane, one set after the other.
pub(super) fn drawn(latent: &PosteriorTensors, count: usize, rng: &mut impl Rng) -> MomentTensors {
    let [lanes, latents] = latent.mean.dims();
    let repeat = |values: &Tensor<2>| values.clone().repeat_dim(0, count);
    let noise = TensorData::new(normals(rng, count * lanes * latents), [count * lanes, latents]);
    let noise = Tensor::from_data(noise, &Device::flex());
    MomentTensors { mean: repeat(&latent.mean) + repeat(&latent.var).sqrt() * noise, var: None }
}

/// The moments of a mixture: means of means and variances; the variance of the means counts as propagated.
fn averaged(sets: &BatchPrediction, count: usize) -> BatchPrediction {
    let size = sets.mean.len() / count;
    let mean_of = |values: &[f32]| -> Vec<f32> {
        let sum = |place: usize| values.iter().skip(place).step_by(size).sum::<f32>() / count as f32;
        (0..size).map(sum).collect()
    };
    let mean = mean_of(&sets.mean);
    let spread = |(place, mean): (usize, &f32)| {
        let squares = sets.mean.iter().skip(place).step_by(size).map(|value| (value - mean) * (value - mean));
        squares.sum::<f32>() / count as f32
    };
    let spread = mean.iter().enumerate().map(spread);
    let var = mean_of(&sets.var).iter().zip(spread).map(|(var, spread)| var + spread).collect();
    BatchPrediction { noise: mean_of(&sets.noise), var, mean }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mixture_of_coins_is_a_coin() {
        // Two draws of two coins: 0.2 and 0.6, 0.5 and 0.5.
        let mean = vec![0.2, 0.5, 0.6, 0.5];
        let noise = mean.iter().map(|p| p * (1.0 - p)).collect();
        let found = averaged(&BatchPrediction { var: vec![0.0; 4], noise, mean }, 2);
        for (found, expected) in found.mean.iter().zip([0.4_f32, 0.5]) {
            assert!((found - expected).abs() < 1e-6);
        }
        let total: Vec<f32> = found.var.iter().zip(&found.noise).map(|(var, noise)| var + noise).collect();
        for (found, expected) in total.iter().zip([0.24_f32, 0.25]) {
            assert!((found - expected).abs() < 1e-6, "p (1 − p) of the mean");
        }
        assert!(found.var[0] > 0.039 && found.var[1] == 0.0);
    }
}
