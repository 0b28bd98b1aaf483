//! The recurrence of a layer as a node of the autodiff graph.

use super::host_node::{HostArray, HostFunction, Kept};
use super::recurrence::{
    Gradients, LayerInput, LayerState, LayerTape, MomentSlices, Recurrence, RecurrentWeights, Traces,
};
use quaver::noise::NoiseCoefficients;

/// A layer as a function of its pre-activation moments, its recurrent weights, and the coefficients of noise
/// and scale.
///
/// Weights are [rows, units], with biases of the state's share as one more row if there are any, or twice
/// that with the means first and the variances second. The value is [2, steps · lanes, units]; if states are
/// carried over, what units keep besides their state follows behind the last step, and no gradient comes back
/// from there.
#[derive(Clone, Debug)]
pub(super) struct RecurrentFunction {
    pub(super) recurrence: Recurrence,
    pub(super) lanes: usize,
    pub(super) start: Option<LayerState>,
}

/// A layer without recurrence, as a function of its pre-activation moments and the same coefficients.
#[derive(Clone, Debug)]
pub(super) struct DenseFunction(pub(super) Recurrence);

/// The layer with its noise and its scale.
fn filled(layer: Recurrence, coefficients: &[f32]) -> Recurrence {
    let [mean, square, var, constant, variance_scale] =
        *coefficients.first_chunk().expect("four coefficients of the noise and one scale");
    Recurrence { noise: NoiseCoefficients { mean, square, var, constant }, variance_scale, ..layer }
}

impl RecurrentFunction {
    fn input<'a>(&'a self, mean: &'a [f32], var: &'a [f32], weights: &'a [f32]) -> LayerInput<'a> {
        let (rows, units) = (self.recurrence.rows(), self.recurrence.units);
        let (means, vars) = weights.split_at(rows * units + self.recurrence.state_biases());
        let (weight, bias) = means.split_at(rows * units);
        let vars = (!vars.is_empty()).then(|| vars.split_at(rows * units));
        let weights = RecurrentWeights {
            mean: weight,
            var: vars.map(|vars| vars.0),
            bias,
            bias_var: vars.map(|vars| vars.1),
        };
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
        (value, tape): Kept<'_, LayerTape>,
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
        let Gradients { pre: mut mean, weight, weight_var, bias, bias_var, coefficients } = gradients;
        let var = mean.split_off(mean.len() / 2);
        [mean, var, [weight, bias, weight_var, bias_var].concat(), coefficients.to_vec()]
    }
}

/// Means and variances of the states, each followed by those of the memory.
fn interleave(states: &[f32], memory: &[f32]) -> Vec<f32> {
    let (states, memory) = (MomentSlices::halves(states), MomentSlices::halves(memory));
    [states.mean, memory.mean, states.var, memory.var].concat()
}

/// Means and variances of the states without the memory that follows each.
fn without_memory(values: &[f32], tape: &LayerTape) -> Vec<f32> {
    let MomentSlices { mean, var } = MomentSlices::halves(values);
    let count = mean.len() - tape.memory.len() / 2;
    [&mean[..count], &var[..count]].concat()
}

impl DenseFunction {
    /// All steps of all sequences as lanes, since they are independent.
    fn input<'a>(&self, mean: &'a [f32], var: &'a [f32]) -> LayerInput<'a> {
        LayerInput {
            pre: MomentSlices { mean, var },
            weights: RecurrentWeights::default(),
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

    fn backward(&self, inputs: [&[f32]; 3], kept: Kept<'_, LayerTape>, grad: &[f32]) -> [Vec<f32>; 3] {
        let [mean, var, coefficients] = inputs;
        let gradients = filled(self.0, coefficients).backward(self.input(mean, var), kept, grad);
        let Gradients { pre: mut mean, coefficients, .. } = gradients;
        let var = mean.split_off(mean.len() / 2);
        [mean, var, coefficients.to_vec()]
    }
}
