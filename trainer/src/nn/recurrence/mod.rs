//! The recurrence of one layer over a whole batch, forwards and backwards, on plain slices.
//!
//! The input's share of the pre-activations is known for all steps beforehand and arrives as one array; what is
//! left is the part that has to go step by step. Arrays are time-major: [steps, lanes, …], one lane per sequence
//! of the batch. The initial state is zero unless one is carried over from the batch before. Nothing here knows of tensors: see [`super::host_node`] for how a
//! recurrence becomes a node of the autodiff graph.

mod activation;
mod cell;
mod connection;
mod elman;
mod gates;
mod gradient;
mod lane_block;
mod lstm;
mod moment_slices;
#[cfg(test)]
mod tests;
mod unroll;

use quaver::checkpoint::{Activation, CellKind, MomentForm};

use self::activation::activation_fn;
use self::elman::Elman;
pub use self::gradient::Gradients;
use self::lstm::Lstm;
pub use self::moment_slices::MomentSlices;
use self::moment_slices::MomentSlicesMut;
pub use self::unroll::Traces;
use super::noise_coefficients::NoiseCoefficients;

/// A layer without its weights.
#[derive(Clone, Copy, Debug)]
pub struct Recurrence {
    /// The kind of recurrence.
    pub cell: CellKind,
    /// Hidden units.
    pub units: usize,
    /// Noise on the last state before the affine map.
    pub noise: NoiseCoefficients,
    /// Which moments of sigmoid and tanh are used.
    pub form: MomentForm,
    /// Factor β on the variance of the states (Bayer 2015, thesis, 2.6.1).
    pub variance_scale: f32,
    /// Whether gradients for the noise and for β are wanted.
    pub learned: bool,
    /// Threads to compute on; the result does not depend on it.
    pub threads: usize,
}

/// Recurrent weights [rows, units]; a layer without recurrence has none.
#[derive(Clone, Copy, Debug)]
pub struct RecurrentWeights<'a> {
    /// Means μ.
    pub mean: &'a [f32],
    /// Variances τ, unless all are zero.
    pub var: Option<&'a [f32]>,
}

/// What a recurrence is computed from.
#[derive(Clone, Copy, Debug)]
pub struct LayerInput<'a> {
    /// The input's share of the pre-activations, [steps, lanes, rows] each, bias included.
    pub pre: MomentSlices<'a>,
    /// The recurrent weights.
    pub weights: RecurrentWeights<'a>,
    /// Sequences side by side.
    pub lanes: usize,
    /// Where the sequences begin; all zero if nothing is given.
    pub start: Option<&'a LayerState>,
}

/// What a layer remembers between steps, [2, lanes, units] each, means then variances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerState {
    /// The states h.
    pub state: Vec<f32>,
    /// What units keep besides: the cells c of an LSTM.
    pub memory: Vec<f32>,
}

/// What a forward pass leaves behind.
#[derive(Debug)]
pub struct LayerTape {
    /// For the backward pass.
    traces: Vec<f32>,
    /// What units keep besides their state after the last step, [2, lanes, units].
    pub memory: Vec<f32>,
}

impl Recurrence {
    /// Pre-activations per lane and step, hence rows of the weights.
    pub fn rows(&self) -> usize {
        self.units * self.cell.gates()
    }

    /// Computes the states [2, steps, lanes, units], means then variances.
    pub fn forward(&self, input: LayerInput<'_>, keep: Traces) -> (Vec<f32>, LayerTape) {
        match self.cell {
            CellKind::Elman(activation) | CellKind::Dense(activation) => {
                unroll::forward(self, &self.elman(activation), input, keep)
            }
            CellKind::Lstm => unroll::forward(self, &self.lstm(), input, keep),
        }
    }

    /// Computes all gradients from that for the states, which `forward` returned with the tape.
    pub fn backward(
        &self,
        input: LayerInput<'_>,
        (state, tape): (&[f32], &LayerTape),
        grad_state: &[f32],
    ) -> Gradients {
        let (state, grad_state) = (MomentSlices::halves(state), MomentSlices::halves(grad_state));
        let kept = (tape.traces.as_slice(), state);
        let (pre, coefficients) = match self.cell {
            CellKind::Elman(activation) | CellKind::Dense(activation) => {
                unroll::backward(self, &self.elman(activation), input, kept, grad_state)
            }
            CellKind::Lstm => unroll::backward(self, &self.lstm(), input, kept, grad_state),
        };
        self.gradients(input, state, pre, coefficients)
    }

    fn elman(&self, activation: Activation) -> Elman {
        Elman { activation: activation_fn(activation, self.form) }
    }

    fn lstm(&self) -> Lstm {
        Lstm {
            sigmoid: activation_fn(Activation::Sigmoid, self.form),
            tanh: activation_fn(Activation::Tanh, self.form),
        }
    }
}
