//! The training objective: negative log-likelihood per time step, without padding and missing targets.

use std::sync::Arc;

use burn::tensor::{Tensor, TensorData};
use quaver::checkpoint::{Likelihood, ModelSpec, MomentForm};

use super::head_losses::{Categorical, Heteroscedastic};
use super::likelihood::{self, LikelihoodTerms};
use crate::data::batch::Batch;
use crate::nn::WeightPosterior;
use crate::nn::host_node::{HostArray, HostFunction, Kept, apply2, apply3};
use crate::nn::net::MomentTensors;
use crate::nn::parallel;
use crate::nn::parameters::IMPLICIT_NOISE;
use crate::nn::recurrence::Traces;
use crate::nn::tensors::ParameterTensors;

/// The loss of a batch.
#[derive(Clone, Debug)]
pub struct Loss {
    /// Nats per time step: summed over outputs, averaged over the steps that count. One element.
    pub value: Tensor<1>,
    /// Steps that count: those with at least one unmasked target.
    pub steps: usize,
}

/// Which objective a loss is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The objective that the training method minimises.
    Train,
    /// The negative log-likelihood of the observations under the predictions.
    Eval,
}

/// The loss of a batch; nothing if all targets are masked.
pub fn loss(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    output: MomentTensors,
    batch: &Batch,
    mode: Mode,
) -> Option<Loss> {
    let outputs = usize::from(spec.outputs);
    let steps = batch.mask.chunks(outputs).filter(|row| row.iter().any(|mask| *mask != 0.0)).count();
    if steps == 0 {
        return None;
    }
    let observed = ObservedTargets {
        targets: batch.targets.as_slice().into(),
        mask: batch.mask.as_slice().into(),
        share: 1.0 / steps as f32,
    };
    let var = output.var.unwrap_or_else(|| output.mean.zeros_like());
    let value = match spec.likelihood {
        Likelihood::Gaussian => {
            let log_noise = parameters
                .log_noise
                .clone()
                .unwrap_or_else(|| Tensor::full([outputs], IMPLICIT_NOISE.ln(), &output.mean.device()));
            if parameters.method.posterior == WeightPosterior::Vb && mode == Mode::Train {
                expected_gaussian(&observed, outputs, output.mean, var, log_noise)
            } else {
                apply3(Gaussian(observed), output.mean, var, log_noise)
            }
        }
        Likelihood::Bernoulli => apply2(Bernoulli(observed, spec.moment_form), output.mean, var),
        Likelihood::Heteroscedastic => apply2(Heteroscedastic(observed), output.mean, var),
        Likelihood::Categorical => apply2(Categorical { observed, outputs }, output.mean, var),
    };
    Some(Loss { value, steps })
}

/// −E[ln N(z | y, σ̂²)] for y ~ N(E[y], V[y]):
/// [`expected_gaussian_nll`](quaver::likelihood::expected_gaussian_nll) on tensors, which record the
/// derivative with respect to the noise as well.
fn expected_gaussian(
    observed: &ObservedTargets,
    outputs: usize,
    mean: Tensor<2>,
    var: Tensor<2>,
    log_noise: Tensor<1>,
) -> Tensor<1> {
    let device = mean.device();
    let given = |values: &[f32]| -> Tensor<2> {
        Tensor::from_data(TensorData::new(values.to_vec(), [values.len() / outputs, outputs]), &device)
    };
    let residual = given(&observed.targets) - mean;
    let log_noise: Tensor<2> = log_noise.unsqueeze();
    let precision = (log_noise.clone() * -1.0).exp();
    let terms = (var + residual.clone() * residual) * precision + log_noise + std::f32::consts::TAU.ln();
    (terms * given(&observed.mask)).sum() * (0.5 * observed.share)
}

/// Targets per task: enough to amortise a thread. Fixed, because sums are rounded chunk by chunk.
const CHUNK: usize = 8192;

/// Targets and mask, and the weight of one step in the loss.
#[derive(Clone, Debug)]
pub(super) struct ObservedTargets {
    pub(super) targets: Arc<[f32]>,
    pub(super) mask: Arc<[f32]>,
    pub(super) share: f32,
}

/// Derivatives of the loss with respect to each output's moments.
#[derive(Debug)]
pub(super) struct MomentGradients {
    pub(super) by_mean: Vec<f32>,
    pub(super) by_var: Vec<f32>,
}

impl ObservedTargets {
    /// The loss and its derivatives for outputs with these moments.
    pub(super) fn evaluate(
        &self,
        mean: &[f32],
        var: &[f32],
        sum: impl Fn(LikelihoodTerms<'_>) -> f64 + Sync,
    ) -> (HostArray, MomentGradients) {
        let count = self.targets.len();
        let mut gradients_by_moment = MomentGradients { by_mean: vec![0.0; count], by_var: vec![0.0; count] };
        let mut sums = vec![0.0; count.div_ceil(CHUNK)];
        let observed = self.targets.chunks(CHUNK).zip(self.mask.chunks(CHUNK));
        let outputs = mean.chunks(CHUNK).zip(var.chunks(CHUNK));
        let derivatives =
            gradients_by_moment.by_mean.chunks_mut(CHUNK).zip(gradients_by_moment.by_var.chunks_mut(CHUNK));
        let tasks = observed.zip(outputs).zip(derivatives).zip(&mut sums);
        parallel::for_each(
            parallel::default_threads(),
            tasks,
            |((((targets, mask), (mean, var)), (by_mean, by_var)), total)| {
                *total = sum(LikelihoodTerms { targets, mask, mean, var, by_mean, by_var });
            },
        );
        let value = (sums.iter().sum::<f64>() * f64::from(self.share)) as f32;
        (HostArray { values: vec![value], shape: vec![1] }, gradients_by_moment)
    }

    /// Derivatives of the whole loss, given the gradient for its value.
    pub(super) fn scaled(&self, (_, kept): Kept<'_, MomentGradients>, grad: &[f32]) -> [Vec<f32>; 2] {
        let factor = grad[0] * self.share;
        [&kept.by_mean, &kept.by_var].map(|partial| partial.iter().map(|value| factor * value).collect())
    }
}

/// A function of the means, the variances and the log-variances of the noise.
#[derive(Clone, Debug)]
struct Gaussian(ObservedTargets);

impl HostFunction<3> for Gaussian {
    type Tape = MomentGradients;

    fn forward(&self, [mean, var, log_noise]: [&[f32]; 3], _keep: Traces) -> (HostArray, MomentGradients) {
        let noise: Vec<f32> = log_noise.iter().map(|log| libm::expf(*log)).collect();
        let total: Vec<f32> = var.iter().zip(noise.iter().cycle()).map(|(var, noise)| var + noise).collect();
        self.0.evaluate(mean, &total, likelihood::gaussian)
    }

    fn backward(
        &self,
        [_, _, log_noise]: [&[f32]; 3],
        kept: Kept<'_, MomentGradients>,
        grad: &[f32],
    ) -> [Vec<f32>; 3] {
        let [by_mean, by_var] = self.0.scaled(kept, grad);
        let mut by_log_noise = vec![0.0; log_noise.len()];
        for row in by_var.chunks(log_noise.len()) {
            for (sum, by_var) in by_log_noise.iter_mut().zip(row) {
                *sum += by_var;
            }
        }
        // ∂s/∂ ln σ̂² = σ̂².
        for (sum, log) in by_log_noise.iter_mut().zip(log_noise) {
            *sum *= libm::expf(*log);
        }
        [by_mean, by_var, by_log_noise]
    }
}

/// A function of the means and the variances.
#[derive(Clone, Debug)]
struct Bernoulli(ObservedTargets, MomentForm);

impl HostFunction<2> for Bernoulli {
    type Tape = MomentGradients;

    fn forward(&self, [mean, var]: [&[f32]; 2], _keep: Traces) -> (HostArray, MomentGradients) {
        self.0.evaluate(mean, var, |terms| likelihood::bernoulli(terms, self.1))
    }

    fn backward(&self, _: [&[f32]; 2], kept: Kept<'_, MomentGradients>, grad: &[f32]) -> [Vec<f32>; 2] {
        self.0.scaled(kept, grad)
    }
}

#[cfg(test)]
mod tests {
    use burn::tensor::Device;
    use quaver::likelihood::expected_gaussian_nll;

    use super::*;
    use crate::nn::tensors::to_vec;

    /// Four terms of a size below 10 in f32: 10⁻⁵.
    #[test]
    fn the_expected_gaussian_loss_is_the_mean_of_its_definition() {
        let (mean, var, log_noise) = ([0.5, -1.0, 2.0, 0.25], [0.1, 0.7, 1.5, 0.0], [-0.5_f32, 0.3]);
        let targets = [1.0, 0.5, -0.5, 0.0];
        let observed =
            ObservedTargets { targets: targets.into(), mask: [1.0, 1.0, 1.0, 0.0].into(), share: 0.5 };
        let device = Device::default();
        let rows = |values: [f32; 4]| Tensor::from_data(TensorData::new(values.to_vec(), [2, 2]), &device);
        let log_noise_tensor = Tensor::from_data(log_noise, &device);
        let found = to_vec(expected_gaussian(&observed, 2, rows(mean), rows(var), log_noise_tensor))[0];
        let term = |index: usize| {
            let noise_var = f64::from(log_noise[index % 2]).exp();
            let [mean, var, target] = [mean, var, targets].map(|values| f64::from(values[index]));
            expected_gaussian_nll(mean, var, noise_var, target)
        };
        let expected = 0.5 * (0..3).map(term).sum::<f64>();
        assert!((f64::from(found) - expected).abs() < 1e-5, "{found} against {expected}");
    }
}
