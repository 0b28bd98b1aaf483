//! The recurrent connection of a layer: noise, then the affine map on moments.

use super::gates::GateOrder;
use super::{MomentSlices, MomentSlicesMut, RecurrentWeights};
use crate::nn::product::{Packed, Strided, add_product};
use quaver::noise::NoiseCoefficients;

/// Recurrent weights in the forms that both passes need, prepared once per batch, rows gate by gate.
///
/// E[a] = Σ m̃ μ and V[a] = Σ ṽ μ² + (m̃² + ṽ) τ (Bayer 2015, thesis, eqs. 17 and 18).
pub(super) struct Connection {
    units: usize,
    rows: usize,
    noise: NoiseCoefficients,
    /// From states to pre-activations, [units, rows].
    forwards: PackedWeights,
    /// From gradients for pre-activations to those for states, [rows, units].
    backwards: PackedWeights,
}

/// The factors on moments.
struct PackedWeights {
    /// μ, for means.
    mean: Packed,
    /// μ² + τ, for variances; `None` if there are none.
    square: Option<Packed>,
    /// τ, for squared means; `None` if weights have no variance.
    var: Option<Packed>,
}

/// Buffers for the inputs of the affine map.
pub(super) struct Scratch {
    /// Noisy means and variances.
    noisy: Vec<f32>,
    /// Squares of the noisy means.
    square: Vec<f32>,
}

impl Scratch {
    /// Buffers for the states of all lanes of a block.
    pub(super) fn new(units: usize) -> Self {
        Scratch { noisy: vec![0.0; 2 * units], square: vec![0.0; units] }
    }
}

impl PackedWeights {
    fn new(weights: RecurrentWeights<'_>, certain: bool, pack: impl Fn(&[f32]) -> Packed) -> Self {
        let square = || -> Vec<f32> {
            let square = weights.mean.iter().map(|w| w * w);
            match weights.var {
                Some(var) => square.zip(var).map(|(square, var)| square + var).collect(),
                None => square.collect(),
            }
        };
        PackedWeights {
            mean: pack(weights.mean),
            square: (!certain).then(|| pack(&square())),
            var: weights.var.map(pack),
        }
    }
}

impl Connection {
    /// Prepares weights [rows, units], rows unit by unit, for states without variance if they are `certain`.
    pub(super) fn new(
        weights: RecurrentWeights<'_>,
        units: usize,
        order: GateOrder,
        noise: NoiseCoefficients,
        certain: bool,
    ) -> Self {
        let rows = weights.mean.len() / units;
        let by_gate = |values: &[f32]| {
            let mut by_gate = vec![0.0; values.len()];
            order.gather(values, &mut by_gate, units);
            by_gate
        };
        let (mean, var) = (by_gate(weights.mean), weights.var.map(by_gate));
        let weights = RecurrentWeights { mean: &mean, var: var.as_deref(), ..weights };
        Connection {
            units,
            rows,
            noise,
            forwards: PackedWeights::new(weights, certain, |values| {
                Packed::new(Strided::transposed(values, units), units, rows)
            }),
            backwards: PackedWeights::new(weights, certain, |values| {
                Packed::new(Strided::rows(values, units), rows, units)
            }),
        }
    }

    /// Adds the contribution of the last state to the pre-activations.
    pub(super) fn forward(&self, state: MomentSlices<'_>, scratch: &mut Scratch, pre: MomentSlicesMut<'_>) {
        let PackedWeights { mean, square, var } = &self.forwards;
        add_noise(self.noise, state, MomentSlicesMut::halves(&mut scratch.noisy));
        let noisy = MomentSlices::halves(&scratch.noisy);
        add_product(pre.mean, Strided::rows(noisy.mean, self.units), mean);
        if let Some(square) = square {
            add_product(pre.var, Strided::rows(noisy.var, self.units), square);
        }
        if let Some(var) = var {
            for (square, mean) in scratch.square.iter_mut().zip(noisy.mean) {
                *square = mean * mean;
            }
            add_product(pre.var, Strided::rows(&scratch.square, self.units), var);
        }
    }

    /// Computes the gradient for the last state from that for the pre-activations, and adds that for the
    /// noise to `by_noise` if it is given.
    pub(super) fn backward(
        &self,
        grad_pre: MomentSlices<'_>,
        state: MomentSlices<'_>,
        scratch: &mut Scratch,
        mut grad_state: MomentSlicesMut<'_>,
        by_noise: Option<&mut NoiseGradient>,
    ) {
        let PackedWeights { mean, square, var } = &self.backwards;
        grad_state.mean.fill(0.0);
        grad_state.var.fill(0.0);
        add_product(grad_state.mean, Strided::rows(grad_pre.mean, self.rows), mean);
        if let Some(square) = square {
            add_product(grad_state.var, Strided::rows(grad_pre.var, self.rows), square);
        }
        if let Some(var) = var {
            scratch.square.fill(0.0);
            add_product(&mut scratch.square, Strided::rows(grad_pre.var, self.rows), var);
            // ∂V/∂m̃ = 2 m̃ τ.
            for ((grad, by_square), mean) in grad_state.mean.iter_mut().zip(&scratch.square).zip(state.mean) {
                *grad += 2.0 * self.noise.mean * mean * by_square;
            }
        }
        if let Some(by_noise) = by_noise {
            by_noise.add(state, grad_state.reborrow());
        }
        let grads = grad_state.mean.iter_mut().zip(grad_state.var.iter_mut());
        for (mean, (grad_mean, grad_var)) in state.mean.iter().zip(grads) {
            (*grad_mean, *grad_var) = self.noise.backward(*mean, *grad_mean, *grad_var);
        }
    }
}

/// Applies noise to states of any number of steps and lanes.
pub(super) fn add_noise(noise: NoiseCoefficients, state: MomentSlices<'_>, noisy: MomentSlicesMut<'_>) {
    let outputs = noisy.mean.iter_mut().zip(noisy.var.iter_mut());
    for ((mean, var), (noisy_mean, noisy_var)) in state.mean.iter().zip(state.var).zip(outputs) {
        (*noisy_mean, *noisy_var) = noise.apply(*mean, *var);
    }
}

/// Derivatives of the loss with respect to noise coefficients, in the order of [`NoiseCoefficients`]'s
/// fields.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NoiseGradient(pub(super) [f64; 4]);

impl NoiseGradient {
    /// Accumulates units with the gradients for their noisy moments.
    fn add(&mut self, state: MomentSlices<'_>, grad_noisy: MomentSlicesMut<'_>) {
        let mut sums = [0.0; 4];
        let grads = grad_noisy.mean.iter().zip(grad_noisy.var.iter());
        for ((mean, var), (by_mean, by_var)) in state.mean.iter().zip(state.var).zip(grads) {
            sums[0] += by_mean * mean;
            sums[1] += by_var * mean * mean;
            sums[2] += by_var * var;
            sums[3] += by_var;
        }
        self.0.iter_mut().zip(sums).for_each(|(total, sum)| *total += f64::from(sum));
    }
}
