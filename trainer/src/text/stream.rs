//! Passes over streams of tokens without gradients, with carried state.

use burn::tensor::Device;

use super::model::{TokenModel, batch_tokens};
use crate::data::batch::{self, Batch};
use crate::data::{Scaler, Scaling, Sequence};
use crate::fit::Architecture;
use crate::fit::architecture::STREAM_WINDOW;
use crate::fit::class_loss::class_loss;
use crate::fit::loss::Loss;
use crate::fit::step::{RunningMean, scalar};
use crate::fit::truncated_bptt::CarriedStates;
use crate::nn::net::{ForwardOptions, MomentTensors};
use crate::nn::token_net::TokenTensors;
use crate::nn::{Parameters, parallel};

/// Mean negative log-likelihood of batches that follow one another, in nats per token; nothing if there is
/// none.
pub fn mean_nll(
    model: &TokenModel,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
) -> Option<f64> {
    let mut mean = RunningMean::default();
    for_each_batch(model, parameters, batches, |tensors, hidden, batch| {
        let [_, targets] = batch_tokens(batch);
        if let Some(Loss { value, steps }) = class_loss(&model.network, &tensors.network, hidden, &targets) {
            mean.add(scalar(value), steps);
        }
    });
    mean.value()
}

/// Mean negative log-likelihood of whole streams with carried state, in nats per token.
pub fn token_nlls(model: &TokenModel, parameters: &Parameters, streams: &[Sequence]) -> Option<f64> {
    mean_nll(model, parameters, batch::lanes(streams, &token_scaling(), STREAM_WINDOW, 1))
}

/// The scaling of tokens, which are not standardised.
pub(super) fn token_scaling() -> Scaling {
    Scaling { inputs: Scaler::identity(1), targets: Scaler::identity(1), density: None, linear: None }
}

/// Calls `each` with the states of the last layer on every batch.
fn for_each_batch(
    model: &TokenModel,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
    mut each: impl FnMut(&TokenTensors, MomentTensors, &Batch),
) {
    let tensors = TokenTensors::new(&model.network, parameters, &Device::flex());
    let (units, threads) = (model.carried_units(), parallel::default_threads());
    let mut carried = CarriedStates::default();
    for batch in batches {
        let [inputs, _] = batch_tokens(&batch);
        let start = carried.start(&units, &batch);
        let options = ForwardOptions { lanes: batch.rows, threads, start: Some(&start) };
        let (hidden, states) = tensors.forward(&model.network, &inputs, options);
        carried = CarriedStates::after(&batch, states);
        each(&tensors, hidden, &batch);
    }
}
