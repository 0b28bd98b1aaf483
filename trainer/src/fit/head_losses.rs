//! Losses of likelihoods that use several rows of the output map.

use quaver::likelihood::{expected_noise, softmax};
use quaver::moments::Dual;

use super::class_loss::by_moments;
use super::likelihood;
use super::loss::{MomentGradients, ObservedTargets};
use crate::nn::host_node::{HostArray, HostFunction, Kept};
use crate::nn::recurrence::Traces;

/// −ln N(z | E[y], V[y] + E[eˢ]), where the network predicts y and the logarithm s of its noise variance.
///
/// E[eˢ] = e^(m + v/2) is exact for normal s; using the expected noise variance in the density is the
/// approximation.
#[derive(Clone, Debug)]
pub(super) struct Heteroscedastic(pub(super) ObservedTargets);

impl HostFunction<2> for Heteroscedastic {
    /// Derivatives by means and total variances.
    type Tape = MomentGradients;

    fn forward(&self, [mean, var]: [&[f32]; 2], _keep: Traces) -> (HostArray, Self::Tape) {
        let pairs = mean.chunks_exact(2).zip(var.chunks_exact(2));
        let total: Vec<f32> = pairs.map(|(mean, var)| var[0] + expected_noise(mean[1], var[1])).collect();
        let first: Vec<f32> = mean.iter().step_by(2).copied().collect();
        self.0.evaluate(&first, &total, likelihood::gaussian)
    }

    fn backward(
        &self,
        [mean, var]: [&[f32]; 2],
        kept: Kept<'_, MomentGradients>,
        grad: &[f32],
    ) -> [Vec<f32>; 2] {
        let [by_mean, by_total] = self.0.scaled(kept, grad);
        let mut gradients = [vec![0.0; mean.len()], vec![0.0; var.len()]];
        let [mean_rows, var_rows] = &mut gradients;
        let rows = mean_rows.chunks_exact_mut(2).zip(var_rows.chunks_exact_mut(2));
        for (index, (mean_row, var_row)) in rows.enumerate() {
            let [log_mean, log_var] = [mean, var].map(|rows| rows[2 * index + 1]);
            let noise: Dual = expected_noise(Dual::by_mean(log_mean), Dual::by_var(log_var));
            mean_row.copy_from_slice(&[by_mean[index], by_total[index] * noise.by_mean]);
            var_row.copy_from_slice(&[by_total[index], by_total[index] * noise.by_var]);
        }
        gradients
    }
}

/// −Σ_k z_k ln p_k with p = softmax(κ ⊙ m), κ = 1/√(1 + πv/8): see [`softmax`].
#[derive(Clone, Debug)]
pub(super) struct Categorical {
    pub(super) observed: ObservedTargets,
    pub(super) outputs: usize,
}

impl HostFunction<2> for Categorical {
    type Tape = MomentGradients;

    fn forward(&self, [mean, var]: [&[f32]; 2], _keep: Traces) -> (HostArray, MomentGradients) {
        let ObservedTargets { targets, mask, share } = &self.observed;
        let mut gradients_by_moment =
            MomentGradients { by_mean: vec![0.0; mean.len()], by_var: vec![0.0; mean.len()] };
        let mut sum = 0.0;
        for start in (0..mean.len()).step_by(self.outputs) {
            let row = start..start + self.outputs;
            let mut p = mean[row.clone()].to_vec();
            softmax(&mut p, &var[row.clone()]);
            let weight = |index: usize| mask[index] * targets[index];
            let all: f32 = row.clone().map(weight).sum();
            for (index, p) in row.zip(p) {
                sum += likelihood::class_nll(p, weight(index));
                let [by_mean, by_var] = by_moments(p, mean[index], var[index], weight(index), all);
                gradients_by_moment.by_mean[index] = by_mean;
                gradients_by_moment.by_var[index] = by_var;
            }
        }
        let value = (sum * f64::from(*share)) as f32;
        (HostArray { values: vec![value], shape: vec![1] }, gradients_by_moment)
    }

    fn backward(&self, _: [&[f32]; 2], kept: Kept<'_, MomentGradients>, grad: &[f32]) -> [Vec<f32>; 2] {
        self.observed.scaled(kept, grad)
    }
}
