//! The connection of a layer to its own last state: noise, then the affine map on moments.

use super::gates::GateOrder;
use super::{Planes, PlanesMut};
use crate::nn::noise::NoiseLaw;
use crate::nn::product::{Packed, Strided, add_product};

/// Recurrent weights in the forms that the passes need, prepared once per batch, rows gate by gate.
///
/// E[a] = Σ m̃ μ and V[a] = Σ ṽ μ² (Bayer 2015, thesis, eqs. 17 and 18).
pub(super) struct Connection {
    units: usize,
    rows: usize,
    noise: NoiseLaw,
    /// From states to pre-activations: weights and their squares, [units, rows].
    forwards: [Packed; 2],
    /// From gradients for pre-activations to those for states: the same, [rows, units].
    backwards: [Packed; 2],
}

impl Connection {
    /// Prepares weights [rows, units], rows unit by unit.
    pub(super) fn new(weight: &[f32], units: usize, order: GateOrder, noise: NoiseLaw) -> Self {
        let rows = weight.len() / units;
        let mut by_gate = vec![0.0; weight.len()];
        order.gather(weight, &mut by_gate, units);
        let square: Vec<f32> = by_gate.iter().map(|w| w * w).collect();
        let both = [&by_gate, &square];
        Connection {
            units,
            rows,
            noise,
            forwards: both.map(|values| Packed::new(Strided::transposed(values, units), units, rows)),
            backwards: both.map(|values| Packed::new(Strided::rows(values, units), rows, units)),
        }
    }

    /// Adds what the last state contributes to the pre-activations. `noisy` is scratch of the state's size.
    pub(super) fn forward(&self, state: Planes<'_>, mut noisy: PlanesMut<'_>, pre: PlanesMut<'_>) {
        disturb(self.noise, state, noisy.reborrow());
        let [weight, square] = &self.forwards;
        add_product(pre.mean, Strided::rows(noisy.mean, self.units), weight);
        add_product(pre.var, Strided::rows(noisy.var, self.units), square);
    }

    /// Computes the gradient for the last state, of which the means are needed, from that for the pre-activations.
    pub(super) fn backward(&self, grad_pre: Planes<'_>, state_mean: &[f32], grad_state: PlanesMut<'_>) {
        grad_state.mean.fill(0.0);
        grad_state.var.fill(0.0);
        let [weight, square] = &self.backwards;
        add_product(grad_state.mean, Strided::rows(grad_pre.mean, self.rows), weight);
        add_product(grad_state.var, Strided::rows(grad_pre.var, self.rows), square);
        let grads = grad_state.mean.iter_mut().zip(grad_state.var.iter_mut());
        for (mean, (grad_mean, grad_var)) in state_mean.iter().zip(grads) {
            (*grad_mean, *grad_var) = self.noise.backward(*mean, *grad_mean, *grad_var);
        }
    }
}

/// Puts noise on a state of any number of steps and lanes.
pub(super) fn disturb(noise: NoiseLaw, state: Planes<'_>, noisy: PlanesMut<'_>) {
    let outputs = noisy.mean.iter_mut().zip(noisy.var.iter_mut());
    for ((mean, var), (noisy_mean, noisy_var)) in state.mean.iter().zip(state.var).zip(outputs) {
        (*noisy_mean, *noisy_var) = noise.apply(*mean, *var);
    }
}
