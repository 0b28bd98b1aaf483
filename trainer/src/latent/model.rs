//! A trained latent model: inference and reconstruction of sequences in raw units.

use burn::tensor::Device;

use super::bound::generate;
use super::importance_sampling::{ImportanceEstimate, importance};
use super::nets::LatentNets;
use super::posterior::{PosteriorTensors, recognise};
use super::tensors::LatentTensors;
use super::training::{BoundEstimate, mean_bound};
use crate::data::batch::{self, Batch};
use crate::data::{Rows, Scaling, Sequence};
use crate::fit::RunState;
use crate::nn::net::{MomentTensors, to_prediction};
use crate::nn::tensors::to_vec;
use crate::nn::{BatchPrediction, Parameters};
use crate::prediction::{SequencePrediction, write_batch};

/// Sequences per batch: enough for wide products, few enough for memory.
pub(super) const LANES: usize = 32;

/// A trained model on the host.
#[derive(Clone, Debug)]
pub struct TrainedLatentModel {
    /// Its architecture.
    pub nets: LatentNets,
    /// Standardisation of inputs and targets.
    pub scaling: Scaling,
    parameters: Parameters,
    pub(super) tensors: LatentTensors,
    noise: Vec<f32>,
}

/// The posterior of the latent variables of a sequence: a row per step, a column per variable.
#[derive(Clone, Debug, PartialEq)]
pub struct PosteriorMoments {
    /// Means μ.
    pub mean: Rows,
    /// Variances σ².
    pub var: Rows,
}

/// How the distribution of a latent variable is fed to the generative network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LatentFeed {
    /// Mean and variance, by variance propagation.
    Moments,
    /// The mean only.
    Mean,
    /// This number of draws, over which predictions are averaged.
    Draws(usize),
}

impl TrainedLatentModel {
    /// The model of a run.
    pub fn new(state: &RunState<LatentNets>) -> Self {
        let RunState { spec, parameters, scaling, .. } = state;
        let generative = parameters.part("generative.", spec.generative.method);
        TrainedLatentModel {
            tensors: LatentTensors::new(spec, parameters, &Device::flex()),
            noise: generative.noise_var(&spec.generative.spec),
            nets: spec.clone(),
            scaling: scaling.clone(),
            parameters: parameters.clone(),
        }
    }

    /// The posterior of every sequence: q(z_t | x_{1:t}), or q(z_t | x_{1:T}) of a bidirectional recognition
    /// network.
    pub fn posterior(&self, sequences: &[Sequence]) -> Vec<PosteriorMoments> {
        let latents = self.nets.latents();
        let room =
            |sequence: &Sequence| Rows { channels: latents, values: vec![0.0; sequence.len() * latents] };
        let mut posteriors: Vec<PosteriorMoments> = sequences
            .iter()
            .map(|sequence| PosteriorMoments { mean: room(sequence), var: room(sequence) })
            .collect();
        for batch in batch::evaluation(sequences, &self.scaling, LANES) {
            let PosteriorTensors { mean, var } = recognise(&self.nets, &self.tensors, &batch).posterior;
            let (mean, var) = (to_vec(mean), to_vec(var));
            for (lane, chunk) in batch.chunks.iter().enumerate() {
                let posterior = &mut posteriors[chunk.sequence];
                for step in 0..chunk.len {
                    let from = (step * batch.rows + lane) * latents..(step * batch.rows + lane + 1) * latents;
                    let to = step * latents..(step + 1) * latents;
                    posterior.mean.values[to.clone()].copy_from_slice(&mean[from.clone()]);
                    posterior.var.values[to].copy_from_slice(&var[from]);
                }
            }
        }
        posteriors
    }

    /// The reconstruction of every row, given the observed rows: p(x_t | …, z) with z from the recognition
    /// network. [`LatentFeed::Mean`] is denoising as published: z̃_t = mean of q, x̃_t = mode of p(x_t |
    /// h_{t−1}, z̃_t) (Bayer and Osendorfer 2014, 4.2).
    ///
    /// # Panics
    /// For [`LatentFeed::Draws`], which is not supported here.
    pub fn reconstruct(&self, sequences: &[Sequence], feed: LatentFeed) -> Vec<SequencePrediction> {
        let mut predictions = self.room(sequences);
        for batch in batch::evaluation(sequences, &self.scaling, LANES) {
            let recognition = recognise(&self.nets, &self.tensors, &batch);
            let latent = decoder_input(recognition.posterior, feed);
            let output = generate(&self.nets, &self.tensors, &batch, &recognition.hidden, latent);
            self.write_batch(&mut predictions, &batch, &self.prediction(output));
        }
        predictions
    }

    /// The bound on the negative log-likelihood of these sequences; nothing if no value was observed.
    pub fn bound(&self, sequences: &[Sequence], draws: usize, seed: u64) -> Option<BoundEstimate> {
        let batches = batch::evaluation(sequences, &self.scaling, LANES);
        mean_bound(&self.nets, &self.parameters, batches, draws, seed)
    }

    /// The negative log-likelihood of these sequences by importance sampling; nothing if no value was
    /// observed.
    pub fn importance(&self, sequences: &[Sequence], draws: usize, seed: u64) -> Option<ImportanceEstimate> {
        importance(&self.nets, &self.parameters, &self.scaling, sequences, draws, seed)
    }

    /// Predictions for all rows, to be filled in.
    pub(super) fn room(&self, sequences: &[Sequence]) -> Vec<SequencePrediction> {
        sequences
            .iter()
            .map(|sequence| SequencePrediction::zeros(sequence.len(), self.nets.channels()))
            .collect()
    }

    /// Copies the predictions for a batch into those of its sequences, in raw units.
    pub(super) fn write_batch(
        &self,
        predictions: &mut [SequencePrediction],
        batch: &Batch,
        prediction: &BatchPrediction,
    ) {
        write_batch(predictions, self.nets.generative.spec.likelihood, &self.scaling, batch, prediction);
    }

    /// The prediction for moments of the generative network's output.
    pub(super) fn prediction(&self, output: MomentTensors) -> BatchPrediction {
        to_prediction(&self.nets.generative.spec, &self.noise, output)
    }
}

/// Latent variables in the form in which the generative network reads them.
pub(super) fn decoder_input(
    PosteriorTensors { mean, var }: PosteriorTensors,
    feed: LatentFeed,
) -> MomentTensors {
    match feed {
        LatentFeed::Moments => MomentTensors { mean, var: Some(var) },
        LatentFeed::Mean => MomentTensors { mean, var: None },
        LatentFeed::Draws(_) => panic!("draws are made where they are averaged"),
    }
}
