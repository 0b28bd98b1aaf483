//! The observation head: from the moments of the output map to predictions.

use quaver::checkpoint::{Likelihood, ModelSpec, MomentForm};
use quaver::likelihood::{bernoulli_variances, categorical_moments, expected_noise};
use quaver::moments::{self, Moments};

use super::net::BatchPrediction;

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

/// Probabilities p, whose total variance is p (1 − p).
fn bernoulli(form: MomentForm, mut mean: Vec<f32>, mut var: Vec<f32>) -> BatchPrediction {
    let sigmoid = match form {
        MomentForm::Accurate => moments::sigmoid,
        MomentForm::Paper => moments::paper::sigmoid,
    };
    for (mean, var) in mean.iter_mut().zip(&mut var) {
        Moments { mean: *mean, var: *var } = sigmoid(Moments { mean: *mean, var: *var });
    }
    let noise = mean.iter().zip(&var).map(|(p, var)| bernoulli_variances(*p, *var).aleatoric).collect();
    BatchPrediction { mean, var, noise }
}

/// Pairs of rows: the mean, and the logarithm s of the noise variance, with E[eˢ] = e^(m + v/2).
fn heteroscedastic(mean: &[f32], var: &[f32]) -> BatchPrediction {
    let pairs = mean.chunks_exact(2).zip(var.chunks_exact(2));
    let noise = pairs.map(|(mean, var)| expected_noise(mean[1], var[1])).collect();
    let first = |values: &[f32]| values.iter().step_by(2).copied().collect();
    BatchPrediction { mean: first(mean), var: first(var), noise }
}

/// Probabilities of classes, with the first-order variance of each.
fn categorical(outputs: usize, mut mean: Vec<f32>, mut var: Vec<f32>) -> BatchPrediction {
    let mut noise = vec![0.0; mean.len()];
    let rows = mean.chunks_mut(outputs).zip(var.chunks_mut(outputs)).zip(noise.chunks_mut(outputs));
    rows.for_each(|((mean, var), noise)| categorical_moments(mean, var, noise));
    BatchPrediction { mean, var, noise }
}
