//! The bound of a sharpened posterior on text.

use burn::tensor::Device;

use super::model::{TokenModel, batch_tokens};
use crate::config::TrainingConfig;
use crate::data::Sequence;
use crate::data::batch::{self, Batch};
use crate::fit::bayes_by_backprop::{WeightDraw, draw_network};
use crate::fit::class_loss::class_loss;
use crate::fit::loss::Loss;
use crate::fit::sharpened_bound::{SharpenedWindow, average_of_windows};
use crate::fit::step::scalar;
use crate::fit::{Architecture, BatchContext, RunState, SharpenedBound};
use crate::nn::net::ForwardOptions;
use crate::nn::parallel;
use crate::nn::recurrence::LayerState;
use crate::nn::token_net::TokenTensors;

/// The bound on streams, in lanes and windows as in training, averaged over draws; nothing if there are no
/// tokens or the posterior is not sharpened (see [`crate::fit::sharpened_bound`]).
pub fn sharpened_token_bound(
    state: &RunState<TokenModel>,
    training: &TrainingConfig,
    streams: &[Sequence],
    options: (u64, usize),
    on_draw: impl FnMut(),
) -> Option<SharpenedBound> {
    state.parameters.method.posterior.sharpening()?;
    let batches = |_: &mut _| batch::lanes(streams, &state.scaling, training.chunk, training.batch);
    let window = |batch: &Batch, start: &[LayerState], draw: &WeightDraw| window(state, batch, start, draw);
    average_of_windows(&state.parameters, &state.spec.carried_units(), options, batches, window, on_draw)
}

fn window(
    RunState { spec: model, parameters, .. }: &RunState<TokenModel>,
    batch: &Batch,
    start: &[LayerState],
    draw: &WeightDraw,
) -> Option<SharpenedWindow> {
    let context = BatchContext { divergence_share: None, start: Some(start) };
    let drawn = draw_network(parameters, draw, |points| model.differentiate(points, batch, context))?;
    let tensors = TokenTensors::new(&model.network, &drawn.points(), &Device::flex());
    let [inputs, targets] = batch_tokens(batch);
    let options =
        ForwardOptions { lanes: batch.rows, threads: parallel::default_threads(), start: Some(start) };
    let (hidden, states) = tensors.forward(&model.network, &inputs, options);
    let Loss { value, steps } = class_loss(&model.network, &tensors.network, hidden, &targets)?;
    let divergence = drawn.sharpening_divergence() / steps as f64;
    Some(SharpenedWindow { nll: scalar(value), divergence, steps, states })
}
