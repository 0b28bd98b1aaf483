//! The divergence of the weight posteriors from their prior.

use std::f32::consts::TAU;

use burn::tensor::{Device, Tensor};

use super::step::scalar;
use crate::nn::posterior_tensors::{NormalPrior, PosteriorTensors, Posteriors};
use crate::nn::tensors::PosteriorLeaves;
use crate::nn::weight_spread::softplus_and_slope;
use crate::nn::{Parameters, ScaleMixture};

/// The divergence of all weights from a learned prior, in nats, without that of pruned ones. One element;
/// nothing if the prior is not learned.
pub(crate) fn divergence(posteriors: &Posteriors) -> Option<Tensor<1>> {
    posteriors.prior.as_ref().map(|prior| closed_form(posteriors, prior))
}

/// Adds `share` times the gradient of the divergence from a learned prior, and returns the divergence in
/// nats.
pub(super) fn closed_form_gradient(parameters: &Parameters, share: f32, gradients: &mut [Vec<f32>]) -> f64 {
    let Some(leaves) = PosteriorLeaves::new(parameters, &Device::flex().autodiff()) else { return 0.0 };
    let Some(divergence) = divergence(&leaves.posteriors) else { return 0.0 };
    let own = leaves.gradients(&mut divergence.clone().backward());
    for (sum, value) in gradients.iter_mut().flatten().zip(own.iter().flatten()) {
        *sum += share * value;
    }
    scalar(divergence)
}

/// Σ KL(N(μ, τ) ‖ N(μ̃, σ̃²)) = Σ ln(σ̃/σ) + (τ + (μ − μ̃)²)/(2σ̃²) − ½ over all weights, which share the
/// mean and variance of the prior (Bayer 2015, thesis, 2.6.2).
fn closed_form(posteriors: &Posteriors, prior: &NormalPrior) -> Tensor<1> {
    let all = |part: fn(&PosteriorTensors) -> Tensor<1>| {
        Tensor::cat(posteriors.weights.iter().map(|(_, posterior)| part(posterior)).collect(), 0)
    };
    let away = all(PosteriorTensors::mean) - prior.mean.clone();
    let precision = (prior.log_var.clone() * -1.0).exp();
    let spread = (all(PosteriorTensors::var) + away.clone() * away) * precision;
    posteriors.sum(prior.log_var.clone() - all(PosteriorTensors::log_var) + spread - 1.0) * 0.5
}

/// ln(π N(θ | 0, σ₁²) + (1 − π) N(θ | 0, σ₂²)) of a weight (Fortunato, Blundell and Vinyals 2017, eq. 18).
#[derive(Clone, Copy, Debug)]
pub(super) struct MixtureDensity {
    /// 1/σ² of each component.
    precisions: [f32; 2],
    /// ln π_k − ln σ_k − ½ ln 2π.
    constants: [f32; 2],
}

impl MixtureDensity {
    pub(super) fn new(ScaleMixture { weight, std_devs }: ScaleMixture) -> Self {
        let constant = |share: f32, std_dev: f32| share.ln() - std_dev.ln() - 0.5 * TAU.ln();
        MixtureDensity {
            precisions: std_devs.map(|std_dev| 1.0 / (std_dev * std_dev)),
            constants: [constant(weight, std_devs[0]), constant(1.0 - weight, std_devs[1])],
        }
    }

    /// The logarithm of the density and its derivative.
    ///
    /// ln(eᵃ + eᵇ) = a + softplus(b − a), which neither overflows nor loses the smaller term; the slope of
    /// softplus is the share of the second component.
    #[inline(always)]
    pub(super) fn log_density(&self, weight: f32) -> [f32; 2] {
        let half = -0.5 * weight * weight;
        let first = half * self.precisions[0] + self.constants[0];
        let second = half * self.precisions[1] + self.constants[1];
        let [more, share] = softplus_and_slope(second - first);
        let precision = self.precisions[0] + share * (self.precisions[1] - self.precisions[0]);
        [first + more, -weight * precision]
    }
}

#[cfg(test)]
pub(super) mod tests;
