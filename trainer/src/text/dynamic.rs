//! Dynamic evaluation of models of text.

use super::model::TokenModel;
use super::stream::token_scaling;
use crate::data::Sequence;
use crate::data::batch;
use crate::fit::dynamic::{DynamicOptions, learn};
use crate::fit::step::RunningMean;
use crate::fit::truncated_bptt::CarriedStates;
use crate::fit::{Architecture, BatchContext};
use crate::nn::Parameters;

/// The mean NLL of a network that learns from each window after it has predicted it, in nats per token, and
/// the number of updates; nothing if there are no tokens. Like
/// [`predict_dynamically`](crate::fit::predict_dynamically): state carries over from window to window, and
/// the NLL of a window is that of the network before the update. `progress` is called with the number of
/// tokens done.
pub fn dynamic_nll(
    model: &TokenModel,
    parameters: &Parameters,
    streams: &[Sequence],
    options: DynamicOptions,
    mut progress: impl FnMut(usize),
) -> Option<(f64, usize)> {
    let mut parameters = parameters.clone();
    let (units, scaling) = (model.carried_units(), token_scaling());
    let (mut mean, mut updates, mut done) = (RunningMean::default(), 0, 0);
    let mut carried = CarriedStates::default();
    for batch in batch::lanes(streams, &scaling, options.window, 1) {
        let start = carried.start(&units, &batch);
        let context = BatchContext { divergence_share: None, start: Some(&start) };
        if let Some(found) = model.differentiate(&parameters, &batch, context) {
            mean.add(found.nll, found.steps);
            carried = CarriedStates::after(&batch, found.states);
            updates += usize::from(learn(&mut parameters, &found.gradients, options));
        }
        done += batch.steps;
        progress(done);
    }
    mean.value().map(|nll| (nll, updates))
}
