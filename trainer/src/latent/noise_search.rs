//! Maximum-likelihood noise variance of a model that was trained with a noise variance of 1 (Bayer 2015,
//! thesis, 4.4.2).

use burn::tensor::Device;

use super::bound::{draw, generate, repeated};
use super::nets::LatentNets;
use super::posterior::recognise;
use super::tensors::LatentTensors;
use super::training::LOG_NOISE;
use crate::data::batch::Batch;
use crate::golden_section;
use crate::nn::Parameters;
use crate::nn::tensors::to_vec;
use crate::random::{Purpose, stream};

/// Range of the log-variance, in standardised units.
const RANGE: [f64; 2] = [-14.0, 6.0];

/// Each step keeps 0.618 of the range: after 40 of them less than 10⁻⁷ of it remains.
const STEPS: usize = 40;

/// Sets the noise variance of every output to the one that maximises the likelihood of `batches`, given draws
/// that depend only on the seed. An output that is never observed keeps its variance.
pub(super) fn search(
    nets: &LatentNets,
    parameters: &mut Parameters,
    batches: impl Iterator<Item = Batch>,
    draws: usize,
    seed: u64,
) {
    let errors = errors(nets, parameters, batches, draws, seed);
    let Some(noise) = parameters.get_mut(LOG_NOISE) else { return };
    for (log_noise, errors) in noise.values.iter_mut().zip(&errors) {
        if !errors.is_empty() {
            *log_noise = golden_section::minimise(RANGE, STEPS, |log| nll(errors, log.exp())) as f32;
        }
    }
}

/// Squared error and propagated variance of every observed value of every output.
fn errors(
    nets: &LatentNets,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
    draws: usize,
    seed: u64,
) -> Vec<Vec<(f64, f64)>> {
    let channels = nets.channels();
    let mut errors = vec![Vec::new(); channels];
    let tensors = LatentTensors::new(nets, parameters, &Device::flex());
    for (index, batch) in batches.enumerate() {
        let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: index as u64 });
        let recognition = recognise(nets, &tensors, &batch);
        let drawn = draw(&recognition.posterior, batch.rows, draws, &mut rng);
        let many = repeated(&batch, channels, draws);
        let prediction = generate(nets, &tensors, &many, &recognition.hidden, drawn);
        let mean = to_vec(prediction.mean);
        let var = prediction.var.map_or_else(|| vec![0.0; mean.len()], to_vec);
        for (place, mask) in many.mask.iter().enumerate().filter(|(_, mask)| **mask != 0.0) {
            let error = f64::from(mask * (many.targets[place] - mean[place]));
            errors[place % channels].push((error * error, f64::from(var[place])));
        }
    }
    errors
}

/// Σ ½ (ln(v + σ²) + e²/(v + σ²)), without terms that do not depend on σ².
fn nll(errors: &[(f64, f64)], noise: f64) -> f64 {
    errors.iter().map(|(square, var)| (var + noise).ln() + square / (var + noise)).sum::<f64>() * 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_noise_of_certain_outputs_is_their_mean_squared_error() {
        let errors: Vec<(f64, f64)> = [0.5, 2.0, 3.5].map(|square| (square, 0.0)).to_vec();
        let found = golden_section::minimise(RANGE, STEPS, |log| nll(&errors, log.exp())).exp();
        assert!((found - 2.0).abs() < 1e-5, "{found}");
    }

    #[test]
    fn no_other_noise_is_more_likely() {
        let errors = [(0.5, 0.1), (2.0, 0.7), (0.1, 0.0), (3.5, 1.2)];
        let found = golden_section::minimise(RANGE, STEPS, |log| nll(&errors, log.exp())).exp();
        for other in [0.5, 0.99, 1.01, 2.0] {
            assert!(nll(&errors, found) < nll(&errors, other * found), "{other}");
        }
    }
}
