//! One batch: its loss, and the gradient of its loss.

use burn::tensor::Device;
use quaver::checkpoint::ModelSpec;

use super::loss::{Loss, loss};
use crate::data::batch::Batch;
use crate::nn::tensors::{ParameterTensors, to_vec};
use crate::nn::{Parameters, net, parallel};

/// Loss and gradient of a batch.
#[derive(Clone, Debug, PartialEq)]
pub struct Slope {
    /// Nats per time step.
    pub nll: f64,
    /// Time steps that count.
    pub steps: usize,
    /// Derivatives by the parameters, in their order.
    pub gradients: Vec<Vec<f32>>,
}

/// Loss and gradient of a batch, or nothing if no target of it counts.
pub fn slope(spec: &ModelSpec, parameters: &Parameters, batch: &Batch) -> Option<Slope> {
    let tensors = ParameterTensors::new(spec, parameters, &Device::flex().autodiff());
    let Loss { value, steps } = batch_loss(spec, &tensors, batch)?;
    let gradients = tensors.gradients(&value.backward());
    Some(Slope { nll: scalar(value), steps, gradients })
}

/// Mean loss of several batches in nats per time step, or nothing if no target counts.
pub fn evaluate(
    spec: &ModelSpec,
    parameters: &Parameters,
    batches: impl Iterator<Item = Batch>,
) -> Option<f64> {
    let tensors = ParameterTensors::new(spec, parameters, &Device::flex());
    let mut mean = RunningMean::default();
    for Loss { value, steps } in batches.filter_map(|batch| batch_loss(spec, &tensors, &batch)) {
        mean.add(scalar(value), steps);
    }
    mean.value()
}

fn batch_loss(spec: &ModelSpec, tensors: &ParameterTensors, batch: &Batch) -> Option<Loss> {
    let output = net::forward(spec, tensors, batch, parallel::default_threads());
    loss(spec, output, tensors.log_noise.clone(), batch)
}

fn scalar(value: burn::tensor::Tensor<1>) -> f64 {
    to_vec(value).first().copied().map_or(f64::NAN, f64::from)
}

/// A mean over time steps that come in batches.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RunningMean {
    sum: f64,
    count: usize,
}

impl RunningMean {
    /// Takes in `count` values with this mean.
    pub(super) fn add(&mut self, mean: f64, count: usize) {
        self.sum += mean * count as f64;
        self.count += count;
    }

    /// The mean so far, if there is anything to take it of.
    pub(super) fn value(self) -> Option<f64> {
        (self.count > 0).then(|| self.sum / self.count as f64)
    }
}
