//! Pooling over time on tensors, with gradients.
//!
//! The formulas are those of [`quaver::pooling`] for independent noise, ρ = 0; tests compare both. Mean, sum
//! and stochastic pooling are ordinary tensor operations; the maximum is one node, because its moments are
//! found one value after the other.

use std::ops::Range;

use burn::tensor::activation::softmax;
use burn::tensor::{Device, Tensor, TensorData};
use quaver::moments::{Dual, Scalar};
use quaver::pooling::larger;

use crate::config::PoolingName;
use crate::nn::host_node::{HostArray, HostFunction, Kept, apply2};
use crate::nn::net::MomentTensors;
use crate::nn::recurrence::Traces;

/// Added to the logits of steps that do not count.
const MASKED: f32 = -1e9;

/// Reduces moments [steps × lanes, components] over the steps in the span of every lane to [lanes,
/// components].
pub(super) fn pool(pooling: PoolingName, moments: MomentTensors, spans: &[Range<usize>]) -> MomentTensors {
    let lanes = spans.len();
    let [rows, components] = moments.mean.dims();
    let steps = rows / lanes.max(1);
    let device = moments.mean.device();
    let cube = |values: Tensor<2>| -> Tensor<3> { values.reshape([steps, lanes, components]) };
    let flat = |values: Tensor<3>| -> Tensor<2> { values.reshape([lanes, components]) };
    let weights = |weight: &dyn Fn(usize) -> f32| mask(steps, spans, weight, &device);
    match pooling {
        PoolingName::Mean | PoolingName::Sum => {
            let share = |length: usize| if pooling == PoolingName::Mean { 1.0 / length as f32 } else { 1.0 };
            let weight = weights(&share);
            let mean = flat((cube(moments.mean) * weight.clone()).sum_dim(0));
            let square = weight.clone() * weight;
            MomentTensors { mean, var: moments.var.map(|var| flat((cube(var) * square).sum_dim(0))) }
        }
        PoolingName::Max => maximum(moments, spans, components),
        PoolingName::Stochastic => {
            let counts = weights(&|_| 1.0);
            let masked = (counts - 1.0) * -MASKED;
            let (mean, var) = expectation(cube(moments.mean), moments.var.map(cube), masked);
            MomentTensors { mean: flat(mean), var: var.map(flat) }
        }
    }
}

/// `weight` of its length for the steps in the span of a lane, 0 for the others, [steps, lanes, 1].
fn mask(steps: usize, spans: &[Range<usize>], weight: &dyn Fn(usize) -> f32, device: &Device) -> Tensor<3> {
    let value = |step: usize| {
        spans.iter().map(move |span| if span.contains(&step) { weight(span.len()) } else { 0.0 })
    };
    let values: Vec<f32> = (0..steps).flat_map(value).collect();
    Tensor::from_data(TensorData::new(values, [steps, spans.len(), 1]), device)
}

/// Moments of Σ p_t a_t with p = softmax(m) over time; see [`quaver::pooling::SoftmaxAverage`].
fn expectation(mean: Tensor<3>, var: Option<Tensor<3>>, masked: Tensor<3>) -> (Tensor<3>, Option<Tensor<3>>) {
    let p = softmax(mean.clone() + masked, 0);
    let average = (p.clone() * mean.clone()).sum_dim(0);
    let Some(var) = var else { return (average, None) };
    let d = mean - average.clone() + 1.0;
    let bend = (p.clone() * -2.0 + 1.0) * d.clone() + 1.0;
    let shift = (var.clone() * p.clone() * bend).sum_dim(0) * 0.5;
    let slope = p * d;
    (average + shift, Some((slope.clone() * slope * var).sum_dim(0)))
}

fn maximum(moments: MomentTensors, spans: &[Range<usize>], components: usize) -> MomentTensors {
    let MomentTensors { mean, var } = moments;
    let lanes = spans.len();
    let certain = var.is_none();
    let var = var.unwrap_or_else(|| mean.zeros_like());
    let function = Maximum { spans: spans.to_vec(), components };
    let both: Tensor<3> = apply2(function, mean, var);
    let plane = |index: usize| -> Tensor<2> {
        both.clone().slice([index..index + 1, 0..lanes, 0..components]).reshape([lanes, components])
    };
    MomentTensors { mean: plane(0), var: (!certain).then(|| plane(1)) }
}

/// Mean and variance of the largest value over time, [2, lanes, components], of means and variances [steps,
/// lanes, components].
#[derive(Clone, Debug)]
struct Maximum {
    spans: Vec<Range<usize>>,
    components: usize,
}

impl Maximum {
    /// Values per step.
    fn width(&self) -> usize {
        self.spans.len() * self.components
    }

    /// First step of the component at `place` of a step, and the steps after it.
    fn steps(&self, place: usize) -> (usize, Range<usize>) {
        let Range { start, end } = self.spans[place / self.components];
        (start, start + 1..end)
    }
}

/// Derivatives of the moments of a maximum by those of one of the two values.
fn derivatives(own: [f32; 2], other: [f32; 2]) -> [[f32; 2]; 2] {
    let constant = |value: f32| Dual::constant(value.into());
    let own = [Dual::by_mean(own[0]), Dual::by_var(own[1])];
    let result: [Dual; 2] = larger(own, other.map(constant), constant(0.0));
    result.map(|moment| [moment.by_mean, moment.by_var])
}

impl HostFunction<2> for Maximum {
    /// The running maximum after every step: means, then variances.
    type Tape = [Vec<f32>; 2];

    fn forward(&self, [mean, var]: [&[f32]; 2], _keep: Traces) -> (HostArray, Self::Tape) {
        let width = self.width();
        let mut running = [mean.to_vec(), var.to_vec()];
        let mut values = vec![0.0; 2 * width];
        for place in 0..width {
            let (first, later) = self.steps(place);
            let mut state = [mean[first * width + place], var[first * width + place]];
            for index in later.map(|step| step * width + place) {
                state = larger(state, [mean[index], var[index]], 0.0);
                [running[0][index], running[1][index]] = state;
            }
            [values[place], values[width + place]] = state;
        }
        (HostArray { values, shape: vec![2, self.spans.len(), self.components] }, running)
    }

    fn backward(
        &self,
        [mean, var]: [&[f32]; 2],
        (_, running): Kept<'_, Self::Tape>,
        grad: &[f32],
    ) -> [Vec<f32>; 2] {
        let width = self.width();
        let mut by = [vec![0.0; mean.len()], vec![0.0; var.len()]];
        for place in 0..width {
            let mut above = [grad[place], grad[width + place]];
            let (first, later) = self.steps(place);
            for step in later.rev() {
                let (index, before) = (step * width + place, (step - 1) * width + place);
                let (state, value) = ([running[0][before], running[1][before]], [mean[index], var[index]]);
                let chain = |own: [f32; 2], other: [f32; 2]| {
                    let by_own = derivatives(own, other);
                    [0, 1].map(|input| above[0] * by_own[0][input] + above[1] * by_own[1][input])
                };
                // Of equal values, the earlier one is the largest.
                let (earlier, later) = (chain(state, value), chain(value, state));
                let tie = state[0] == value[0] && state[1] == 0.0 && value[1] == 0.0;
                [by[0][index], by[1][index]] = if tie { [0.0; 2] } else { later };
                above = if tie { above } else { earlier };
            }
            [by[0][first * width + place], by[1][first * width + place]] = above;
        }
        by
    }
}
