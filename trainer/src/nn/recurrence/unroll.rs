//! A layer unrolled over time, in blocks of lanes, forward and backward.

use super::cell::{RecurrentCell, StepGradients, StepInput, StepOutput};
use super::connection::{Connection, NoiseGradient, Scratch};
use super::gates::GateOrder;
use super::lane_block::{LaneBlock, lane_block, lane_block_mut};
use super::{LayerInput, LayerTape, MomentSlices, MomentSlicesMut, Recurrence, RecurrentWeights};
use crate::nn::parallel::{self, lane_blocks, lane_blocks_mut};

/// Whether a forward pass keeps the traces that a backward pass needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Traces {
    /// Traces of every step are kept.
    Keep,
    /// Traces are overwritten from step to step.
    Discard,
}

/// A layer prepared for one batch.
struct Unrolled<'a, C> {
    cell: &'a C,
    /// None for a layer without recurrence.
    connection: Option<Connection>,
    units: usize,
    rows: usize,
    /// Biases of the state's share of the gates that are given in two, means then variances.
    state_bias: Vec<f32>,
    /// Factor β on the variance of the states.
    variance_scale: f32,
    /// Whether gradients for the noise and for β are needed.
    learned: bool,
}

impl<'a, C: RecurrentCell> Unrolled<'a, C> {
    const ORDER: GateOrder = GateOrder(C::GATES);

    /// Gradients that a step has for the state before it, the affine map aside, per unit.
    const DIRECT: usize = if C::READS_STATE { 1 } else { 0 };

    fn new(layer: &Recurrence, cell: &'a C, input: LayerInput<'_>) -> Self {
        let Recurrence { units, noise, variance_scale, learned, certain, .. } = *layer;
        let recurrent = !input.weights.mean.is_empty();
        let connection =
            recurrent.then(|| Connection::new(input.weights, units, Self::ORDER, noise, certain));
        let RecurrentWeights { bias, bias_var, .. } = input.weights;
        debug_assert_eq!(bias.len(), C::APART * units);
        let state_bias = [bias, bias_var.unwrap_or(&vec![0.0; bias.len()])].concat();
        Unrolled { cell, connection, units, rows: layer.rows(), state_bias, variance_scale, learned }
    }
}

/// Initial state and memory, [2, lanes, units]: carried over, or zero.
fn starts(input: LayerInput<'_>, units: usize) -> (Vec<f32>, Vec<f32>) {
    let zeros = || vec![0.0; 2 * input.lanes * units];
    input.start.map_or_else(|| (zeros(), zeros()), |start| (start.state.clone(), start.memory.clone()))
}

/// The forward pass of one block of lanes.
struct ForwardBlock<'a> {
    pre: LaneBlock<&'a [f32]>,
    state: LaneBlock<&'a mut [f32]>,
    traces: Vec<&'a mut [f32]>,
    /// One step each.
    start: LaneBlock<&'a [f32]>,
    memory: LaneBlock<&'a mut [f32]>,
}

/// States [2, steps, lanes, units] and the tape.
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
        let mut share = vec![0.0; 2 * lanes * C::APART * self.units];
        let mut share = MomentSlicesMut::halves(&mut share);
        let mut memory = block.memory.at(0);
        let depth = block.traces.len();
        for step in 0..block.pre.mean.len() {
            self.gather(block.pre.mean[step], pre.mean);
            self.gather(block.pre.var[step], pre.var);
            self.split(pre.reborrow(), share.reborrow());
            let (before, mut state) = block.state.around(step, start);
            if let Some(connection) = &self.connection {
                connection.forward(before, &mut scratch, pre.reborrow());
            }
            let traces = block.traces[step % depth].chunks_exact_mut(C::TRACE * self.units);
            for (lane, trace) in traces.enumerate() {
                let (memory, state) = (memory.lane(lane, self.units), state.lane(lane, self.units));
                let output = StepOutput { memory, state, trace };
                let input = StepInput {
                    pre: pre.as_slices().lane(lane, self.rows),
                    input_share: share.as_slices().lane(lane, C::APART * self.units),
                    before: before.lane(lane, self.units),
                };
                self.cell.forward(input, output);
            }
            self.scale(state.var);
        }
    }

    /// Moves the input's share of the gates that are given in two out of `pre`, and puts the state's biases
    /// there.
    fn split(&self, pre: MomentSlicesMut<'_>, share: MomentSlicesMut<'_>) {
        if C::APART == 0 {
            return;
        }
        let bias = MomentSlices::halves(&self.state_bias);
        let planes = [(pre.mean, share.mean, bias.mean), (pre.var, share.var, bias.var)];
        for (pre, share, bias) in planes {
            for (pre, share) in pre.chunks_exact_mut(self.rows).zip(share.chunks_exact_mut(bias.len())) {
                let apart = &mut pre[self.rows - bias.len()..];
                share.copy_from_slice(apart);
                apart.copy_from_slice(bias);
            }
        }
    }

    /// Puts the gradient for the input's share in the place of that for the state's.
    fn join(&self, grad_pre: MomentSlicesMut<'_>, grad_share: MomentSlices<'_>) {
        let apart = C::APART * self.units;
        for (pre, share) in [(grad_pre.mean, grad_share.mean), (grad_pre.var, grad_share.var)] {
            for (pre, share) in pre.chunks_exact_mut(self.rows).zip(share.chunks_exact(apart)) {
                pre[self.rows - apart..].copy_from_slice(share);
            }
        }
    }

    /// V[y′] = β V[y] (Bayer 2015, thesis, 2.6.1); the same factor applies to gradients.
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

    /// Gradients of both moments of all lanes, from gate by gate to unit by unit.
    fn write(&self, by_gate: MomentSlices<'_>, by_unit: MomentSlicesMut<'_>) {
        self.scatter(by_gate.mean, by_unit.mean);
        self.scatter(by_gate.var, by_unit.var);
    }

    fn scatter(&self, by_gate: &[f32], by_unit: &mut [f32]) {
        for (by_gate, by_unit) in by_gate.chunks_exact(self.rows).zip(by_unit.chunks_exact_mut(self.rows)) {
            Self::ORDER.scatter(by_gate, by_unit);
        }
    }
}

/// The backward pass of one block of lanes.
struct BackwardBlock<'a> {
    traces: Vec<&'a [f32]>,
    state: LaneBlock<&'a [f32]>,
    start: LaneBlock<&'a [f32]>,
    grad_state: LaneBlock<&'a [f32]>,
    grad_pre: LaneBlock<&'a mut [f32]>,
    /// Of no steps if it is the same.
    grad_state_share: LaneBlock<&'a mut [f32]>,
    /// For the coefficients of the noise and for β.
    by_noise: &'a mut NoiseGradient,
    by_scale: &'a mut f64,
}

/// Gradients of a whole pass but for those of the recurrent weights.
pub(super) struct PreGradients {
    /// For the input's share of the pre-activations, [2, steps, lanes, rows].
    pub(super) input: Vec<f32>,
    /// For the state's share; empty if it is the same, which it is unless a gate is given in two shares.
    pub(super) state: Vec<f32>,
    /// For noise and β.
    pub(super) coefficients: [f32; 5],
}

/// Gradients for the pre-activations, for noise and for β, from those for the states.
pub(super) fn backward<C: RecurrentCell>(
    layer: &Recurrence,
    cell: &C,
    input: LayerInput<'_>,
    (traces, state): (&[f32], MomentSlices<'_>),
    grad_state: MomentSlices<'_>,
) -> PreGradients {
    let lanes = input.lanes;
    let unrolled = Unrolled::new(layer, cell, input);
    let (rows, units, trace) = (unrolled.rows, unrolled.units, C::TRACE * unrolled.units);
    let mut grad_pre = vec![0.0; 2 * state.mean.len() / units * rows];
    let mut grad_state_share = vec![0.0; if C::APART > 0 { grad_pre.len() } else { 0 }];
    let start = starts(input, units).0;
    let mut sums = vec![(NoiseGradient::default(), 0.0); lanes.div_ceil(parallel::LANES_PER_BLOCK)];
    let kept = lane_blocks(traces, lanes, trace)
        .into_iter()
        .zip(lane_block(state, lanes, units))
        .zip(lane_block(MomentSlices::halves(&start), lanes, units));
    let wanted = lane_block_mut(MomentSlicesMut::halves(&mut grad_pre), lanes, rows)
        .zip(lane_block_mut(MomentSlicesMut::halves(&mut grad_state_share), lanes, rows))
        .zip(&mut sums);
    let blocks = kept.zip(lane_block(grad_state, lanes, units)).zip(wanted).map(
        |((((traces, state), start), grad_state), ((grad_pre, grad_state_share), (by_noise, by_scale)))| {
            BackwardBlock { traces, state, start, grad_state, grad_pre, grad_state_share, by_noise, by_scale }
        },
    );
    parallel::for_each(layer.threads, blocks, |block| unrolled.backward(block));
    PreGradients { input: grad_pre, state: grad_state_share, coefficients: total(&sums) }
}

/// The sums over all blocks, in order.
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
        let (mut grad_share, mut grad_before) =
            (zeros(C::APART * self.units), zeros(Self::DIRECT * self.units));
        let (mut grad_share, mut grad_before) =
            (MomentSlicesMut::halves(&mut grad_share), MomentSlicesMut::halves(&mut grad_before));
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
            let before = step.checked_sub(1).map_or(block.start.at(0), |before| block.state.at(before));
            for (lane, trace) in block.traces[step].chunks_exact(C::TRACE * self.units).enumerate() {
                let grads = StepGradients {
                    state: grad_state.as_slices().lane(lane, self.units),
                    memory: grad_memory.lane(lane, self.units),
                    pre: grad_pre.lane(lane, self.rows),
                    input_share: grad_share.lane(lane, C::APART * self.units),
                    before: grad_before.lane(lane, Self::DIRECT * self.units),
                };
                self.cell.backward(trace, before.lane(lane, self.units), grads);
            }
            // The gradient for the initial state is not needed, but that of the noise on it is.
            if let Some(connection) = self.connection.as_ref().filter(|_| step > 0 || self.learned) {
                let by_noise = self.learned.then_some(&mut *block.by_noise);
                let through_map = grad_state.reborrow();
                connection.backward(grad_pre.as_slices(), before, &mut scratch, through_map, by_noise);
                add(grad_state.mean, grad_before.mean);
                add(grad_state.var, grad_before.var);
            } else {
                grad_state.mean.fill(0.0);
                grad_state.var.fill(0.0);
            }
            if C::APART > 0 {
                self.write(grad_pre.as_slices(), block.grad_state_share.at(step));
                self.join(grad_pre.reborrow(), grad_share.as_slices());
            }
            self.write(grad_pre.as_slices(), block.grad_pre.at(step));
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
