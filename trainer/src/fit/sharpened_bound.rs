//! Evaluation of a sharpened posterior: a bound on the likelihood of sequences whose own gradients sharpen
//! it.

use burn::tensor::Device;
use quaver::checkpoint::ModelSpec;

use super::bayes_by_backprop::{WeightDraw, sample_weights};
use super::loss::{Loss, Mode, loss};
use super::step::{BatchContext, scalar};
use super::truncated_bptt::CarriedStates;
use super::weight_divergence::sharpening_divergence;
use super::{Architecture, RunState};
use crate::config::TrainingConfig;
use crate::data::Sequence;
use crate::data::batch::{self, Batch};
use crate::nn::recurrence::LayerState;
use crate::nn::tensors::ParameterTensors;
use crate::nn::{net, parallel};
use crate::random::{Purpose, stream};

/// An upper bound on −E_{q(φ)}[ln p(y | φ)] in nats per time step, with densities in standardised units
/// (Fortunato, Blundell and Vinyals 2017, eq. 17).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SharpenedBound {
    /// −ln p(y | θ) of weights drawn from the sharpened posterior.
    pub nll: f64,
    /// KL(q(θ | φ, (x, y)) ‖ p(θ | φ)), exact given φ.
    pub divergence: f64,
    /// Time steps that count.
    pub steps: usize,
}

/// The bound on some sequences, averaged over draws; nothing if all targets are masked or the posterior is
/// not sharpened. Windows and batches have the size of those in training, and states are carried from window
/// to window. `on_draw` is called after each draw.
pub fn sharpened_bound(
    state: &RunState,
    training: &TrainingConfig,
    sequences: &[Sequence],
    (seed, draws): (u64, usize),
    mut on_draw: impl FnMut(),
) -> Option<SharpenedBound> {
    state.parameters.method.posterior.sharpening()?;
    let (mut sums, mut steps) = ([0.0; 2], 0);
    for draw in 0..draws {
        for (terms, count) in windows(state, training, sequences, seed, draw as u64) {
            sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term * count as f64);
            steps += count;
        }
        on_draw();
    }
    let [nll, divergence] = sums.map(|sum| sum / steps as f64);
    (steps > 0).then_some(SharpenedBound { nll, divergence, steps: steps / draws })
}

/// Both terms of the bound in every window, in nats per time step, and its number of steps.
fn windows(
    state: &RunState,
    training: &TrainingConfig,
    sequences: &[Sequence],
    seed: u64,
    draw: u64,
) -> Vec<([f64; 2], usize)> {
    let longest = sequences.iter().map(Sequence::len).max().unwrap_or(0).max(1);
    let chunk = if training.chunk == 0 { longest } else { training.chunk };
    let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: draw });
    let units = state.spec.carried_units();
    let mut carried = CarriedStates::default();
    let mut found = Vec::new();
    for mut batch in batch::carried(sequences, &state.scaling, chunk, training.batch, &mut rng) {
        mask_burn_in(&mut batch, sequences, state.spec.outputs.into());
        let start = carried.start(&units, &batch);
        let draw = WeightDraw::new(&state.parameters, &mut rng);
        let Some((terms, steps, states)) = window(state, &batch, &start, &draw) else {
            // Nothing to be sharpened by: the state starts again, as after any gap.
            carried = CarriedStates::default();
            continue;
        };
        found.push((terms, steps));
        carried = CarriedStates::after(&batch, states);
    }
    found
}

type Window = ([f64; 2], usize, Vec<LayerState>);

fn window(state: &RunState, batch: &Batch, start: &[LayerState], draw: &WeightDraw) -> Option<Window> {
    let RunState { spec, parameters, .. } = state;
    let spec: &ModelSpec = spec;
    let context = BatchContext { divergence_share: None, start: Some(start) };
    let sample = sample_weights(spec, parameters, batch, context, draw)?;
    let tensors = ParameterTensors::drawn(spec, parameters, &sample, &Device::flex());
    let pass = net::forward_from(spec, &tensors, batch, parallel::default_threads(), Some(start));
    let Loss { value, steps } = loss(spec, &tensors, pass.output, batch, Mode::Eval)?;
    let divergence = sharpening_divergence(tensors.posteriors.as_ref()?)?;
    Some(([scalar(value), scalar(divergence) / steps as f64], steps, pass.states))
}

/// Masks the targets of rows that are read only.
fn mask_burn_in(batch: &mut Batch, sequences: &[Sequence], outputs: usize) {
    for (row, chunk) in batch.chunks.iter().enumerate() {
        let first = sequences[chunk.sequence].burn_in.saturating_sub(chunk.start).min(chunk.len);
        for step in 0..first {
            batch.mask[(step * batch.rows + row) * outputs..][..outputs].fill(0.0);
        }
    }
}
