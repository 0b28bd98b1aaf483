//! The divergence of the weight posteriors from their prior.

use std::f32::consts::TAU;

use burn::tensor::Tensor;
use burn::tensor::activation::softplus;

use crate::nn::ScaleMixture;
use crate::nn::posterior_tensors::{NormalPrior, PosteriorTensors, Posteriors, PriorTensors};

/// The divergence of all weights from their prior, in nats, without that of pruned ones. One element.
///
/// In closed form if the prior is learned. For a mixture it is estimated by the weights that were drawn,
/// ln q(φ) − ln p(φ), whose expectation it is (Fortunato, Blundell and Vinyals 2017, fig. 1).
///
/// # Panics
/// If the prior is a mixture and no weights were drawn.
pub(crate) fn divergence(posteriors: &Posteriors) -> Tensor<1> {
    match &posteriors.prior {
        PriorTensors::Learned(prior) => closed_form(posteriors, prior),
        PriorTensors::Mixture(mixture) => estimate(posteriors, *mixture),
    }
}

/// KL(q(θ | φ, (x, y)) ‖ p(θ | φ)) = Σ (η g_φ)² / 2σ₀² of a draw from a sharpened posterior, in nats: both
/// are normal with the standard deviation σ₀ (Fortunato, Blundell and Vinyals 2017, eqs. 7 and 9, section
/// 6.1). One element; nothing without sharpening.
pub(crate) fn sharpening_divergence(posteriors: &Posteriors) -> Option<Tensor<1>> {
    let shift = |(_, posterior): &(_, PosteriorTensors)| posterior.drawn.as_ref()?.shift.clone();
    let shifts: Vec<_> = posteriors.weights.iter().map(shift).collect::<Option<_>>()?;
    Some(Tensor::cat(shifts, 0).square().sum() * 0.5)
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

/// Σ ln N(φ | μ, σ²) − ln p(φ) at φ = μ + σ∘ε. The first term is −½ε² − ln σ − ½ ln 2π: its derivatives by φ
/// and by μ cancel.
fn estimate(posteriors: &Posteriors, mixture: ScaleMixture) -> Tensor<1> {
    let draws = || posteriors.weights.iter().map(|(_, it)| it.drawn.as_ref().expect("drawn weights"));
    let noise = Tensor::cat(draws().map(|drawn| drawn.noise.clone()).collect(), 0);
    let first = Tensor::cat(draws().map(|drawn| drawn.first.clone()).collect(), 0);
    let log_vars = posteriors.weights.iter().map(|(_, posterior)| posterior.log_var()).collect();
    let own = (noise.square() + Tensor::cat(log_vars, 0) + TAU.ln()) * -0.5;
    posteriors.sum(own - log_density(first, mixture))
}

/// ln(π N(θ | 0, σ₁²) + (1 − π) N(θ | 0, σ₂²)) of every weight (Fortunato, Blundell and Vinyals 2017, eq.
/// 18).
///
/// ln(e^a + e^b) = a + softplus(b − a), which neither overflows nor loses the smaller term.
fn log_density(weights: Tensor<1>, mixture: ScaleMixture) -> Tensor<1> {
    let ScaleMixture { weight, std_devs } = mixture;
    let square = weights.square();
    let component = |share: f32, std_dev: f32| {
        let constant = share.ln() - std_dev.ln() - 0.5 * TAU.ln();
        square.clone() * (-0.5 / (std_dev * std_dev)) + constant
    };
    let (first, second) = (component(weight, std_devs[0]), component(1.0 - weight, std_devs[1]));
    first.clone() + softplus(second - first, 1.0)
}

#[cfg(test)]
mod tests;
