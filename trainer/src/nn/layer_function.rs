//! The recurrence of a layer as a node of the autodiff graph.

use super::host_node::{HostArray, HostFunction};
use super::noise_coefficients::NoiseCoefficients;
use super::recurrence::{
    Gradients, LayerInput, LayerState, LayerTape, MomentSlices, Recurrence, RecurrentWeights, Traces,
};

/// A layer as a function of both pre-activation moments, the recurrent weights and the coefficients of noise and scale.
///
/// Weights are [rows, units], or [2 · rows, units] with the means first and the variances second. The value is
/// [2, steps · lanes, units]; if states are carried over, what units keep besides their state follows behind the
/// last step, and no gradient comes back from there.
#[derive(Clone, Debug)]
pub(super) struct RecurrentFunction {
    pub(super) recurrence: Recurrence,
    pub(super) lanes: usize,
    pub(super) start: Option<LayerState>,
}

/// A layer without recurrence, as a function of both pre-activation moments and the same coefficients.
#[derive(Clone, Debug)]
pub(super) struct DenseFunction(pub(super) Recurrence);

/// A layer with its noise and its scale.
fn filled(layer: Recurrence, coefficients: &[f32]) -> Recurrence {
    let [mean, square, var, constant, variance_scale] =
        *coefficients.first_chunk().expect("four coefficients of the noise and one scale");
    Recurrence { noise: NoiseCoefficients { mean, square, var, constant }, variance_scale, ..layer }
}

impl RecurrentFunction {
    fn input<'a>(&'a self, mean: &'a [f32], var: &'a [f32], weights: &'a [f32]) -> LayerInput<'a> {
        let (weight, weight_var) = weights.split_at(self.recurrence.rows() * self.recurrence.units);
        let weights = RecurrentWeights { mean: weight, var: (!weight_var.is_empty()).then_some(weight_var) };
        LayerInput { pre: MomentSlices { mean, var }, weights, lanes: self.lanes, start: self.start.as_ref() }
    }
}

impl HostFunction<4> for RecurrentFunction {
    type Tape = LayerTape;

    fn forward(
        &self,
        [mean, var, weights, coefficients]: [&[f32]; 4],
        keep: Traces,
    ) -> (HostArray, LayerTape) {
        let layer = filled(self.recurrence, coefficients);
        let (mut values, tape) = layer.forward(self.input(mean, var, weights), keep);
        if self.start.is_some() {
            values = interleave(&values, &tape.memory);
        }
        let shape = vec![2, values.len() / (2 * layer.units), layer.units];
        (HostArray { values, shape }, tape)
    }

    fn backward(
        &self,
        [mean, var, weights, coefficients]: [&[f32]; 4],
        value: &[f32],
        tape: &LayerTape,
        grad: &[f32],
    ) -> [Vec<f32>; 4] {
        let layer = filled(self.recurrence, coefficients);
        let input = self.input(mean, var, weights);
        let gradients = if self.start.is_some() {
            let (value, grad) = (without_memory(value, tape), without_memory(grad, tape));
            layer.backward(input, (&value, tape), &grad)
        } else {
            layer.backward(input, (value, tape), grad)
        };
        let Gradients { pre: mut mean, weight, weight_var, coefficients } = gradients;
        let var = mean.split_off(mean.len() / 2);
        [mean, var, [weight, weight_var].concat(), coefficients.to_vec()]
    }
}

/// Two planes of states, each with its plane of memory behind it.
fn interleave(states: &[f32], memory: &[f32]) -> Vec<f32> {
    let (states, memory) = (MomentSlices::halves(states), MomentSlices::halves(memory));
    [states.mean, memory.mean, states.var, memory.var].concat()
}

/// The two planes without the memory behind each.
fn without_memory(values: &[f32], tape: &LayerTape) -> Vec<f32> {
    let MomentSlices { mean, var } = MomentSlices::halves(values);
    let count = mean.len() - tape.memory.len() / 2;
    [&mean[..count], &var[..count]].concat()
}

impl DenseFunction {
    /// All steps of all sequences side by side, since none waits for another.
    fn input<'a>(&self, mean: &'a [f32], var: &'a [f32]) -> LayerInput<'a> {
        let weights = RecurrentWeights { mean: &[], var: None };
        LayerInput {
            pre: MomentSlices { mean, var },
            weights,
            lanes: mean.len() / self.0.rows(),
            start: None,
        }
    }
}

impl HostFunction<3> for DenseFunction {
    type Tape = LayerTape;

    fn forward(&self, [mean, var, coefficients]: [&[f32]; 3], keep: Traces) -> (HostArray, LayerTape) {
        let layer = filled(self.0, coefficients);
        let (values, tape) = layer.forward(self.input(mean, var), keep);
        let shape = vec![2, mean.len() / layer.rows(), layer.units];
        (HostArray { values, shape }, tape)
    }

    fn backward(
        &self,
        [mean, var, coefficients]: [&[f32]; 3],
        value: &[f32],
        tape: &LayerTape,
        grad: &[f32],
    ) -> [Vec<f32>; 3] {
        let layer = filled(self.0, coefficients);
        let gradients = layer.backward(self.input(mean, var), (value, tape), grad);
        let Gradients { pre: mut mean, coefficients, .. } = gradients;
        let var = mean.split_off(mean.len() / 2);
        [mean, var, coefficients.to_vec()]
    }
}
