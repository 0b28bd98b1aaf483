//! The recurrence of one layer over a whole batch, forward and backward, on plain slices.
//!
//! The input's contribution to the pre-activations is computed for all steps beforehand and arrives as one
//! array; only the recurrent part proceeds step by step. Arrays are time-major: [steps, lanes, …], one lane
//! per sequence of the batch. The initial state is zero unless one is carried over from the previous batch.
//! This module is independent of tensors: [`super::host_node`] makes a recurrence a node of the autodiff
//! graph.

mod activation;
mod cell;
mod connection;
mod elman;
mod gates;
mod gradient;
mod gru;
mod lane_block;
mod lstm;
mod moment_slices;
#[cfg(test)]
mod tests;
mod trace;
mod unit_function;
mod unroll;

use quaver::checkpoint::{Activation, CellKind, MomentForm};

use self::activation::{GateActivations, activation_fn};
use self::cell::RecurrentCell;
use self::elman::Elman;
pub use self::gradient::Gradients;
use self::gru::Gru;
use self::lstm::Lstm;
pub use self::moment_slices::MomentSlices;
use self::moment_slices::MomentSlicesMut;
pub use self::unroll::Traces;
use quaver::noise::NoiseCoefficients;

/// A layer without its weights.
#[derive(Clone, Copy, Debug)]
pub struct Recurrence {
    /// The kind of cell.
    pub cell: CellKind,
    /// Hidden units.
    pub units: usize,
    /// Noise on the last state before the affine map.
    pub noise: NoiseCoefficients,
    /// The form of the moments of sigmoid and tanh.
    pub form: MomentForm,
    /// Factor β on the variance of the states (Bayer 2015, thesis, 2.6.1).
    pub variance_scale: f32,
    /// Whether gradients for the noise and for β are needed.
    pub learned: bool,
    /// Whether no variance enters: neither by the inputs and initial states, nor by weights and noise. Then
    /// all variances are zero, no parameter has a gradient from one, and their products are not computed.
    pub certain: bool,
    /// Threads to compute on; the result does not depend on it.
    pub threads: usize,
}

/// Recurrent weights [rows, units]; a layer without recurrence has none.
#[derive(Clone, Copy, Debug, Default)]
pub struct RecurrentWeights<'a> {
    /// Means μ.
    pub mean: &'a [f32],
    /// Variances τ; `None` if all are zero.
    pub var: Option<&'a [f32]>,
    /// Means of the biases that belong to the state's share alone, one per unit for a GRU's candidate; other
    /// cells have none.
    pub bias: &'a [f32],
    /// Variances of those, unless all are zero.
    pub bias_var: Option<&'a [f32]>,
}

/// The inputs of a recurrence.
#[derive(Clone, Copy, Debug)]
pub struct LayerInput<'a> {
    /// The input's contribution to the pre-activations, [steps, lanes, rows] each, including the bias.
    pub pre: MomentSlices<'a>,
    /// The recurrent weights.
    pub weights: RecurrentWeights<'a>,
    /// Number of sequences.
    pub lanes: usize,
    /// Initial states; zero if not given.
    pub start: Option<&'a LayerState>,
}

/// The state of a layer between steps, [2, lanes, units] each, means then variances.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerState {
    /// The states h.
    pub state: Vec<f32>,
    /// Further state of the cell: c of an LSTM.
    pub memory: Vec<f32>,
}

impl LayerState {
    /// Whether all variances are zero.
    pub fn is_certain(&self) -> bool {
        [&self.state, &self.memory]
            .into_iter()
            .all(|moments| MomentSlices::halves(moments).var.iter().all(|var| *var == 0.0))
    }
}

/// What a forward pass keeps.
#[derive(Debug)]
pub struct LayerTape {
    /// For the backward pass.
    traces: Vec<f32>,
    /// Memory of the cells after the last step, [2, lanes, units].
    pub memory: Vec<f32>,
}

impl Recurrence {
    /// Rows of the weights, hence pre-activations that the input has a share in, per lane and step.
    pub fn rows(&self) -> usize {
        self.units * self.cell.gates()
    }

    /// Biases that belong to the state's share of the pre-activations alone.
    pub fn state_biases(&self) -> usize {
        self.units * (self.cell.biases() - self.cell.gates())
    }

    /// Numbers per unit, lane and step that a forward pass keeps for the backward pass.
    pub const fn trace(cell: CellKind) -> usize {
        match cell {
            CellKind::Elman(_) | CellKind::Dense(_) => Elman::TRACE,
            CellKind::Lstm => Lstm::TRACE,
            CellKind::Gru => Gru::TRACE,
        }
    }

    /// Computes the states [2, steps, lanes, units], means then variances.
    pub fn forward(&self, input: LayerInput<'_>, keep: Traces) -> (Vec<f32>, LayerTape) {
        match self.cell {
            CellKind::Elman(activation) | CellKind::Dense(activation) => {
                unroll::forward(self, &self.elman(activation), input, keep)
            }
            CellKind::Lstm => unroll::forward(self, &self.lstm(), input, keep),
            CellKind::Gru => unroll::forward(self, &self.gru(), input, keep),
        }
    }

    /// Computes all gradients from that for the states, which `forward` returned together with the tape.
    pub fn backward(
        &self,
        input: LayerInput<'_>,
        (state, tape): (&[f32], &LayerTape),
        grad_state: &[f32],
    ) -> Gradients {
        let (state, grad_state) = (MomentSlices::halves(state), MomentSlices::halves(grad_state));
        let kept = (tape.traces.as_slice(), state);
        let grads = match self.cell {
            CellKind::Elman(activation) | CellKind::Dense(activation) => {
                unroll::backward(self, &self.elman(activation), input, kept, grad_state)
            }
            CellKind::Lstm => unroll::backward(self, &self.lstm(), input, kept, grad_state),
            CellKind::Gru => unroll::backward(self, &self.gru(), input, kept, grad_state),
        };
        self.gradients(input, state, grads)
    }

    fn elman(&self, activation: Activation) -> Elman {
        Elman { activation: activation_fn(activation, self.form) }
    }

    fn lstm(&self) -> Lstm {
        Lstm(GateActivations::new(self.form))
    }

    fn gru(&self) -> Gru {
        Gru(GateActivations::new(self.form))
    }
}
