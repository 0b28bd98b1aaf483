//! Evaluation of a sharpened posterior: a bound on the likelihood of sequences whose own gradients sharpen
//! it.

use burn::tensor::Device;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::bayes_by_backprop::{WeightDraw, draw_network};
use super::loss::{Loss, Mode, loss};
use super::step::{BatchContext, RunningMean, loss_and_gradient_with, scalar};
use super::truncated_bptt::CarriedStates;
use super::{Architecture, RunState};
use crate::config::TrainingConfig;
use crate::data::Sequence;
use crate::data::batch::{self, Batch};
use crate::nn::recurrence::LayerState;
use crate::nn::tensors::ParameterTensors;
use crate::nn::{Parameters, net, parallel};
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
/// not sharpened. `options` are the seed and the number of draws. Windows and batches have the size of those
/// in training, and states are carried from window to window. `on_draw` is called after each draw.
pub fn sharpened_bound(
    state: &RunState,
    training: &TrainingConfig,
    sequences: &[Sequence],
    options: (u64, usize),
    on_draw: impl FnMut(),
) -> Option<SharpenedBound> {
    state.parameters.method.posterior.sharpening()?;
    let longest = sequences.iter().map(Sequence::len).max().unwrap_or(0).max(1);
    let chunk = if training.chunk == 0 { longest } else { training.chunk };
    let batches = |rng: &mut _| {
        let masked = |mut batch: Batch| {
            mask_burn_in(&mut batch, sequences, state.spec.outputs.into());
            batch
        };
        batch::carried(sequences, &state.scaling, chunk, training.batch, rng).map(masked)
    };
    let window = |batch: &Batch, start: &[LayerState], draw: &WeightDraw| window(state, batch, start, draw);
    average_of_windows(&state.parameters, &state.spec.carried_units(), options, batches, window, on_draw)
}

/// Both terms of the bound in one window, in nats per time step.
pub(crate) struct SharpenedWindow {
    pub(crate) nll: f64,
    pub(crate) divergence: f64,
    /// Time steps that count.
    pub(crate) steps: usize,
    pub(crate) states: Vec<LayerState>,
}

/// The bound by its value in every window of a pass, given the batch, the states at its start and a draw;
/// averaged over windows and draws.
pub(crate) fn average_of_windows<B: Iterator<Item = Batch>>(
    parameters: &Parameters,
    units: &[usize],
    (seed, draws): (u64, usize),
    batches: impl Fn(&mut Xoshiro256PlusPlus) -> B,
    window: impl Fn(&Batch, &[LayerState], &WeightDraw) -> Option<SharpenedWindow>,
    mut on_draw: impl FnMut(),
) -> Option<SharpenedBound> {
    let (mut nll, mut divergence) = (RunningMean::default(), RunningMean::default());
    let mut steps = 0;
    for draw in 0..draws as u64 {
        let mut rng = stream(seed, Purpose::Draws { epoch: 0, batch: draw });
        let mut carried = CarriedStates::default();
        for batch in batches(&mut rng) {
            let start = carried.start(units, &batch);
            let Some(found) = window(&batch, &start, &WeightDraw::new(parameters, &mut rng)) else {
                // Nothing to be sharpened by: the state starts again, as after any gap.
                carried = CarriedStates::default();
                continue;
            };
            nll.add(found.nll, found.steps);
            divergence.add(found.divergence, found.steps);
            steps += found.steps;
            carried = CarriedStates::after(&batch, found.states);
        }
        on_draw();
    }
    Some(SharpenedBound { nll: nll.value()?, divergence: divergence.value()?, steps: steps / draws })
}

fn window(
    RunState { spec, parameters, .. }: &RunState,
    batch: &Batch,
    start: &[LayerState],
    draw: &WeightDraw,
) -> Option<SharpenedWindow> {
    let context = BatchContext { divergence_share: None, start: Some(start) };
    let drawn =
        draw_network(parameters, draw, |points| loss_and_gradient_with(spec, points, batch, context))?;
    let tensors = ParameterTensors::new(spec, &drawn.points(), &Device::flex());
    let pass = net::forward_from(spec, &tensors, batch, parallel::default_threads(), Some(start));
    let Loss { value, steps } = loss(spec, &tensors, pass.output, batch, Mode::Eval)?;
    let divergence = drawn.sharpening_divergence() / steps as f64;
    Some(SharpenedWindow { nll: scalar(value), divergence, steps, states: pass.states })
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
