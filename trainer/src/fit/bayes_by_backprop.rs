//! Bayes by Backprop: loss and gradient of networks whose weights are drawn from their posterior (Fortunato,
//! Blundell and Vinyals 2017).
//!
//! A draw θ = μ + σ∘ε holds for the whole batch: all sequences, all steps of a window. In the drawn network
//! weights are points; noise on units is propagated as moments, as in any network.

use quaver::checkpoint::ModelSpec;
use rand_core::Rng;

use super::drawn_weights::DrawnWeights;
use super::step::{BatchContext, LossAndGradient, loss_and_gradient_with};
use crate::config::WeightsConfig;
use crate::data::batch::Batch;
use crate::nn::weight_sample::{draw_noise, negated};
use crate::nn::{Parameters, SharpenedSample};

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
    let of_points =
        |points: &Parameters, context: BatchContext<'_>| loss_and_gradient_with(spec, points, batch, context);
    average_over_draws(parameters, context, draws, of_points)
}

/// The same of any network, by the loss and gradient of one with point weights.
///
/// # Panics
/// If there are no draws.
pub(crate) fn average_over_draws(
    parameters: &Parameters,
    context: BatchContext<'_>,
    draws: &[WeightDraw],
    of_points: impl Fn(&Parameters, BatchContext<'_>) -> Option<LossAndGradient>,
) -> Option<LossAndGradient> {
    let likelihood_only = BatchContext { divergence_share: None, ..context };
    let of_points = |points: &Parameters| of_points(points, likelihood_only);
    let of_draw = |draw: &WeightDraw| {
        let drawn = draw_network(parameters, draw, of_points)?;
        Some(drawn.pull_back(of_points(&drawn.points())?, context.divergence_share))
    };
    let (first, others) = draws.split_first().expect("at least one draw of the weights");
    let mut total = of_draw(first)?;
    for draw in others {
        add(&mut total, &of_draw(draw)?);
    }
    if !others.is_empty() {
        scale(&mut total, 1.0 / draws.len() as f32);
    }
    Some(total)
}

/// The weights of a draw. A sharpened posterior needs a backward pass at φ for g_φ = −∇ ln p(y | φ, x)
/// (alg. 1).
pub(crate) fn draw_network<'a>(
    parameters: &'a Parameters,
    draw: &WeightDraw,
    of_points: impl Fn(&Parameters) -> Option<LossAndGradient>,
) -> Option<DrawnWeights<'a>> {
    let drawn = DrawnWeights::new(parameters, draw.first.clone());
    let (Some(std_dev), Some(second)) = (parameters.method.posterior.sharpening(), &draw.second) else {
        return Some(drawn);
    };
    let points = drawn.points();
    let found = of_points(&points)?;
    // φ = μ + σ∘ε, so that the gradient by the means is that by φ; the loss is a mean over time steps.
    let factor = std_dev * std_dev * found.steps as f32;
    let lists = points.tensors.iter().zip(found.gradients).filter(|(list, _)| list.is_weight());
    let shift = lists.map(|(_, gradient)| gradient.iter().map(|value| factor * value).collect()).collect();
    Some(drawn.sharpened(SharpenedSample { shift, noise: second.clone(), std_dev }))
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
