//! The loss and gradient of one batch.

use burn::tensor::{Device, Tensor};
use quaver::checkpoint::ModelSpec;

use super::loss::{Loss, Mode, loss};
use super::weight_divergence::divergence;
use crate::data::batch::Batch;
use crate::nn::recurrence::LayerState;
use crate::nn::tensors::{ParameterTensors, to_vec};
use crate::nn::{Parameters, net, parallel};

/// Loss and gradient of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct LossAndGradient {
    /// Negative log-likelihood in nats per time step.
    pub nll: f64,
    /// The share of this batch's steps in the divergence of the weights from their prior, in nats per time
    /// step, and the divergence of a posterior that the batch has sharpened; 0 for point weights.
    pub divergence: f64,
    /// Time steps that count.
    pub steps: usize,
    /// Derivatives of the sum of both with respect to the parameters, in their order.
    pub gradients: Vec<Vec<f32>>,
    /// Final state of each layer; empty unless states are carried.
    pub states: Vec<LayerState>,
}

/// Settings of a batch.
#[derive(Clone, Copy, Debug, Default)]
pub struct BatchContext<'a> {
    /// Weight of the divergence of the weights in the loss of one time step. The divergence counts once
    /// against the likelihood of all N steps of the training data, so its weight in a mean over steps is 1/N
    /// (Bayer 2015, thesis, 2.6.2). A batch of n steps then bears n/N of it. That is 1/(BC) for B
    /// minibatches of C windows of equal length, and sums to one over an epoch whatever their lengths
    /// (Fortunato, Blundell and Vinyals 2017, eq. 5). None omits it.
    pub divergence_share: Option<f32>,
    /// Initial state of each layer; zero if not given.
    pub start: Option<&'a [LayerState]>,
}

/// Loss and gradient of a single batch; nothing if all targets are masked.
pub fn loss_and_gradient(
    spec: &ModelSpec,
    parameters: &Parameters,
    batch: &Batch,
) -> Option<LossAndGradient> {
    loss_and_gradient_with(spec, parameters, batch, BatchContext::default())
}

/// Loss and gradient of a batch; nothing if all targets are masked.
pub fn loss_and_gradient_with(
    spec: &ModelSpec,
    parameters: &Parameters,
    batch: &Batch,
    context: BatchContext<'_>,
) -> Option<LossAndGradient> {
    let tensors = ParameterTensors::new(spec, parameters, &Device::flex().autodiff());
    differentiate(spec, &tensors, batch, context)
}

/// Loss and gradient of a batch by parameters on a device with autodiff; nothing if all targets are masked.
fn differentiate(
    spec: &ModelSpec,
    tensors: &ParameterTensors,
    batch: &Batch,
    context: BatchContext<'_>,
) -> Option<LossAndGradient> {
    let pass = net::forward_from(spec, tensors, batch, parallel::default_threads(), context.start);
    let Loss { value: nll, steps } = loss(spec, tensors, pass.output, batch, Mode::Train)?;
    let penalty = penalty(tensors, context);
    let objective = match &penalty {
        Some(penalty) => nll.clone() + penalty.clone(),
        None => nll.clone(),
    };
    Some(LossAndGradient {
        gradients: tensors.gradients(&mut objective.backward()),
        nll: scalar(nll),
        divergence: penalty.map_or(0.0, scalar),
        steps,
        states: pass.states,
    })
}

/// What the divergence of the weights adds to the loss of one time step, if there is any.
pub(crate) fn penalty(tensors: &ParameterTensors, context: BatchContext<'_>) -> Option<Tensor<1>> {
    Some(divergence(tensors.posteriors.as_ref()?)? * context.divergence_share?)
}

/// Mean loss of several batches in nats per time step; nothing if all targets are masked.
pub fn evaluate(
    spec: &ModelSpec,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
) -> Option<f64> {
    let tensors = ParameterTensors::new(spec, parameters, &Device::flex());
    let mut mean = RunningMean::default();
    for batch in batches {
        let output = net::forward(spec, &tensors, &batch, parallel::default_threads());
        if let Some(Loss { value, steps }) = loss(spec, &tensors, output, &batch, Mode::Eval) {
            mean.add(scalar(value), steps);
        }
    }
    mean.value()
}

pub(crate) fn scalar(value: Tensor<1>) -> f64 {
    to_vec(value).first().copied().map_or(f64::NAN, f64::from)
}

/// A mean over time steps that come in batches.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunningMean {
    sum: f64,
    count: usize,
}

impl RunningMean {
    /// Adds `count` values with this mean.
    pub(crate) fn add(&mut self, mean: f64, count: usize) {
        self.sum += mean * count as f64;
        self.count += count;
    }

    /// The mean so far, if there are any values.
    pub(crate) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
