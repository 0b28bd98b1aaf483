//! The recurrence of one layer over a whole batch, forwards and backwards, on plain slices.
//!
//! The input's share of the pre-activations is known for all steps beforehand and arrives as one array; what is
//! left is the part that has to go step by step. Arrays are time-major: [steps, lanes, …], one lane per sequence
//! of the batch. The initial state is zero. Nothing here knows of tensors: see [`super::host_node`] for how a
//! recurrence becomes a node of the autodiff graph.

mod cell;
mod connection;
mod elman;
mod lstm;
#[cfg(test)]
mod tests;
mod unroll;

use quaver::checkpoint::{CellKind, MomentForm, Transfer};
use quaver::moments::{Jacobian, Moments, gradient};

use self::connection::Connection;
use self::elman::Elman;
use self::lstm::{Lstm, LstmTrace};
pub use self::unroll::Traces;
use super::noise::NoiseLaw;
use super::parallel;
use super::product::{Strided, add_product};

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
    /// Factor β on the pre-activation variance.
    pub variance_scale: f32,
    /// Threads to compute on; the result does not depend on it.
    pub threads: usize,
}

/// Means and variances side by side.
#[derive(Clone, Copy, Debug)]
pub struct Planes<'a> {
    /// Means.
    pub mean: &'a [f32],
    /// Variances.
    pub var: &'a [f32],
}

/// Means and variances to be written.
#[derive(Debug)]
pub(crate) struct PlanesMut<'a> {
    pub(crate) mean: &'a mut [f32],
    pub(crate) var: &'a mut [f32],
}

/// What a forward pass leaves behind for the backward pass.
#[derive(Debug)]
pub struct Tape(TapeKind);

#[derive(Debug)]
enum TapeKind {
    Elman(Vec<Jacobian>),
    Lstm(Vec<LstmTrace>),
}

/// Gradients of one layer's recurrence.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// For the input's share of the pre-activation means, [steps, lanes, rows].
    pub pre_mean: Vec<f32>,
    /// For the input's share of the pre-activation variances, [steps, lanes, rows].
    pub pre_var: Vec<f32>,
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
    /// `pre` is the input's share of the pre-activations, [steps, lanes, rows] each, bias and variance scale
    /// included; `weight` is [rows, units].
    pub fn forward(&self, pre: Planes<'_>, weight: &[f32], lanes: usize, keep: Traces) -> (Vec<f32>, Tape) {
        let connection = Connection::new(weight, self.units, self.noise, self.variance_scale);
        match self.cell {
            CellKind::Elman(transfer) => {
                let cell = Elman { transfer: self.transfer(transfer) };
                let (state, traces) = unroll::forward(self, &cell, &connection, pre, lanes, keep);
                (state, Tape(TapeKind::Elman(traces)))
            }
            CellKind::Lstm => {
                let (state, traces) = unroll::forward(self, &self.lstm(), &connection, pre, lanes, keep);
                (state, Tape(TapeKind::Lstm(traces)))
            }
        }
    }

    /// Computes all gradients from that for the states, which `forward` returned with the tape.
    pub fn backward(
        &self,
        (state, tape): (&[f32], &Tape),
        weight: &[f32],
        grad_state: &[f32],
        lanes: usize,
    ) -> Gradients {
        let connection = Connection::new(weight, self.units, self.noise, self.variance_scale);
        let (state, grad_state) = (Planes::halves(state), Planes::halves(grad_state));
        let size = state.mean.len() * self.cell.gates();
        let (mut pre_mean, mut pre_var) = (vec![0.0; size], vec![0.0; size]);
        let grad_pre = PlanesMut { mean: &mut pre_mean, var: &mut pre_var };
        match (self.cell, &tape.0) {
            (CellKind::Elman(transfer), TapeKind::Elman(traces)) => {
                let cell = Elman { transfer: self.transfer(transfer) };
                unroll::backward(self, &cell, &connection, (traces, state), grad_state, grad_pre, lanes);
            }
            (CellKind::Lstm, TapeKind::Lstm(traces)) => {
                unroll::backward(
                    self,
                    &self.lstm(),
                    &connection,
                    (traces, state),
                    grad_state,
                    grad_pre,
                    lanes,
                );
            }
            (cell, _) => unreachable!("a tape of another cell than {cell:?}"),
        }
        let grad_pre = Planes { mean: &pre_mean, var: &pre_var };
        let weight = self.weight_gradient(&connection, state, grad_pre, weight, lanes);
        Gradients { pre_mean, pre_var, weight }
    }

    /// ∂L/∂μ = Σ ∂L/∂E[a]·m̃ + 2βμ Σ ∂L/∂V[a]·ṽ, summed over steps and lanes in one product each.
    fn weight_gradient(
        &self,
        connection: &Connection<'_>,
        state: Planes<'_>,
        grad_pre: Planes<'_>,
        weight: &[f32],
        lanes: usize,
    ) -> Vec<f32> {
        let (units, rows) = (self.units, self.rows());
        let noisy = noisy_states_before(connection, state, lanes * units);
        let noisy = Planes::halves(&noisy);
        let grad_mean = Strided::transposed(grad_pre.mean, rows);
        let grad_var = Strided::transposed(grad_pre.var, rows);
        let mut gradient = vec![0.0; rows * units];
        let parts = gradient.chunks_mut(GRADIENT_ROWS * units).zip(weight.chunks(GRADIENT_ROWS * units));
        parallel::for_each(self.threads, parts.enumerate(), |(part, (gradient, weight))| {
            let mut by_square = vec![0.0; gradient.len()];
            add_product(&mut by_square, grad_var.skip_rows(part * GRADIENT_ROWS), noisy.var, units);
            add_product(gradient, grad_mean.skip_rows(part * GRADIENT_ROWS), noisy.mean, units);
            for ((gradient, by_square), weight) in gradient.iter_mut().zip(by_square).zip(weight) {
                *gradient += 2.0 * self.variance_scale * weight * by_square;
            }
        });
        gradient
    }

    fn lstm(&self) -> Lstm {
        Lstm { sigmoid: self.transfer(Transfer::Sigmoid), tanh: self.transfer(Transfer::Tanh) }
    }

    fn transfer(&self, transfer: Transfer) -> cell::Transfer {
        match (transfer, self.form) {
            (Transfer::Tanh, MomentForm::Accurate) => gradient::tanh,
            (Transfer::Tanh, MomentForm::Paper) => gradient::paper_tanh,
            (Transfer::Sigmoid, MomentForm::Accurate) => gradient::sigmoid,
            (Transfer::Sigmoid, MomentForm::Paper) => gradient::paper_sigmoid,
            (Transfer::Rectifier, _) => gradient::rectifier,
        }
    }
}

/// What the affine map saw at each step: the state before it, noise included; zero before the first step.
fn noisy_states_before(connection: &Connection<'_>, state: Planes<'_>, step: usize) -> Vec<f32> {
    let mut before = vec![0.0; 2 * state.mean.len()];
    let planes = PlanesMut::halves(&mut before);
    for (state, before) in [(state.mean, planes.mean), (state.var, planes.var)] {
        for (later, earlier) in before.iter_mut().skip(step).zip(state) {
            *later = *earlier;
        }
    }
    let mut noisy = vec![0.0; before.len()];
    connection.disturb(Planes::halves(&before), PlanesMut::halves(&mut noisy));
    noisy
}

impl<'a> Planes<'a> {
    /// Means in the first half, variances in the second.
    pub fn halves(packed: &'a [f32]) -> Self {
        let (mean, var) = packed.split_at(packed.len() / 2);
        Planes { mean, var }
    }

    fn at(&self, index: usize) -> Moments {
        Moments { mean: self.mean[index], var: self.var[index] }
    }
}

impl<'a> PlanesMut<'a> {
    fn halves(packed: &'a mut [f32]) -> Self {
        let (mean, var) = packed.split_at_mut(packed.len() / 2);
        PlanesMut { mean, var }
    }

    fn reborrow(&mut self) -> PlanesMut<'_> {
        PlanesMut { mean: self.mean, var: self.var }
    }

    fn as_planes(&self) -> Planes<'_> {
        Planes { mean: self.mean, var: self.var }
    }

    fn set(&mut self, index: usize, value: cell::Gradient) {
        self.mean[index] = value.mean;
        self.var[index] = value.var;
    }
}
