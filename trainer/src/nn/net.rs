//! The whole network on a batch: noise, affine maps, recurrences, outputs.

use burn::tensor::{Device, Tensor, TensorData};
use quaver::checkpoint::{LayerSpec, Likelihood, ModelSpec, MomentForm, OutputMode};
use quaver::moments::{self, Moments};

use super::host_node::{Array, HostFunction, apply3};
use super::linear;
use super::noise::NoiseLaw;
use super::parallel;
use super::parameters::Parameters;
use super::recurrence::{Gradients, Planes, Recurrence, Tape, Traces};
use super::tensors::{Affine, ParameterTensors, to_vec};
use crate::data::batch::Batch;

/// Means and variances of [steps × rows of the batch, channels]; without variances, all are zero.
#[derive(Clone, Debug)]
pub struct MomentTensors {
    /// Means.
    pub mean: Tensor<2>,
    /// Variances, unless all are zero.
    pub var: Option<Tensor<2>>,
}

/// What a network says of a batch, in standardised units, [steps, rows of the batch, outputs].
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// E[y]: for a Bernoulli likelihood the probability of a one.
    pub mean: Vec<f32>,
    /// V[y], what the network carries; the likelihood's own noise is not in it.
    pub var: Vec<f32>,
}

/// Predicts a batch without recording anything for gradients.
pub fn predict(spec: &ModelSpec, parameters: &Parameters, batch: &Batch) -> Prediction {
    let device = Device::flex();
    let tensors = ParameterTensors::new(spec, parameters, &device);
    let output = forward(spec, &tensors, batch, parallel::default_threads());
    let mean = to_vec(output.mean);
    let var = output.var.map_or_else(|| vec![0.0; mean.len()], to_vec);
    link(spec, Prediction { mean, var })
}

/// From the moments of the output map to those of y.
fn link(spec: &ModelSpec, mut output: Prediction) -> Prediction {
    let sigmoid = match (spec.likelihood, spec.moment_form) {
        (Likelihood::Gaussian, _) => return output,
        (Likelihood::Bernoulli, MomentForm::Accurate) => moments::sigmoid,
        (Likelihood::Bernoulli, MomentForm::Paper) => moments::paper::sigmoid,
    };
    for (mean, var) in output.mean.iter_mut().zip(&mut output.var) {
        Moments { mean: *mean, var: *var } = sigmoid(Moments { mean: *mean, var: *var });
    }
    output
}

/// Moments of the output map, before the likelihood, on the device of the parameters.
pub fn forward(
    spec: &ModelSpec,
    parameters: &ParameterTensors,
    batch: &Batch,
    threads: usize,
) -> MomentTensors {
    let device = parameters.output.bias.device();
    let mut state = inputs(batch, spec.inputs.into(), &device);
    for (layer, affine) in spec.layers.iter().zip(&parameters.layers) {
        state = layer_states(spec, layer, affine, state, batch, threads);
    }
    match spec.output.mode {
        OutputMode::Propagating => {
            map(state, spec.output.noise.into(), parameters.output.clone(), spec.output.variance_scale)
        }
        OutputMode::Plain => {
            let certain = MomentTensors { mean: state.mean, var: None };
            map(certain, NoiseLaw::SILENT, parameters.output.clone(), 1.0)
        }
    }
}

/// The states of one recurrent layer.
fn layer_states(
    spec: &ModelSpec,
    layer: &LayerSpec,
    affine: &Affine,
    input: MomentTensors,
    batch: &Batch,
    threads: usize,
) -> MomentTensors {
    let units = usize::from(layer.units);
    let [rows, columns] = affine.weight.dims();
    let from_input = affine.weight.clone().slice([0..rows, 0..columns - units]);
    let from_state = affine.weight.clone().slice([0..rows, columns - units..columns]);
    let input_affine = Affine { weight: from_input, bias: affine.bias.clone() };
    let pre = map(input, layer.input_noise.into(), input_affine, 1.0);
    let function = LayerFunction {
        recurrence: Recurrence {
            cell: layer.cell,
            units,
            noise: layer.recurrent_noise.into(),
            form: spec.moment_form,
            variance_scale: layer.variance_scale,
            threads,
        },
        lanes: batch.rows,
    };
    let pre_var = pre.var.unwrap_or_else(|| pre.mean.zeros_like());
    let steps_rows = batch.steps * batch.rows;
    let states: Tensor<3> = apply3(function, pre.mean, pre_var, from_state);
    let plane = |index: usize| {
        states.clone().slice([index..index + 1, 0..steps_rows, 0..units]).reshape([steps_rows, units])
    };
    MomentTensors { mean: plane(0), var: Some(plane(1)) }
}

fn inputs(batch: &Batch, channels: usize, device: &Device) -> MomentTensors {
    let tensor = |values: &[f32]| {
        Tensor::from_data(TensorData::new(values.to_vec(), [batch.steps * batch.rows, channels]), device)
    };
    let certain = batch.inputs_var.iter().all(|var| *var == 0.0);
    MomentTensors { mean: tensor(&batch.inputs_mean), var: (!certain).then(|| tensor(&batch.inputs_var)) }
}

/// Noise, then E[a] = Σ m̃ μ + b and V[a] = β Σ ṽ μ² (Bayer 2015, thesis, eqs. 17 and 18).
fn map(input: MomentTensors, noise: NoiseLaw, affine: Affine, variance_scale: f32) -> MomentTensors {
    let var = noisy_var(&input, noise).map(|var| {
        let square = affine.weight.clone() * affine.weight.clone();
        linear::product(var, square) * variance_scale
    });
    let mean = if noise.mean == 1.0 { input.mean } else { input.mean * noise.mean };
    MomentTensors { mean: linear::affine(mean, affine.weight, affine.bias), var }
}

/// ṽ = square·m² + var·v + constant, leaving out what is zero.
fn noisy_var(input: &MomentTensors, noise: NoiseLaw) -> Option<Tensor<2>> {
    let carried = input.var.clone().map(|var| if noise.var == 1.0 { var } else { var * noise.var });
    let made = (noise.square != 0.0).then(|| input.mean.clone() * input.mean.clone() * noise.square);
    let total = match (carried, made) {
        (Some(carried), Some(made)) => Some(carried + made),
        (carried, made) => carried.or(made),
    };
    match total {
        Some(total) if noise.constant != 0.0 => Some(total + noise.constant),
        None if noise.constant != 0.0 => Some(input.mean.zeros_like() + noise.constant),
        total => total,
    }
}

/// The recurrence of a layer as a function of both pre-activation moments and the recurrent weights.
#[derive(Clone, Debug)]
struct LayerFunction {
    recurrence: Recurrence,
    lanes: usize,
}

impl HostFunction<3> for LayerFunction {
    type Tape = Tape;

    fn forward(&self, [mean, var, weight]: [&[f32]; 3], keep: Traces) -> (Array, Tape) {
        let (values, tape) = self.recurrence.forward(Planes { mean, var }, weight, self.lanes, keep);
        let shape = vec![2, mean.len() / self.recurrence.rows(), self.recurrence.units];
        (Array { values, shape }, tape)
    }

    fn backward(
        &self,
        [_, _, weight]: [&[f32]; 3],
        value: &[f32],
        tape: &Tape,
        grad: &[f32],
    ) -> [Vec<f32>; 3] {
        let Gradients { pre: mut mean, weight } =
            self.recurrence.backward((value, tape), weight, grad, self.lanes);
        let var = mean.split_off(mean.len() / 2);
        [mean, var, weight]
    }
}
