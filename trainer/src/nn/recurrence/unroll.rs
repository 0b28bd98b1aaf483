//! A layer unrolled over time, block of lanes by block of lanes, forwards and backwards.

use quaver::moments::Moments;

use super::cell::{Cell, Gradient};
use super::connection::Connection;
use super::{Planes, PlanesMut, Recurrence};
use crate::nn::parallel::{self, lane_blocks, lane_blocks_mut};

/// Whether a forward pass keeps what a backward pass needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// Traces of every step are kept.
    Keep,
    /// Traces are overwritten from step to step.
    Discard,
}

/// One block of lanes on its way forwards: `[step]` slices of what it reads and writes.
struct Forward<'a, T> {
    pre_mean: Vec<&'a [f32]>,
    pre_var: Vec<&'a [f32]>,
    state_mean: Vec<&'a mut [f32]>,
    state_var: Vec<&'a mut [f32]>,
    traces: Vec<&'a mut [T]>,
}

/// States [2, steps, lanes, units] and traces from the input's share of the pre-activations.
pub(super) fn forward<C: Cell>(
    layer: &Recurrence,
    cell: &C,
    connection: &Connection<'_>,
    pre: Planes<'_>,
    lanes: usize,
    keep: Traces,
) -> (Vec<f32>, Vec<C::Trace>) {
    let (rows, units) = (layer.rows(), layer.units);
    let steps = pre.mean.len() / (lanes * rows);
    let depth = if keep == Traces::Keep { steps } else { steps.min(1) };
    let mut state = vec![0.0; 2 * steps * lanes * units];
    let mut traces = vec![C::Trace::default(); depth * lanes * units];
    let (state_mean, state_var) = state.split_at_mut(steps * lanes * units);
    let states =
        lane_blocks_mut(state_mean, lanes, units).into_iter().zip(lane_blocks_mut(state_var, lanes, units));
    let pres = lane_blocks(pre.mean, lanes, rows).into_iter().zip(lane_blocks(pre.var, lanes, rows));
    let blocks = states.zip(pres).zip(lane_blocks_mut(&mut traces, lanes, units)).map(
        |(((state_mean, state_var), (pre_mean, pre_var)), traces)| Forward {
            pre_mean,
            pre_var,
            state_mean,
            state_var,
            traces,
        },
    );
    parallel::for_each(layer.threads, blocks, |block| block.run(cell, connection));
    (state, traces)
}

impl<T> Forward<'_, T> {
    fn run<C: Cell<Trace = T>>(mut self, cell: &C, connection: &Connection<'_>) {
        let (rows, units) = match (self.pre_mean.first(), self.state_mean.first()) {
            (Some(pre), Some(state)) => (pre.len(), state.len()),
            _ => return,
        };
        let depth = self.traces.len();
        let mut memory = vec![Moments::default(); units];
        let (start, mut pre, mut noisy) = (vec![0.0; units], vec![0.0; 2 * rows], vec![0.0; 2 * units]);
        for step in 0..self.pre_mean.len() {
            let mut pre = PlanesMut::halves(&mut pre);
            pre.mean.copy_from_slice(self.pre_mean[step]);
            pre.var.copy_from_slice(self.pre_var[step]);
            let (mean_before, mean) = self.state_mean.split_at_mut(step);
            let (var_before, var) = self.state_var.split_at_mut(step);
            let last = Planes {
                mean: mean_before.last().map_or(&start, |mean| mean),
                var: var_before.last().map_or(&start, |var| var),
            };
            connection.forward(last, PlanesMut::halves(&mut noisy), pre.reborrow());
            let state = PlanesMut { mean: &mut *mean[0], var: &mut *var[0] };
            cell.forward(pre.as_planes(), &mut memory, state, self.traces[step % depth]);
        }
    }
}

/// One block of lanes on its way backwards.
struct Backward<'a, T> {
    traces: Vec<&'a [T]>,
    state_mean: Vec<&'a [f32]>,
    grad_state_mean: Vec<&'a [f32]>,
    grad_state_var: Vec<&'a [f32]>,
    grad_pre_mean: Vec<&'a mut [f32]>,
    grad_pre_var: Vec<&'a mut [f32]>,
}

/// Writes the gradient for the pre-activations, [steps, lanes, rows] each, from that for the states.
pub(super) fn backward<C: Cell>(
    layer: &Recurrence,
    cell: &C,
    connection: &Connection<'_>,
    (traces, state): (&[C::Trace], Planes<'_>),
    grad_state: Planes<'_>,
    grad_pre: PlanesMut<'_>,
    lanes: usize,
) {
    let (rows, units) = (layer.rows(), layer.units);
    let kept = lane_blocks(traces, lanes, units).into_iter().zip(lane_blocks(state.mean, lanes, units));
    let given =
        lane_blocks(grad_state.mean, lanes, units).into_iter().zip(lane_blocks(grad_state.var, lanes, units));
    let wanted = lane_blocks_mut(grad_pre.mean, lanes, rows).into_iter().zip(lane_blocks_mut(
        grad_pre.var,
        lanes,
        rows,
    ));
    let blocks = kept.zip(given).zip(wanted).map(
        |(((traces, state_mean), (grad_state_mean, grad_state_var)), (grad_pre_mean, grad_pre_var))| {
            Backward { traces, state_mean, grad_state_mean, grad_state_var, grad_pre_mean, grad_pre_var }
        },
    );
    parallel::for_each(layer.threads, blocks, |block| block.run(cell, connection));
}

impl<T> Backward<'_, T> {
    fn run<C: Cell<Trace = T>>(mut self, cell: &C, connection: &Connection<'_>) {
        let units = self.state_mean.first().map_or(0, |state| state.len());
        let mut grad_memory = vec![Gradient::default(); units];
        let mut carried = vec![0.0; 2 * units];
        for step in (0..self.traces.len()).rev() {
            let mut grad_state = PlanesMut::halves(&mut carried);
            add(grad_state.mean, self.grad_state_mean[step]);
            add(grad_state.var, self.grad_state_var[step]);
            let mut grad_pre =
                PlanesMut { mean: &mut *self.grad_pre_mean[step], var: &mut *self.grad_pre_var[step] };
            cell.backward(self.traces[step], grad_state.as_planes(), &mut grad_memory, grad_pre.reborrow());
            if let Some(before) = step.checked_sub(1) {
                connection.backward(grad_pre.as_planes(), self.state_mean[before], grad_state.reborrow());
            }
        }
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
