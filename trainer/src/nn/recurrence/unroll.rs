//! A layer unrolled over time, block of lanes by block of lanes, forwards and backwards.

use super::cell::Cell;
use super::connection::Connection;
use super::gates::GateOrder;
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

/// A layer made ready for one batch.
struct Unrolled<'a, C> {
    cell: &'a C,
    connection: Connection,
    units: usize,
    rows: usize,
    /// Factor β on the variance of the states.
    variance_scale: f32,
}

impl<'a, C: Cell> Unrolled<'a, C> {
    const ORDER: GateOrder = GateOrder(C::GATES);

    fn new(layer: &Recurrence, cell: &'a C, weight: &[f32]) -> Self {
        let Recurrence { units, noise, variance_scale, .. } = *layer;
        let connection = Connection::new(weight, units, Self::ORDER, noise);
        Unrolled { cell, connection, units, rows: layer.rows(), variance_scale }
    }
}

/// One block of lanes on its way forwards: `[step]` slices of what it reads and writes.
struct Forward<'a> {
    pre_mean: Vec<&'a [f32]>,
    pre_var: Vec<&'a [f32]>,
    state_mean: Vec<&'a mut [f32]>,
    state_var: Vec<&'a mut [f32]>,
    traces: Vec<&'a mut [f32]>,
}

/// States [2, steps, lanes, units] and traces from the input's share of the pre-activations.
pub(super) fn forward<C: Cell>(
    layer: &Recurrence,
    cell: &C,
    pre: Planes<'_>,
    weight: &[f32],
    lanes: usize,
    keep: Traces,
) -> (Vec<f32>, Vec<f32>) {
    let unrolled = Unrolled::new(layer, cell, weight);
    let (rows, units, trace) = (unrolled.rows, unrolled.units, C::TRACE * unrolled.units);
    let steps = pre.mean.len() / (lanes * rows);
    let depth = if keep == Traces::Keep { steps } else { steps.min(1) };
    let mut state = vec![0.0; 2 * steps * lanes * units];
    let mut traces = vec![0.0; depth * lanes * trace];
    let states = PlanesMut::halves(&mut state);
    let states =
        lane_blocks_mut(states.mean, lanes, units).into_iter().zip(lane_blocks_mut(states.var, lanes, units));
    let pres = lane_blocks(pre.mean, lanes, rows).into_iter().zip(lane_blocks(pre.var, lanes, rows));
    let blocks = states.zip(pres).zip(lane_blocks_mut(&mut traces, lanes, trace)).map(
        |(((state_mean, state_var), (pre_mean, pre_var)), traces)| Forward {
            pre_mean,
            pre_var,
            state_mean,
            state_var,
            traces,
        },
    );
    parallel::for_each(layer.threads, blocks, |block| unrolled.forward(block));
    (state, traces)
}

impl<C: Cell> Unrolled<'_, C> {
    fn forward(&self, mut block: Forward<'_>) {
        let lanes = block.state_mean.first().map_or(0, |state| state.len() / self.units);
        let zeros = |width: usize| vec![0.0; 2 * lanes * width];
        let (start, mut memory, mut noisy) = (zeros(self.units), zeros(self.units), zeros(self.units));
        let mut pre = zeros(self.rows);
        let (start, mut pre) = (Planes::halves(&start), PlanesMut::halves(&mut pre));
        let mut memory = PlanesMut::halves(&mut memory);
        let depth = block.traces.len();
        for step in 0..block.pre_mean.len() {
            self.gather(block.pre_mean[step], pre.mean);
            self.gather(block.pre_var[step], pre.var);
            let (mean_before, mean) = block.state_mean.split_at_mut(step);
            let (var_before, var) = block.state_var.split_at_mut(step);
            let last = Planes {
                mean: mean_before.last().map_or(start.mean, |mean| mean),
                var: var_before.last().map_or(start.var, |var| var),
            };
            self.connection.forward(last, PlanesMut::halves(&mut noisy), pre.reborrow());
            let mut state = PlanesMut { mean: &mut *mean[0], var: &mut *var[0] };
            let traces = block.traces[step % depth].chunks_exact_mut(C::TRACE * self.units);
            for (lane, trace) in traces.enumerate() {
                let (memory, state) = (memory.lane(lane, self.units), state.lane(lane, self.units));
                self.cell.forward(pre.as_planes().lane(lane, self.rows), memory, state, trace);
            }
            self.scale(state.var);
        }
    }

    /// V[y′] = β V[y] (Bayer 2015, thesis, 2.6.1); the same factor takes gradients back.
    fn scale(&self, variances: &mut [f32]) {
        if self.variance_scale != 1.0 {
            variances.iter_mut().for_each(|var| *var *= self.variance_scale);
        }
    }

    /// Pre-activations of all lanes, from unit by unit to gate by gate.
    fn gather(&self, by_unit: &[f32], by_gate: &mut [f32]) {
        for (by_unit, by_gate) in by_unit.chunks_exact(self.rows).zip(by_gate.chunks_exact_mut(self.rows)) {
            Self::ORDER.gather_values(by_unit, by_gate);
        }
    }

    /// Gradients of all lanes, from gate by gate to unit by unit.
    fn scatter(&self, by_gate: &[f32], by_unit: &mut [f32]) {
        for (by_gate, by_unit) in by_gate.chunks_exact(self.rows).zip(by_unit.chunks_exact_mut(self.rows)) {
            Self::ORDER.scatter(by_gate, by_unit);
        }
    }
}

/// One block of lanes on its way backwards.
struct Backward<'a> {
    traces: Vec<&'a [f32]>,
    state_mean: Vec<&'a [f32]>,
    grad_state_mean: Vec<&'a [f32]>,
    grad_state_var: Vec<&'a [f32]>,
    grad_pre_mean: Vec<&'a mut [f32]>,
    grad_pre_var: Vec<&'a mut [f32]>,
}

/// Gradients for the pre-activations, [2, steps, lanes, rows], from those for the states.
pub(super) fn backward<C: Cell>(
    layer: &Recurrence,
    cell: &C,
    (traces, state): (&[f32], Planes<'_>),
    weight: &[f32],
    grad_state: Planes<'_>,
    lanes: usize,
) -> Vec<f32> {
    let unrolled = Unrolled::new(layer, cell, weight);
    let (rows, units, trace) = (unrolled.rows, unrolled.units, C::TRACE * unrolled.units);
    let mut grad_pre = vec![0.0; 2 * state.mean.len() / units * rows];
    let wanted = PlanesMut::halves(&mut grad_pre);
    let wanted =
        lane_blocks_mut(wanted.mean, lanes, rows).into_iter().zip(lane_blocks_mut(wanted.var, lanes, rows));
    let kept = lane_blocks(traces, lanes, trace).into_iter().zip(lane_blocks(state.mean, lanes, units));
    let given =
        lane_blocks(grad_state.mean, lanes, units).into_iter().zip(lane_blocks(grad_state.var, lanes, units));
    let blocks = kept.zip(given).zip(wanted).map(
        |(((traces, state_mean), (grad_state_mean, grad_state_var)), (grad_pre_mean, grad_pre_var))| {
            Backward { traces, state_mean, grad_state_mean, grad_state_var, grad_pre_mean, grad_pre_var }
        },
    );
    parallel::for_each(layer.threads, blocks, |block| unrolled.backward(block));
    grad_pre
}

impl<C: Cell> Unrolled<'_, C> {
    fn backward(&self, mut block: Backward<'_>) {
        let lanes = block.state_mean.first().map_or(0, |state| state.len() / self.units);
        let zeros = |width: usize| vec![0.0; 2 * lanes * width];
        let (mut grad_state, mut grad_memory, mut grad_pre) =
            (zeros(self.units), zeros(self.units), zeros(self.rows));
        let (mut grad_state, mut grad_pre) =
            (PlanesMut::halves(&mut grad_state), PlanesMut::halves(&mut grad_pre));
        let mut grad_memory = PlanesMut::halves(&mut grad_memory);
        for step in (0..block.traces.len()).rev() {
            add(grad_state.mean, block.grad_state_mean[step]);
            add(grad_state.var, block.grad_state_var[step]);
            self.scale(grad_state.var);
            for (lane, trace) in block.traces[step].chunks_exact(C::TRACE * self.units).enumerate() {
                let (grad_memory, grad_pre) =
                    (grad_memory.lane(lane, self.units), grad_pre.lane(lane, self.rows));
                self.cell.backward(
                    trace,
                    grad_state.as_planes().lane(lane, self.units),
                    grad_memory,
                    grad_pre,
                );
            }
            self.scatter(grad_pre.mean, block.grad_pre_mean[step]);
            self.scatter(grad_pre.var, block.grad_pre_var[step]);
            if let Some(before) = step.checked_sub(1) {
                self.connection.backward(
                    grad_pre.as_planes(),
                    block.state_mean[before],
                    grad_state.reborrow(),
                );
            }
        }
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}
