//! Latent models in the training loop.

use anyhow::{Context as _, Result};
use burn::tensor::{Device, Tensor};

use super::bound::{Bound, bound};
use super::input_masking::mask_rows;
use super::nets::LatentNets;
use super::noise_search;
use super::tensors::LatentTensors;
use crate::config::{Config, InitialNoise, LatentConfig};
use crate::data::batch::{Batch, Batches};
use crate::data::{Dataset, Scaling};
use crate::fit::memory_estimate::TrainedNetwork;
use crate::fit::noise_init::init_noise;
use crate::fit::weight_divergence::divergence as weight_divergence;
use crate::fit::{Architecture, LossAndGradient, StepContext, ValidationLoss};
use crate::nn::Parameters;
use crate::nn::tensors::to_vec;
use crate::random::{Purpose, stream};

/// The parameter with the log-variances of the outputs' noise.
pub(super) const LOG_NOISE: &str = "generative.output.log_noise";

impl Architecture for LatentNets {
    const MAGIC: &'static [u8; 8] = b"QVLATEN2";

    fn from_config(config: &Config, data: &Dataset) -> Result<Self> {
        let latent = config.latent.as_ref().context("a latent model needs a section `[latent]`")?;
        LatentNets::new(config, latent, data.target_names.len())
    }

    /// One scaler, that of the targets, for inputs as well: the prediction of a missing value can then
    /// replace it in the input.
    fn scaling(&self, _config: &Config, data: &Dataset) -> Result<Scaling> {
        let targets = Scaling::fit(&data.train).targets;
        Ok(Scaling { inputs: targets.clone(), targets, density: None, linear: None })
    }

    fn init_parameters(&self, config: &Config, data: &Dataset, scaling: &Scaling) -> Parameters {
        let mut parameters = LatentNets::init_parameters(self, &config.init, config.seed);
        let mut generative = parameters.part("generative.", self.generative.method);
        init_noise(&self.generative.spec, &data.train, scaling, InitialNoise::One, &mut generative);
        parameters.put_part("generative.", generative);
        parameters
    }

    fn fits(&self, parameters: &Parameters) -> bool {
        LatentNets::fits(self, parameters)
    }

    fn networks(&self) -> Vec<TrainedNetwork<'_>> {
        let nets = [&self.recognition, &self.generative].into_iter();
        nets.map(|net| (&net.spec, if net.bidirectional { 2 } else { 1 })).collect()
    }

    fn channels(&self) -> [usize; 2] {
        [LatentNets::channels(self); 2]
    }

    fn carried_units(&self) -> Vec<usize> {
        Vec::new()
    }

    fn loss_and_gradient(&self, parameters: &Parameters, step: &StepContext<'_>) -> Option<LossAndGradient> {
        let StepContext { batch, config, context, epochs, .. } = *step;
        let latent = config.latent.as_ref()?;
        let weight = if latent.warm_up > 0.0 { (epochs / latent.warm_up).min(1.0) } else { 1.0 };
        let mut rng = step.draws();
        let latents = latent.divergence_weight;
        let weights = DivergenceWeights { latents, warmth: weight, weights: context.divergence_share };
        let gappy = (latent.max_gap > 0).then(|| mask_rows(batch, self.channels(), latent.max_gap, &mut rng));
        let shown = gappy.as_ref().unwrap_or(batch);
        loss_and_gradient(self, parameters, [shown, batch], weights, latent.draws, &mut rng)
    }

    fn validate<'b>(
        &self,
        config: &Config,
        parameters: &mut Parameters,
        batches: &dyn Fn() -> Batches<'b>,
    ) -> Option<ValidationLoss> {
        let LatentConfig { draws, divergence_weight, .. } = *config.latent.as_ref()?;
        if self.searched_noise {
            noise_search::search(self, parameters, batches(), draws, config.seed);
        }
        let BoundEstimate { reconstruction, divergence, .. } =
            mean_bound(self, parameters, batches(), draws, config.seed)?;
        // With part of the divergence, this bounds the loss of denoised rows: see `bound`.
        Some(ValidationLoss { nll: reconstruction + divergence_weight * divergence, kl: Some(divergence) })
    }
}

/// Weights of the divergences from priors.
#[derive(Clone, Copy, Debug)]
pub(super) struct DivergenceWeights {
    /// Of the latent variables, in the printed bound; 1 bounds the likelihood of rows before they are
    /// observed.
    pub(super) latents: f64,
    /// Fraction of that in the gradient during warm-up, at most 1.
    pub(super) warmth: f64,
    /// Of the generative network's weights, if they have distributions.
    pub(super) weights: Option<f32>,
}

/// Bound and gradient of a batch, of which the recognition network reads `shown`. In the bound, the
/// divergence of the latent variables has its full weight from the start; in the gradient, the fraction of
/// the warm-up.
pub(super) fn loss_and_gradient(
    nets: &LatentNets,
    parameters: &Parameters,
    [shown, batch]: [&Batch; 2],
    weights: DivergenceWeights,
    draws: usize,
    rng: &mut impl rand_core::Rng,
) -> Option<LossAndGradient> {
    let mut parameters = parameters.clone();
    if let Some(noise) = parameters.get_mut(LOG_NOISE).filter(|_| nets.searched_noise) {
        noise.values.fill(0.0);
    }
    let tensors = LatentTensors::new(nets, &parameters, &Device::flex().autodiff());
    let Bound { reconstruction, divergence, steps } = bound(nets, &tensors, shown, batch, draws, rng)?;
    let posteriors = tensors.generative.forward_net.posteriors.as_ref().zip(weights.weights);
    let penalty = posteriors.and_then(|(posteriors, share)| Some(weight_divergence(posteriors)? * share));
    let bound = reconstruction.clone() + divergence.clone() * (weights.latents * weights.warmth) as f32;
    let objective = match &penalty {
        Some(penalty) => bound + penalty.clone(),
        None => bound,
    };
    let mut gradients = tensors.gradients(&mut objective.backward());
    if nets.searched_noise {
        let lists = parameters.tensors.iter().zip(&mut gradients);
        lists.filter(|(list, _)| list.name == LOG_NOISE).for_each(|(_, gradient)| gradient.fill(0.0));
    }
    let nll = number(reconstruction) + weights.latents * number(divergence);
    let divergence = penalty.map_or(0.0, number);
    Some(LossAndGradient { nll, divergence, steps, gradients, states: Vec::new() })
}

/// The two terms of the bound in nats per time step, with densities in standardised units.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BoundEstimate {
    /// −E_q[ln p(x|z)].
    pub reconstruction: f64,
    /// KL(q ‖ p).
    pub divergence: f64,
    /// Steps that count.
    pub steps: usize,
}

/// The bound of several batches, with draws that depend only on the seed; nothing if all values are masked.
pub(super) fn mean_bound(
    nets: &LatentNets,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
    draws: usize,
    seed: u64,
) -> Option<BoundEstimate> {
    let tensors = LatentTensors::new(nets, parameters, &Device::flex());
    let mut sum = BoundEstimate::default();
    for (index, batch) in batches.enumerate() {
        let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: index as u64 });
        let Some(found) = bound(nets, &tensors, &batch, &batch, draws, &mut rng) else { continue };
        sum.reconstruction += number(found.reconstruction) * found.steps as f64;
        sum.divergence += number(found.divergence) * found.steps as f64;
        sum.steps += found.steps;
    }
    let count = sum.steps as f64;
    (sum.steps > 0).then_some(BoundEstimate {
        reconstruction: sum.reconstruction / count,
        divergence: sum.divergence / count,
        steps: sum.steps,
    })
}

fn number(value: Tensor<1>) -> f64 {
    to_vec(value).first().copied().map_or(f64::NAN, f64::from)
}
