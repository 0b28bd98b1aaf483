//! The recurrence of one layer over a whole batch, forwards and backwards, on plain slices.
//!
//! The input's share of the pre-activations is known for all steps beforehand and arrives as one array; what is
//! left is the part that has to go step by step. Arrays are time-major: [steps, lanes, …], one lane per sequence
//! of the batch. The initial state is zero. Nothing here knows of tensors: see [`super::host_node`] for how a
//! recurrence becomes a node of the autodiff graph.

mod cell;
mod connection;
mod elman;
mod gates;
mod lstm;
mod planes;
#[cfg(test)]
mod tests;
mod transfer;
mod unroll;

use quaver::checkpoint::{CellKind, MomentForm, Transfer};

use self::connection::disturb;
use self::elman::Elman;
use self::lstm::Lstm;
pub use self::planes::Planes;
use self::planes::PlanesMut;
use self::transfer::sweep;
pub use self::unroll::Traces;
use super::noise::NoiseLaw;
use super::parallel;
use super::product::{Packed, Strided, add_product};

/// Rows of the weight gradient that one task computes.
const GRADIENT_ROWS: usize = 16;

/// A recurrent layer without its numbers.
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
    /// Threads to compute on; the result does not depend on it.
    pub threads: usize,
}

/// What a forward pass leaves behind for the backward pass.
#[derive(Debug)]
pub struct Tape(Vec<f32>);

/// Gradients of one layer's recurrence.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// For the input's share of the pre-activations, [2, steps, lanes, rows], means then variances.
    pub pre: Vec<f32>,
    /// For the recurrent weights, [rows, units].
    pub weight: Vec<f32>,
}

impl Recurrence {
    /// Pre-activations per lane and step, hence rows of the weights.
    pub fn rows(&self) -> usize {
        self.units * self.cell.gates()
    }

    /// Computes the states [2, steps, lanes, units], means then variances.
    ///
    /// `pre` is the input's share of the pre-activations, [steps, lanes, rows] each, bias
    /// included; `weight` is [rows, units].
    pub fn forward(&self, pre: Planes<'_>, weight: &[f32], lanes: usize, keep: Traces) -> (Vec<f32>, Tape) {
        let (state, traces) = match self.cell {
            CellKind::Elman(transfer) => {
                unroll::forward(self, &self.elman(transfer), pre, weight, lanes, keep)
            }
            CellKind::Lstm => unroll::forward(self, &self.lstm(), pre, weight, lanes, keep),
        };
        (state, Tape(traces))
    }

    /// Computes all gradients from that for the states, which `forward` returned with the tape.
    pub fn backward(
        &self,
        (state, tape): (&[f32], &Tape),
        weight: &[f32],
        grad_state: &[f32],
        lanes: usize,
    ) -> Gradients {
        let (state, grad_state) = (Planes::halves(state), Planes::halves(grad_state));
        let kept = (tape.0.as_slice(), state);
        let pre = match self.cell {
            CellKind::Elman(transfer) => {
                unroll::backward(self, &self.elman(transfer), kept, weight, grad_state, lanes)
            }
            CellKind::Lstm => unroll::backward(self, &self.lstm(), kept, weight, grad_state, lanes),
        };
        let weight = self.weight_gradient(state, Planes::halves(&pre), weight, lanes);
        Gradients { pre, weight }
    }

    /// ∂L/∂μ = Σ ∂L/∂E[a]·m̃ + 2μ Σ ∂L/∂V[a]·ṽ, summed over steps and lanes in one product each.
    fn weight_gradient(
        &self,
        state: Planes<'_>,
        grad_pre: Planes<'_>,
        weight: &[f32],
        lanes: usize,
    ) -> Vec<f32> {
        let (units, rows) = (self.units, self.rows());
        let noisy = self.noisy_states_before(state, lanes * units);
        let noisy = Planes::halves(&noisy);
        let pack = |plane| Packed::new(Strided::rows(plane, units), noisy.mean.len() / units, units);
        let (noisy_mean, noisy_var) = (pack(noisy.mean), pack(noisy.var));
        let grad_mean = Strided::transposed(grad_pre.mean, rows);
        let grad_var = Strided::transposed(grad_pre.var, rows);
        let mut gradient = vec![0.0; rows * units];
        let parts = gradient.chunks_mut(GRADIENT_ROWS * units).zip(weight.chunks(GRADIENT_ROWS * units));
        parallel::for_each(self.threads, parts.enumerate(), |(part, (gradient, weight))| {
            let mut by_square = vec![0.0; gradient.len()];
            add_product(&mut by_square, grad_var.skip_rows(part * GRADIENT_ROWS), &noisy_var);
            add_product(gradient, grad_mean.skip_rows(part * GRADIENT_ROWS), &noisy_mean);
            for ((gradient, by_square), weight) in gradient.iter_mut().zip(by_square).zip(weight) {
                *gradient += 2.0 * weight * by_square;
            }
        });
        gradient
    }

    /// What the affine map saw at each step: the state before it, noise included; zero before the first step.
    fn noisy_states_before(&self, state: Planes<'_>, step: usize) -> Vec<f32> {
        let mut before = vec![0.0; 2 * state.mean.len()];
        let planes = PlanesMut::halves(&mut before);
        for (state, before) in [(state.mean, planes.mean), (state.var, planes.var)] {
            for (later, earlier) in before.iter_mut().skip(step).zip(state) {
                *later = *earlier;
            }
        }
        let mut noisy = vec![0.0; before.len()];
        disturb(self.noise, Planes::halves(&before), PlanesMut::halves(&mut noisy));
        noisy
    }

    fn elman(&self, transfer: Transfer) -> Elman {
        Elman { transfer: sweep(transfer, self.form) }
    }

    fn lstm(&self) -> Lstm {
        Lstm { sigmoid: sweep(Transfer::Sigmoid, self.form), tanh: sweep(Transfer::Tanh, self.form) }
    }
}
