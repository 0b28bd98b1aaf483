//! A layer unrolled over time, block of lanes by block of lanes, forwards and backwards.

use super::cell::RecurrentCell;
use super::connection::{Connection, NoiseGradient, Scratch};
use super::gates::GateOrder;
use super::lane_block::{LaneBlock, LaneBlockMut, lane_block, lane_block_mut};
use super::{LayerInput, LayerTape, MomentSlices, MomentSlicesMut, Recurrence};
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
    /// None in a layer without recurrence.
    connection: Option<Connection>,
    units: usize,
    rows: usize,
    /// Factor β on the variance of the states.
    variance_scale: f32,
    /// Whether gradients for the noise and for β are wanted.
    learned: bool,
}

impl<'a, C: RecurrentCell> Unrolled<'a, C> {
    const ORDER: GateOrder = GateOrder(C::GATES);

    fn new(layer: &Recurrence, cell: &'a C, input: LayerInput<'_>) -> Self {
        let Recurrence { units, noise, variance_scale, learned, .. } = *layer;
        let recurrent = !input.weights.mean.is_empty();
        let connection = recurrent.then(|| Connection::new(input.weights, units, Self::ORDER, noise));
        Unrolled { cell, connection, units, rows: layer.rows(), variance_scale, learned }
    }
}

/// What stands before the first step, [2, lanes, units]: what is carried over, or zero.
fn starts(input: LayerInput<'_>, units: usize) -> (Vec<f32>, Vec<f32>) {
    let zeros = || vec![0.0; 2 * input.lanes * units];
    input.start.map_or_else(|| (zeros(), zeros()), |start| (start.state.clone(), start.memory.clone()))
}

/// One block of lanes on its way forwards.
struct ForwardBlock<'a> {
    pre: LaneBlock<'a>,
    state: LaneBlockMut<'a>,
    traces: Vec<&'a mut [f32]>,
    /// One step each.
    start: LaneBlock<'a>,
    memory: LaneBlockMut<'a>,
}

/// States [2, steps, lanes, units] and what is left behind.
pub(super) fn forward<C: RecurrentCell>(
    layer: &Recurrence,
    cell: &C,
    input: LayerInput<'_>,
    keep: Traces,
) -> (Vec<f32>, LayerTape) {
    let LayerInput { pre, lanes, .. } = input;
    let unrolled = Unrolled::new(layer, cell, input);
    let (rows, units, trace) = (unrolled.rows, unrolled.units, C::TRACE * unrolled.units);
    let steps = pre.mean.len() / (lanes * rows);
    let depth = if keep == Traces::Keep { steps } else { steps.min(1) };
    let mut state = vec![0.0; 2 * steps * lanes * units];
    let mut traces = vec![0.0; depth * lanes * trace];
    let (start, mut memory) = starts(input, units);
    let written = lane_block_mut(MomentSlicesMut::halves(&mut state), lanes, units)
        .zip(lane_blocks_mut(&mut traces, lanes, trace))
        .zip(lane_block_mut(MomentSlicesMut::halves(&mut memory), lanes, units));
    let read = lane_block(pre, lanes, rows).zip(lane_block(MomentSlices::halves(&start), lanes, units));
    let blocks = read.zip(written).map(|((pre, start), ((state, traces), memory))| ForwardBlock {
        pre,
        state,
        traces,
        start,
        memory,
    });
    parallel::for_each(layer.threads, blocks, |block| unrolled.forward(block));
    (state, LayerTape { traces, memory })
}

impl<C: RecurrentCell> Unrolled<'_, C> {
    fn forward(&self, mut block: ForwardBlock<'_>) {
        let start = block.start.at(0);
        let lanes = start.mean.len() / self.units;
        let mut scratch = Scratch::new(lanes * self.units);
        let mut pre = vec![0.0; 2 * lanes * self.rows];
        let mut pre = MomentSlicesMut::halves(&mut pre);
        let mut memory = block.memory.at(0);
        let depth = block.traces.len();
        for step in 0..block.pre.mean.len() {
            self.gather(block.pre.mean[step], pre.mean);
            self.gather(block.pre.var[step], pre.var);
            let (before, mut state) = block.state.around(step, start);
            if let Some(connection) = &self.connection {
                connection.forward(before, &mut scratch, pre.reborrow());
            }
            let traces = block.traces[step % depth].chunks_exact_mut(C::TRACE * self.units);
            for (lane, trace) in traces.enumerate() {
                let (memory, state) = (memory.lane(lane, self.units), state.lane(lane, self.units));
                self.cell.forward(pre.as_slices().lane(lane, self.rows), memory, state, trace);
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
struct BackwardBlock<'a> {
    traces: Vec<&'a [f32]>,
    state: LaneBlock<'a>,
    start: LaneBlock<'a>,
    grad_state: LaneBlock<'a>,
    grad_pre: LaneBlockMut<'a>,
    /// For the coefficients of the noise and for β.
    by_noise: &'a mut NoiseGradient,
    by_scale: &'a mut f64,
}

/// Gradients for the pre-activations, [2, steps, lanes, rows], from those for the states; and those for noise and β.
pub(super) fn backward<C: RecurrentCell>(
    layer: &Recurrence,
    cell: &C,
    input: LayerInput<'_>,
    (traces, state): (&[f32], MomentSlices<'_>),
    grad_state: MomentSlices<'_>,
) -> (Vec<f32>, [f32; 5]) {
    let lanes = input.lanes;
    let unrolled = Unrolled::new(layer, cell, input);
    let (rows, units, trace) = (unrolled.rows, unrolled.units, C::TRACE * unrolled.units);
    let mut grad_pre = vec![0.0; 2 * state.mean.len() / units * rows];
    let start = starts(input, units).0;
    let mut sums = vec![(NoiseGradient::default(), 0.0); lanes.div_ceil(parallel::LANES_PER_BLOCK)];
    let kept = lane_blocks(traces, lanes, trace)
        .into_iter()
        .zip(lane_block(state, lanes, units))
        .zip(lane_block(MomentSlices::halves(&start), lanes, units));
    let wanted = lane_block_mut(MomentSlicesMut::halves(&mut grad_pre), lanes, rows).zip(&mut sums);
    let blocks = kept.zip(lane_block(grad_state, lanes, units)).zip(wanted).map(
        |((((traces, state), start), grad_state), (grad_pre, (by_noise, by_scale)))| BackwardBlock {
            traces,
            state,
            start,
            grad_state,
            grad_pre,
            by_noise,
            by_scale,
        },
    );
    parallel::for_each(layer.threads, blocks, |block| unrolled.backward(block));
    (grad_pre, total(&sums))
}

/// The sums of all blocks, in their order.
fn total(sums: &[(NoiseGradient, f64)]) -> [f32; 5] {
    let noise = |index: usize| sums.iter().map(|(noise, _)| noise.0[index]).sum::<f64>() as f32;
    let scale = sums.iter().map(|(_, scale)| scale).sum::<f64>() as f32;
    [noise(0), noise(1), noise(2), noise(3), scale]
}

impl<C: RecurrentCell> Unrolled<'_, C> {
    fn backward(&self, mut block: BackwardBlock<'_>) {
        let lanes = block.start.at(0).mean.len() / self.units;
        let zeros = |width: usize| vec![0.0; 2 * lanes * width];
        let (mut grad_state, mut grad_memory, mut grad_pre) =
            (zeros(self.units), zeros(self.units), zeros(self.rows));
        let (mut grad_state, mut grad_pre) =
            (MomentSlicesMut::halves(&mut grad_state), MomentSlicesMut::halves(&mut grad_pre));
        let mut grad_memory = MomentSlicesMut::halves(&mut grad_memory);
        let mut scratch = Scratch::new(lanes * self.units);
        for step in (0..block.traces.len()).rev() {
            add(grad_state.mean, block.grad_state.mean[step]);
            add(grad_state.var, block.grad_state.var[step]);
            if self.learned {
                // ∂(βv)/∂β = v = V[y′]/β.
                *block.by_scale +=
                    dot(grad_state.var, block.state.var[step]) / f64::from(self.variance_scale);
            }
            self.scale(grad_state.var);
            for (lane, trace) in block.traces[step].chunks_exact(C::TRACE * self.units).enumerate() {
                let (grad_memory, grad_pre) =
                    (grad_memory.lane(lane, self.units), grad_pre.lane(lane, self.rows));
                self.cell.backward(
                    trace,
                    grad_state.as_slices().lane(lane, self.units),
                    grad_memory,
                    grad_pre,
                );
            }
            let written = block.grad_pre.at(step);
            self.scatter(grad_pre.mean, written.mean);
            self.scatter(grad_pre.var, written.var);
            // Nobody asks for the gradient of the start, but noise on it has one.
            if let Some(connection) = self.connection.as_ref().filter(|_| step > 0 || self.learned) {
                let before = step.checked_sub(1).map_or(block.start.at(0), |before| block.state.at(before));
                let by_noise = self.learned.then_some(&mut *block.by_noise);
                let grad_before = grad_state.reborrow();
                connection.backward(grad_pre.as_slices(), before, &mut scratch, grad_before, by_noise);
            } else {
                grad_state.mean.fill(0.0);
                grad_state.var.fill(0.0);
            }
        }
    }
}

fn add(sums: &mut [f32], terms: &[f32]) {
    for (sum, term) in sums.iter_mut().zip(terms) {
        *sum += term;
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    f64::from(a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>())
}
