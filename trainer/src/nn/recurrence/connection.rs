//! The connection of a layer to its own last state: noise, then the affine map on moments.

use super::{Planes, PlanesMut};
use crate::nn::noise::NoiseLaw;
use crate::nn::product::{Strided, add_product};

/// Recurrent weights in the forms that the passes need, prepared once per batch.
///
/// E[a] = Σ m̃ μ and V[a] = β Σ ṽ μ² (Bayer 2015, thesis, eqs. 17 and 18; β is the layer's variance scale).
pub(super) struct Connection<'a> {
    units: usize,
    rows: usize,
    noise: NoiseLaw,
    weight: &'a [f32],
    square: Vec<f32>,
    weight_by_unit: Vec<f32>,
    square_by_unit: Vec<f32>,
}

impl<'a> Connection<'a> {
    /// Prepares weights [rows, units].
    pub(super) fn new(weight: &'a [f32], units: usize, noise: NoiseLaw, variance_scale: f32) -> Self {
        let square: Vec<f32> = weight.iter().map(|w| variance_scale * w * w).collect();
        Connection {
            units,
            rows: weight.len() / units,
            noise,
            weight,
            weight_by_unit: transpose(weight, units),
            square_by_unit: transpose(&square, units),
            square,
        }
    }

    /// Adds what the last state contributes to the pre-activations. `noisy` is scratch of the state's size.
    pub(super) fn forward(&self, state: Planes<'_>, mut noisy: PlanesMut<'_>, pre: PlanesMut<'_>) {
        self.disturb(state, noisy.reborrow());
        add_product(pre.mean, Strided::rows(noisy.mean, self.units), &self.weight_by_unit, self.rows);
        add_product(pre.var, Strided::rows(noisy.var, self.units), &self.square_by_unit, self.rows);
    }

    /// Puts noise on a state of any number of steps and lanes.
    pub(super) fn disturb(&self, state: Planes<'_>, noisy: PlanesMut<'_>) {
        let outputs = noisy.mean.iter_mut().zip(noisy.var.iter_mut());
        for ((mean, var), (noisy_mean, noisy_var)) in state.mean.iter().zip(state.var).zip(outputs) {
            (*noisy_mean, *noisy_var) = self.noise.apply(*mean, *var);
        }
    }

    /// Computes the gradient for the last state, of which the means are needed, from that for the pre-activations.
    pub(super) fn backward(&self, grad_pre: Planes<'_>, state_mean: &[f32], grad_state: PlanesMut<'_>) {
        grad_state.mean.fill(0.0);
        grad_state.var.fill(0.0);
        add_product(grad_state.mean, Strided::rows(grad_pre.mean, self.rows), self.weight, self.units);
        add_product(grad_state.var, Strided::rows(grad_pre.var, self.rows), &self.square, self.units);
        let grads = grad_state.mean.iter_mut().zip(grad_state.var.iter_mut());
        for (mean, (grad_mean, grad_var)) in state_mean.iter().zip(grads) {
            (*grad_mean, *grad_var) = self.noise.backward(*mean, *grad_mean, *grad_var);
        }
    }
}

fn transpose(matrix: &[f32], columns: usize) -> Vec<f32> {
    (0..columns).flat_map(|column| matrix[column..].iter().step_by(columns).copied()).collect()
}
