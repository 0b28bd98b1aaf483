//! From the moments of the output map to predictions.

use quaver::checkpoint::{Likelihood, ModelSpec, MomentForm};
use quaver::moments::{self, Moments};

use super::net::BatchPrediction;

/// Largest magnitude of the mean logarithm of a noise variance, as in the runtime.
pub(crate) const LOG_NOISE_LIMIT: f32 = 18.0;

/// From the moments of the output map's rows to those of y.
pub(super) fn predict_outputs(
    spec: &ModelSpec,
    noise_var: &[f32],
    mean: Vec<f32>,
    var: Vec<f32>,
) -> BatchPrediction {
    match spec.likelihood {
        Likelihood::Gaussian => {
            let noise = noise_var.iter().copied().cycle().take(mean.len()).collect();
            BatchPrediction { mean, var, noise }
        }
        Likelihood::Bernoulli => bernoulli(spec.moment_form, mean, var),
        Likelihood::Heteroscedastic => heteroscedastic(&mean, &var),
        Likelihood::Categorical => categorical(spec.outputs.into(), mean, var),
    }
}

/// Probabilities, whose total variance is p (1 − p).
fn bernoulli(form: MomentForm, mut mean: Vec<f32>, mut var: Vec<f32>) -> BatchPrediction {
    let sigmoid = match form {
        MomentForm::Accurate => moments::sigmoid,
        MomentForm::Paper => moments::paper::sigmoid,
    };
    for (mean, var) in mean.iter_mut().zip(&mut var) {
        Moments { mean: *mean, var: *var } = sigmoid(Moments { mean: *mean, var: *var });
    }
    let noise = mean.iter().zip(&var).map(|(p, var)| (p * (1.0 - p) - var).max(0.0)).collect();
    BatchPrediction { mean, var, noise }
}

/// Pairs of rows: the mean, and the logarithm s of the noise variance, of which E[eˢ] = e^(m + v/2).
fn heteroscedastic(mean: &[f32], var: &[f32]) -> BatchPrediction {
    let pairs = mean.chunks_exact(2).zip(var.chunks_exact(2));
    let noise = pairs.map(|(mean, var)| expected_noise(mean[1], var[1])).collect();
    let first = |values: &[f32]| values.iter().step_by(2).copied().collect();
    BatchPrediction { mean: first(mean), var: first(var), noise }
}

/// E[eˢ] for s ~ N(mean, var), as the runtime takes it.
pub(crate) fn expected_noise(mean: f32, var: f32) -> f32 {
    libm::expf((mean + 0.5 * var).clamp(-LOG_NOISE_LIMIT, LOG_NOISE_LIMIT))
}

/// Softmax of logits shrunk by κ = 1/√(1 + πv/8), with the first-order variance of each probability.
fn categorical(outputs: usize, mut mean: Vec<f32>, mut var: Vec<f32>) -> BatchPrediction {
    let mut noise = vec![0.0; mean.len()];
    let rows = mean.chunks_mut(outputs).zip(var.chunks_mut(outputs)).zip(noise.chunks_mut(outputs));
    for ((mean, var), noise) in rows {
        let p = probabilities(mean, var);
        let shared: f32 = p.iter().zip(var.iter()).map(|(p, var)| p * p * var).sum();
        for (index, p) in p.into_iter().enumerate() {
            let total = p * (1.0 - p);
            var[index] = (p * p * ((1.0 - 2.0 * p) * var[index] + shared)).clamp(0.0, total);
            (mean[index], noise[index]) = (p, total - var[index]);
        }
    }
    BatchPrediction { mean, var, noise }
}

/// E[softmax(a)] for independent a ~ N(m, v), approximately: the logits are shrunk by what is not known of them, as
/// for a sigmoid (MacKay 1992).
pub(crate) fn probabilities(mean: &[f32], var: &[f32]) -> Vec<f32> {
    let logits: Vec<f32> = mean.iter().zip(var).map(|(m, v)| m * shrinkage(*v)).collect();
    let largest = logits.iter().copied().fold(f32::MIN, f32::max);
    let exps: Vec<f32> = logits.iter().map(|logit| libm::expf(logit - largest)).collect();
    let total: f32 = exps.iter().sum();
    exps.into_iter().map(|exp| exp / total).collect()
}

/// κ = 1/√(1 + πv/8).
pub(crate) fn shrinkage(var: f32) -> f32 {
    1.0 / (1.0 + std::f32::consts::PI / 8.0 * var).sqrt()
}
