//! The likelihood of whole sequences by importance sampling (Rezende et al. 2014; Bayer 2015, thesis, 4.4.1).

use burn::tensor::Device;
use quaver::checkpoint::Prior;
use rand_core::Rng;

use super::bound::{draw, generate, repeated};
use super::nets::LatentNets;
use super::posterior::recognise;
use super::tensors::LatentTensors;
use crate::data::batch::{Batch, Chunk};
use crate::data::{Scaling, Sequence};
use crate::fit::row_nll::row_nlls;
use crate::nn::Parameters;
use crate::nn::tensors::to_vec;
use crate::random::{Purpose, stream};

/// Rows per pass, draws times steps: enough for wide products, few enough for memory.
const ROWS: usize = 16_384;

/// An estimate of −ln p(x).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ImportanceEstimate {
    /// Nats per time step with densities in standardised units. By Jensen's inequality its expectation lies
    /// between −ln p(x) and the bound, and falls with the number of draws.
    pub nll: f64,
    /// Standard error of `nll`, from the variance of the weights.
    pub standard_error: f64,
    /// Effective sample size per sequence, (Σw)²/Σw², on average.
    pub effective_draws: f64,
    /// Draws per sequence.
    pub draws: usize,
    /// Time steps with at least one observed value.
    pub steps: usize,
}

/// −ln (1/S) Σ_s p(x|z_s) p(z_s) / q(z_s|x) with z_s ~ q, over whole sequences with S draws each; nothing if
/// no value was observed. Sequence k uses random stream k of the seed, independent of the other sequences.
pub fn importance(
    nets: &LatentNets,
    parameters: &Parameters,
    scaling: &Scaling,
    sequences: &[Sequence],
    draws: usize,
    seed: u64,
) -> Option<ImportanceEstimate> {
    let tensors = LatentTensors::new(nets, parameters, &Device::flex());
    let noise = parameters.part("generative.", nets.generative.method).noise_var(&nets.generative.spec);
    let model = ImportanceSampler { nets, tensors: &tensors, noise: &noise };
    let (mut nll, mut variance, mut effective, mut steps) = (0.0, 0.0, 0.0, 0);
    let present = sequences.iter().enumerate().filter(|(_, sequence)| !sequence.is_empty());
    for (index, sequence) in present.clone() {
        let chunk = Chunk { sequence: index, start: 0, len: sequence.len() };
        let batch = Batch::new(sequences, scaling, &[chunk]);
        let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: index as u64 });
        let weights = ImportanceWeights::of(&model.log_weights(&batch, draws, &mut rng));
        nll -= weights.log_mean;
        variance += weights.variance_of_log;
        effective += weights.effective;
        steps += batch.mask.chunks(nets.channels()).filter(|row| row.iter().any(|mask| *mask != 0.0)).count();
    }
    (steps > 0).then(|| ImportanceEstimate {
        nll: nll / steps as f64,
        standard_error: variance.sqrt() / steps as f64,
        effective_draws: effective / present.count() as f64,
        draws,
        steps,
    })
}

/// A model that weights draws.
struct ImportanceSampler<'a> {
    nets: &'a LatentNets,
    tensors: &'a LatentTensors,
    /// Noise variances of the outputs.
    noise: &'a [f32],
}

impl ImportanceSampler<'_> {
    /// ln p(x|z_s) + ln p(z_s) − ln q(z_s|x) of every draw, for the only sequence of a batch. Draws are
    /// lanes.
    fn log_weights(&self, batch: &Batch, draws: usize, rng: &mut impl Rng) -> Vec<f64> {
        let channels = self.nets.channels();
        let recognition = recognise(self.nets, self.tensors, batch);
        let (mean, var) =
            (to_vec(recognition.posterior.mean.clone()), to_vec(recognition.posterior.var.clone()));
        let most = (ROWS / batch.steps).max(1);
        let mut weights = Vec::with_capacity(draws);
        while weights.len() < draws {
            let lanes = most.min(draws - weights.len());
            let drawn = draw(&recognition.posterior, 1, lanes, rng);
            let values = to_vec(drawn.mean.clone());
            let many = repeated(batch, channels, lanes);
            let prediction = generate(self.nets, self.tensors, &many, &recognition.hidden, drawn);
            let nlls = row_nlls(&self.nets.generative.spec, self.noise, prediction, &many);
            for lane in 0..lanes {
                let explained: f64 = nlls.iter().skip(lane).step_by(lanes).sum();
                let path = LatentDraw {
                    prior: self.nets.prior,
                    mean: &mean,
                    var: &var,
                    latents: self.nets.latents(),
                    lanes,
                    lane,
                };
                weights.push(path.log_ratio(&values) - explained);
            }
        }
        weights
    }
}

/// One lane of drawn latent variables, and the posterior of the sequence they are drawn from, [steps,
/// latents].
struct LatentDraw<'a> {
    prior: Prior,
    mean: &'a [f32],
    var: &'a [f32],
    latents: usize,
    lanes: usize,
    lane: usize,
}

impl LatentDraw<'_> {
    /// ln p(z) − ln q(z|x) of draws [steps, lanes, latents]; the constants of the two normals cancel.
    fn log_ratio(&self, drawn: &[f32]) -> f64 {
        let mut last = vec![0.0; self.latents];
        let mut sum = 0.0;
        for (place, (mean, var)) in self.mean.iter().zip(self.var).enumerate() {
            let (step, latent) = (place / self.latents, place % self.latents);
            let z = f64::from(drawn[(step * self.lanes + self.lane) * self.latents + latent]);
            let from_mean = z - f64::from(*mean);
            let from_prior = match self.prior {
                Prior::White => z,
                Prior::Wiener => z - std::mem::replace(&mut last[latent], z),
            };
            let var = f64::from(*var);
            sum += 0.5 * (from_mean * from_mean / var + var.ln() - from_prior * from_prior);
        }
        sum
    }
}

/// Statistics of the weights of one sequence.
struct ImportanceWeights {
    /// ln (1/S) Σ w.
    log_mean: f64,
    /// Variance of `log_mean` to first order: V[w] / (S E[w]²).
    variance_of_log: f64,
    /// (Σw)²/Σw².
    effective: f64,
}

impl ImportanceWeights {
    fn of(logs: &[f64]) -> Self {
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let scaled: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let count = logs.len() as f64;
        let (sum, squares) = (scaled.iter().sum::<f64>(), scaled.iter().map(|w| w * w).sum::<f64>());
        let mean = sum / count;
        let variance = (squares / count - mean * mean).max(0.0) * count / (count - 1.0).max(1.0);
        ImportanceWeights {
            log_mean: largest + mean.ln(),
            variance_of_log: variance / (count * mean * mean),
            effective: sum * sum / squares,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_by_hand() {
        // Weights 1, 2, 3: mean 2, variance 1, so V[ln mean] = 1 / (3 · 4).
        let logs = [1.0_f64, 2.0, 3.0].map(|weight| weight.ln() - 700.0);
        let found = ImportanceWeights::of(&logs);
        assert!((found.log_mean - (2.0_f64.ln() - 700.0)).abs() < 1e-12, "no weight underflows");
        assert!((found.variance_of_log - 1.0 / 12.0).abs() < 1e-12);
        assert!((found.effective - 36.0 / 14.0).abs() < 1e-12);
    }
}
