//! Scores of every token of a stream, by one network or by the mixture of several.

use burn::tensor::Device;

use super::model::{TokenModel, batch_tokens};
use super::stream::token_scaling;
use crate::data::Sequence;
use crate::data::batch::{self, Batch};
use crate::fit::Architecture;
use crate::fit::architecture::STREAM_WINDOW;
use crate::fit::likelihood::class_nll;
use crate::fit::truncated_bptt::CarriedStates;
use crate::nn::net::{ForwardOptions, output_map, to_prediction};
use crate::nn::tensors::{PosteriorLeaves, to_vec};
use crate::nn::token_net::TokenTensors;
use crate::nn::weight_sample::draw_noise;
use crate::nn::{Parameters, parallel};
use crate::prediction::{StepScore, class_entropy};
use crate::random::{Purpose, stream};

/// Networks with weights drawn from their posterior, each once; nothing if weights are points. Noise on units
/// is propagated in each of them.
pub fn drawn_networks(parameters: &Parameters, seed: u64, draws: usize) -> Option<Vec<Parameters>> {
    let leaves = PosteriorLeaves::new(parameters, &Device::flex())?;
    let lists: Vec<[Vec<f32>; 2]> = leaves
        .posteriors
        .weights
        .iter()
        .map(|(_, posterior)| [to_vec(posterior.mean()), to_vec(posterior.var().sqrt())])
        .collect();
    let network = |draw: usize| {
        let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: draw as u64 });
        let drawn = lists.iter().zip(draw_noise(parameters, &mut rng)).map(|([means, std_devs], noise)| {
            let terms = means.iter().zip(std_devs).zip(noise);
            terms.map(|((mean, std_dev), noise)| mean + std_dev * noise).collect()
        });
        parameters.with_point_weights(drawn)
    };
    Some((0..draws).map(network).collect())
}

/// Entropy and NLL of every prediction, stream by stream, of the mixture (1/S) Σ_s p(y | network s).
/// `progress` is called with the number of tokens done.
pub fn token_scores(
    model: &TokenModel,
    networks: &[Parameters],
    streams: &[Sequence],
    mut progress: impl FnMut(usize),
) -> Vec<Vec<StepScore>> {
    let tensors: Vec<TokenTensors> =
        networks.iter().map(|network| TokenTensors::new(&model.network, network, &Device::flex())).collect();
    let scaling = token_scaling();
    let mut done = 0;
    let mut scored = |stream: &Sequence| {
        let mut readers: Vec<Reader<'_>> = tensors
            .iter()
            .map(|tensors| Reader { model, tensors, carried: CarriedStates::default() })
            .collect();
        let mut scores = Vec::with_capacity(stream.len());
        for batch in batch::lanes(std::slice::from_ref(stream), &scaling, STREAM_WINDOW, 1) {
            scores.extend(window_scores(&mut readers, &batch));
            done += batch.steps;
            progress(done);
        }
        scores
    };
    streams.iter().map(&mut scored).collect()
}

/// A network with the state that it has reached.
struct Reader<'a> {
    model: &'a TokenModel,
    tensors: &'a TokenTensors,
    carried: CarriedStates,
}

impl Reader<'_> {
    /// Probability of every token at every step of a batch, [steps, tokens].
    fn probabilities(&mut self, batch: &Batch) -> Vec<f32> {
        let (network, [inputs, _]) = (&self.model.network, batch_tokens(batch));
        let start = self.carried.start(&self.model.carried_units(), batch);
        let options =
            ForwardOptions { lanes: batch.rows, threads: parallel::default_threads(), start: Some(&start) };
        let (hidden, states) = self.tensors.forward(network, &inputs, options);
        self.carried = CarriedStates::after(batch, states);
        to_prediction(network, &[], output_map(network, &self.tensors.network, hidden)).mean
    }
}

/// Scores of the mixture on the next steps of one lane.
fn window_scores(readers: &mut [Reader<'_>], batch: &Batch) -> Vec<StepScore> {
    let [_, targets] = batch_tokens(batch);
    let mut mixture: Vec<f32> = Vec::new();
    for reader in &mut *readers {
        let own = reader.probabilities(batch);
        if mixture.is_empty() {
            mixture = own;
        } else {
            mixture.iter_mut().zip(own).for_each(|(sum, p)| *sum += p);
        }
    }
    let share = 1.0 / readers.len() as f32;
    mixture.iter_mut().for_each(|p| *p *= share);
    let tokens = mixture.len() / targets.len().max(1);
    let steps = mixture.chunks_exact(tokens.max(1)).zip(targets.iter());
    let score = |(p, target): (&[f32], &u32)| StepScore {
        entropy: class_entropy(p),
        nll: class_nll(p[*target as usize], 1.0),
    };
    steps.map(score).collect()
}
