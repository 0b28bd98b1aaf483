//! The recurrence of one layer over a whole batch, forwards and backwards, on plain slices.
//!
//! The input's share of the pre-activations is known for all steps beforehand and arrives as one array; what is
//! left is the part that has to go step by step. Arrays are time-major: [steps, lanes, …], one lane per sequence
//! of the batch. The initial state is zero unless one is carried over from the batch before. Nothing here knows of tensors: see [`super::host_node`] for how a
//! recurrence becomes a node of the autodiff graph.

mod cell;
mod connection;
mod elman;
mod gates;
mod gradient;
mod lstm;
mod planes;
mod series;
#[cfg(test)]
mod tests;
mod transfer;
mod unroll;

use quaver::checkpoint::{CellKind, MomentForm, Transfer};

use self::elman::Elman;
pub use self::gradient::Gradients;
use self::lstm::Lstm;
pub use self::planes::Planes;
use self::planes::PlanesMut;
use self::transfer::sweep;
pub use self::unroll::Traces;
use super::noise::NoiseLaw;

/// A layer without its weights.
#[derive(Clone, Copy, Debug)]
pub struct Recurrence {
    /// The kind of recurrence.
    pub cell: CellKind,
    /// Hidden units.
    pub units: usize,
    /// Noise on the last state before the affine map.
    pub noise: NoiseLaw,
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
pub struct Weights<'a> {
    /// Means μ.
    pub mean: &'a [f32],
    /// Variances τ, unless all are zero.
    pub var: Option<&'a [f32]>,
}

/// What a recurrence is computed from.
#[derive(Clone, Copy, Debug)]
pub struct Drive<'a> {
    /// The input's share of the pre-activations, [steps, lanes, rows] each, bias included.
    pub pre: Planes<'a>,
    /// The recurrent weights.
    pub weights: Weights<'a>,
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
pub struct Tape {
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
    pub fn forward(&self, drive: Drive<'_>, keep: Traces) -> (Vec<f32>, Tape) {
        match self.cell {
            CellKind::Elman(transfer) | CellKind::Dense(transfer) => {
                unroll::forward(self, &self.elman(transfer), drive, keep)
            }
            CellKind::Lstm => unroll::forward(self, &self.lstm(), drive, keep),
        }
    }

    /// Computes all gradients from that for the states, which `forward` returned with the tape.
    pub fn backward(
        &self,
        drive: Drive<'_>,
        (state, tape): (&[f32], &Tape),
        grad_state: &[f32],
    ) -> Gradients {
        let (state, grad_state) = (Planes::halves(state), Planes::halves(grad_state));
        let kept = (tape.traces.as_slice(), state);
        let (pre, coefficients) = match self.cell {
            CellKind::Elman(transfer) | CellKind::Dense(transfer) => {
                unroll::backward(self, &self.elman(transfer), drive, kept, grad_state)
            }
            CellKind::Lstm => unroll::backward(self, &self.lstm(), drive, kept, grad_state),
        };
        self.gradients(drive, state, pre, coefficients)
    }

    fn elman(&self, transfer: Transfer) -> Elman {
        Elman { transfer: sweep(transfer, self.form) }
    }

    fn lstm(&self) -> Lstm {
        Lstm { sigmoid: sweep(Transfer::Sigmoid, self.form), tanh: sweep(Transfer::Tanh, self.form) }
    }
}
