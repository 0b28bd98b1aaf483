//! Bayes by Backprop: loss and gradient of networks whose weights are drawn from their posterior (Fortunato,
//! Blundell and Vinyals 2017).
//!
//! A draw θ = μ + σ∘ε holds for the whole batch: all sequences, all steps of a window. In the drawn network
//! weights are points; noise on units is propagated as moments, as in any network.

use burn::tensor::Device;
use quaver::checkpoint::ModelSpec;
use rand_core::Rng;

use super::step::{BatchContext, LossAndGradient, differentiate};
use crate::config::WeightsConfig;
use crate::data::batch::Batch;
use crate::nn::tensors::ParameterTensors;
use crate::nn::weight_sample::{draw_noise, negated};
use crate::nn::{Parameters, SharpenedSample, WeightSample};

/// The random numbers of one draw: ε of the first stage, and ε₀ of the second if the posterior is sharpened.
#[derive(Clone, Debug, PartialEq)]
pub struct WeightDraw {
    /// ε.
    pub first: Vec<Vec<f32>>,
    /// ε₀.
    pub second: Option<Vec<Vec<f32>>>,
}

impl WeightDraw {
    /// Draws ε, then ε₀.
    pub fn new(parameters: &Parameters, rng: &mut impl Rng) -> Self {
        let first = draw_noise(parameters, rng);
        let sharpened = parameters.method.posterior.sharpening().is_some();
        WeightDraw { first, second: sharpened.then(|| draw_noise(parameters, rng)) }
    }

    /// The other half of an antithetic pair: −ε and −ε₀.
    fn mirrored(&self) -> Self {
        WeightDraw { first: negated(&self.first), second: self.second.as_deref().map(negated) }
    }
}

/// The draws of one batch: `weights.draws` of them, in pairs ±ε if they are antithetic.
pub(crate) fn draw_weights(
    parameters: &Parameters,
    weights: &WeightsConfig,
    rng: &mut impl Rng,
) -> Vec<WeightDraw> {
    let mut draws = Vec::with_capacity(weights.draws.into());
    while draws.len() < weights.draws.into() {
        let draw = WeightDraw::new(parameters, rng);
        let mirrored = weights.antithetic.then(|| draw.mirrored());
        draws.push(draw);
        draws.extend(mirrored);
    }
    draws
}

/// Loss and gradient of a batch, averaged over draws; nothing if all targets are masked. The final states are
/// those of the first draw: the next window continues a state that one network has reached.
///
/// # Panics
/// If there are no draws.
pub fn loss_and_gradient_of_draws(
    spec: &ModelSpec,
    parameters: &Parameters,
    batch: &Batch,
    context: BatchContext<'_>,
    draws: &[WeightDraw],
) -> Option<LossAndGradient> {
    mean_of_draws(draws, |draw| loss_and_gradient_of(spec, parameters, batch, context, draw))
}

/// The mean of loss and gradient over draws; nothing if a draw has none.
///
/// # Panics
/// If there are no draws.
pub(crate) fn mean_of_draws(
    draws: &[WeightDraw],
    of_draw: impl Fn(&WeightDraw) -> Option<LossAndGradient>,
) -> Option<LossAndGradient> {
    let (first, others) = draws.split_first().expect("at least one draw of the weights");
    let mut total = of_draw(first)?;
    for draw in others {
        add(&mut total, &of_draw(draw)?);
    }
    scale(&mut total, 1.0 / draws.len() as f32);
    Some(total)
}

fn loss_and_gradient_of(
    spec: &ModelSpec,
    parameters: &Parameters,
    batch: &Batch,
    context: BatchContext<'_>,
    draw: &WeightDraw,
) -> Option<LossAndGradient> {
    let sample = sample_weights(spec, parameters, batch, context, draw)?;
    let tensors = ParameterTensors::drawn(spec, parameters, &sample, &Device::flex().autodiff());
    differentiate(spec, &tensors, batch, context)
}

/// The weights of a draw. A sharpened posterior needs a backward pass at φ for g_φ = −∇ ln p(y | φ, x), here
/// of the mean over time steps, so that η does not depend on the length of a window (alg. 1).
pub(super) fn sample_weights(
    spec: &ModelSpec,
    parameters: &Parameters,
    batch: &Batch,
    context: BatchContext<'_>,
    draw: &WeightDraw,
) -> Option<WeightSample> {
    let mut sample = WeightSample { noise: draw.first.clone(), sharpened: None };
    let (Some(std_dev), Some(second)) = (parameters.method.posterior.sharpening(), &draw.second) else {
        return Some(sample);
    };
    let tensors = ParameterTensors::drawn(spec, parameters, &sample, &Device::flex().autodiff());
    let likelihood_only = BatchContext { divergence_share: None, ..context };
    let mut gradient = differentiate(spec, &tensors, batch, likelihood_only)?.gradients;
    // φ = μ + σ∘ε, so that the gradient by the means is that by φ. Means are the first lists.
    gradient.truncate(draw.first.len());
    sample.sharpened = Some(SharpenedSample { gradient, noise: second.clone(), std_dev });
    Some(sample)
}

fn add(total: &mut LossAndGradient, other: &LossAndGradient) {
    total.nll += other.nll;
    total.divergence += other.divergence;
    let values = total.gradients.iter_mut().flatten().zip(other.gradients.iter().flatten());
    values.for_each(|(sum, value)| *sum += value);
}

fn scale(total: &mut LossAndGradient, factor: f32) {
    total.nll *= f64::from(factor);
    total.divergence *= f64::from(factor);
    total.gradients.iter_mut().flatten().for_each(|value| *value *= factor);
}
