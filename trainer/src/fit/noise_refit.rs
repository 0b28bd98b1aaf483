//! Noise variances refitted to validation data after training.
//!
//! A learned noise variance follows the optimiser at the pace of the learning rate, and towards the errors on
//! training data, which are smaller than those on other data. Given the predictions, the best one is found
//! without gradients: one number per output.

use quaver::checkpoint::{Likelihood, ModelSpec};

use crate::data::batch::Batch;
use crate::golden_section::minimise;
use crate::nn::{BatchPrediction, Parameters, predict};

/// Range of the logarithm of a noise variance in standardised units, or of a factor on it.
const RANGE: [f64; 2] = [-14.0, 7.0];
/// Points of the search before it is refined, half a nat apart: the likelihood may have several maxima.
const GRID: usize = 43;
/// Each step keeps 0.618 of an interval of one nat: 1e-8 of it is left.
const STEPS: usize = 38;

/// Sets the noise variance of every output to the one that makes the observed targets most likely. For
/// heteroscedastic outputs it is a factor on the predicted noise variance. An output that is never observed
/// keeps its own, as do likelihoods without a noise of their own.
pub(super) fn refit_noise(
    spec: &ModelSpec,
    parameters: &mut Parameters,
    batches: impl Iterator<Item = Batch>,
) {
    let is_factor = match spec.likelihood {
        Likelihood::Gaussian => false,
        Likelihood::Heteroscedastic => true,
        Likelihood::Bernoulli | Likelihood::Categorical => return,
    };
    let (name, places) = if is_factor { ("output.bias", 1..) } else { ("output.log_noise", 0..) };
    // A network with implicit variance has no noise parameter.
    if parameters.get_mut(name).is_none() {
        return;
    }
    let mut residuals: Vec<Vec<Residual>> = (0..spec.outputs).map(|_| Vec::new()).collect();
    for batch in batches {
        gather(&batch, &predict(spec, parameters, &batch), &mut residuals);
    }
    let Some(noise) = parameters.get_mut(name) else { return };
    for (place, residuals) in places.step_by(spec.likelihood.rows()).zip(&residuals) {
        let Some(log) = best_log_noise(residuals, is_factor) else { continue };
        noise.values[place] = if is_factor { noise.values[place] + log as f32 } else { log as f32 };
    }
    parameters.clamp_to_limits();
}

/// One observed target: squared error, propagated variance and noise variance of its prediction.
struct Residual {
    square: f64,
    var: f64,
    noise: f64,
}

/// Adds the residuals of a batch to those of every output.
fn gather(batch: &Batch, prediction: &BatchPrediction, residuals: &mut [Vec<Residual>]) {
    let outputs = residuals.len();
    for (place, _) in batch.mask.iter().enumerate().filter(|(_, mask)| **mask != 0.0) {
        let error = f64::from(batch.targets[place]) - f64::from(prediction.mean[place]);
        let (var, noise) = (f64::from(prediction.var[place]), f64::from(prediction.noise[place]));
        residuals[place % outputs].push(Residual { square: error * error, var, noise });
    }
}

/// The log-variance s that minimises Σ ln(v + eˢ) + e²/(v + eˢ), which is twice the negative log-likelihood
/// up to a constant; with `is_factor`, eˢ multiplies the noise of every prediction. Nothing without
/// residuals.
fn best_log_noise(residuals: &[Residual], is_factor: bool) -> Option<f64> {
    if residuals.is_empty() {
        return None;
    }
    let loss = |log: f64| -> f64 {
        let noise = libm::exp(log);
        let term = |residual: &Residual| {
            let total = residual.var + noise * if is_factor { residual.noise } else { 1.0 };
            libm::log(total) + residual.square / total
        };
        residuals.iter().map(term).sum()
    };
    let [low, high] = RANGE;
    let step = (high - low) / (GRID - 1) as f64;
    let points = (0..GRID).map(|index| low + step * index as f64);
    let best = points.map(|log| (log, loss(log))).min_by(|a, b| a.1.total_cmp(&b.1))?.0;
    Some(minimise([(best - step).max(low), (best + step).min(high)], STEPS, loss))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream, uniform};

    fn residuals(noise: f64, spread: f64) -> Vec<Residual> {
        let mut rng = stream(1, Purpose::Initialisation);
        (0..20_000)
            .map(|_| {
                let var = spread * uniform(&mut rng);
                let square = (var + noise) * normal(&mut rng).powi(2);
                Residual { square, var, noise: 2.0 * noise }
            })
            .collect()
    }

    #[test]
    fn without_propagated_variance_it_is_the_mean_square() {
        let residuals = residuals(0.3, 0.0);
        let mean = residuals.iter().map(|residual| residual.square).sum::<f64>() / residuals.len() as f64;
        // A minimum is found to the square root of the rounding of its value.
        assert!((best_log_noise(&residuals, false).unwrap() - mean.ln()).abs() < 1e-5);
        assert!((best_log_noise(&residuals, true).unwrap() - (mean / 0.6).ln()).abs() < 1e-5);
        assert_eq!(best_log_noise(&[], false), None);
    }

    #[test]
    fn propagated_variance_is_not_counted_twice() {
        for (noise, spread) in [(0.3, 0.5), (0.01, 0.1), (2.0, 0.2)] {
            let residuals = residuals(noise, spread);
            // The standard error of a variance from 20 000 draws is 1 %, of its part about a few times that.
            let found = best_log_noise(&residuals, false).unwrap().exp();
            assert!((found / noise - 1.0).abs() < 0.15, "{found} against {noise}");
            let factor = best_log_noise(&residuals, true).unwrap().exp();
            assert!((2.0 * factor - 1.0).abs() < 0.15, "{factor}");
        }
    }
}
