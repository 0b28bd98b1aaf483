//! Gradients for the recurrent weights, summed over all steps in a few large products.

use super::connection::add_noise;
use super::unroll::PreGradients;
use super::{LayerInput, LayerState, MomentSlices, MomentSlicesMut, Recurrence, RecurrentWeights};
use crate::nn::parallel;
use crate::nn::product::{Packed, Strided, add_product};

/// Rows of the weight gradient that one task computes.
const GRADIENT_ROWS: usize = 16;

/// Gradients of one layer's recurrence.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// For the input's contribution to the pre-activations, [2, steps, lanes, rows], means then variances.
    pub pre: Vec<f32>,
    /// For the means of the recurrent weights, [rows, units].
    pub weight: Vec<f32>,
    /// For their variances; empty if there are none.
    pub weight_var: Vec<f32>,
    /// For the means of the biases of the state's share; empty if there are none.
    pub bias: Vec<f32>,
    /// For their variances; empty if they have none.
    pub bias_var: Vec<f32>,
    /// For the four coefficients of the noise and for β; zero unless they are needed.
    pub coefficients: [f32; 5],
}

impl Recurrence {
    /// Completes the gradients, given those for the pre-activations.
    pub(super) fn gradients(
        &self,
        input: LayerInput<'_>,
        state: MomentSlices<'_>,
        grads: PreGradients,
    ) -> Gradients {
        let PreGradients { input: pre, state: state_share, coefficients } = grads;
        let weights = input.weights;
        let grad_pre = MomentSlices::halves(if state_share.is_empty() { &pre } else { &state_share });
        let mut weight = vec![0.0; weights.mean.len()];
        let mut weight_var = vec![0.0; weights.var.map_or(0, <[f32]>::len)];
        if !weight.is_empty() {
            let noisy = self.noisy_states_before(state, input);
            let noisy = MomentSlices::halves(&noisy);
            self.by_means(weights, noisy, grad_pre, &mut weight);
            if !weight_var.is_empty() {
                self.by_variances(noisy, grad_pre, &mut weight_var);
            }
        }
        let bias = self.by_biases(weights.bias.len(), grad_pre.mean);
        let bias_var = self.by_biases(weights.bias_var.map_or(0, <[f32]>::len), grad_pre.var);
        Gradients { pre, weight, weight_var, bias, bias_var, coefficients }
    }

    /// ∂L/∂b = Σ ∂L/∂a over steps and lanes, of the last gate of each unit.
    fn by_biases(&self, count: usize, grad_pre: &[f32]) -> Vec<f32> {
        let mut gradient = vec![0.0; count];
        for row in grad_pre.chunks_exact(self.rows()) {
            for (sum, gates) in gradient.iter_mut().zip(row.chunks_exact(self.cell.gates())) {
                *sum += gates[gates.len() - 1];
            }
        }
        gradient
    }

    /// ∂L/∂μ = Σ ∂L/∂E[a]·m̃ + 2μ Σ ∂L/∂V[a]·ṽ, summed over steps and lanes in one product each.
    fn by_means(
        &self,
        weights: RecurrentWeights<'_>,
        noisy: MomentSlices<'_>,
        grad_pre: MomentSlices<'_>,
        gradient: &mut [f32],
    ) {
        let (units, rows) = (self.units, self.rows());
        let (noisy_mean, noisy_var) = (self.pack(noisy.mean), self.pack(noisy.var));
        let grad_mean = Strided::transposed(grad_pre.mean, rows);
        let grad_var = Strided::transposed(grad_pre.var, rows);
        let parts =
            gradient.chunks_mut(GRADIENT_ROWS * units).zip(weights.mean.chunks(GRADIENT_ROWS * units));
        parallel::for_each(self.threads, parts.enumerate(), |(part, (gradient, weight))| {
            add_product(gradient, grad_mean.skip_rows(part * GRADIENT_ROWS), &noisy_mean);
            if self.certain {
                return;
            }
            let mut by_square = vec![0.0; gradient.len()];
            add_product(&mut by_square, grad_var.skip_rows(part * GRADIENT_ROWS), &noisy_var);
            for ((gradient, by_square), weight) in gradient.iter_mut().zip(by_square).zip(weight) {
                *gradient += 2.0 * weight * by_square;
            }
        });
    }

    /// ∂L/∂τ = Σ ∂L/∂V[a]·(m̃² + ṽ).
    fn by_variances(&self, noisy: MomentSlices<'_>, grad_pre: MomentSlices<'_>, gradient: &mut [f32]) {
        let second: Vec<f32> =
            noisy.mean.iter().zip(noisy.var).map(|(mean, var)| mean * mean + var).collect();
        let second = self.pack(&second);
        let grad_var = Strided::transposed(grad_pre.var, self.rows());
        let parts = gradient.chunks_mut(GRADIENT_ROWS * self.units);
        parallel::for_each(self.threads, parts.enumerate(), |(part, gradient)| {
            add_product(gradient, grad_var.skip_rows(part * GRADIENT_ROWS), &second);
        });
    }

    fn pack(&self, states: &[f32]) -> Packed {
        Packed::new(Strided::rows(states, self.units), states.len() / self.units, self.units)
    }

    /// The inputs of the affine map at each step: the state before it, with noise.
    fn noisy_states_before(&self, state: MomentSlices<'_>, input: LayerInput<'_>) -> Vec<f32> {
        let step = input.lanes * self.units;
        let mut before = vec![0.0; 2 * state.mean.len()];
        let moment_slices = MomentSlicesMut::halves(&mut before);
        let start = input.start.map(|LayerState { state, .. }| MomentSlices::halves(state));
        let start = [start.map(|start| start.mean), start.map(|start| start.var)];
        for ((state, before), start) in
            [(state.mean, moment_slices.mean), (state.var, moment_slices.var)].into_iter().zip(start)
        {
            let first = start.unwrap_or_default();
            before.iter_mut().zip(first).for_each(|(before, start)| *before = *start);
            before.iter_mut().skip(step).zip(state).for_each(|(later, earlier)| *later = *earlier);
        }
        let mut noisy = vec![0.0; before.len()];
        add_noise(self.noise, MomentSlices::halves(&before), MomentSlicesMut::halves(&mut noisy));
        noisy
    }
}
