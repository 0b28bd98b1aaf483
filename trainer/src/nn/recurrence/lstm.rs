//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2):
//! i, f, o = σ(·), g = tanh(·), c_t = f⊙c_{t−1} + i⊙g, h_t = o⊙tanh(c_t).

use quaver::moments::{Moments, product};

use super::activation::{ActivationFn, Derivatives, DerivativesMut};
use super::cell::Cell;
use super::{MomentSlices, MomentSlicesMut};
use crate::nn::vectorised::{self, Kernel, Processor};

/// An LSTM with its two activation functions.
pub(super) struct Lstm {
    pub(super) sigmoid: ActivationFn,
    pub(super) tanh: ActivationFn,
}

/// MomentSlices of all gates: two of moments, four of derivatives.
const GATE_PLANES: usize = 6 * 4;

/// Positions of the gates among the pre-activations: those that are squashed alike stand together.
const INPUT: usize = 0;
const FORGET: usize = 1;
const OUTPUT: usize = 2;
const CELL_INPUT: usize = 3;

/// What a step leaves behind, cut into its parts.
struct Trace<'a> {
    /// Moments of the gates, four planes of means and four of variances.
    gates: MomentSlices<'a>,
    gate_slopes: Derivatives<'a>,
    /// Moments of tanh(c_t).
    squashed: MomentSlices<'a>,
    squash_slopes: Derivatives<'a>,
    /// Moments of c_{t−1}.
    before: MomentSlices<'a>,
}

impl Cell for Lstm {
    /// Moments and derivatives of the four gates and of the squashed cell, moments of the cell before.
    const TRACE: usize = GATE_PLANES + 6 + 2;
    const GATES: &'static [usize] = &[0, 1, 3, 2];

    fn forward(
        &self,
        pre: MomentSlices<'_>,
        mut memory: MomentSlicesMut<'_>,
        state: MomentSlicesMut<'_>,
        trace: &mut [f32],
    ) {
        let units = memory.mean.len();
        let (gates, rest) = trace.split_at_mut(GATE_PLANES * units);
        let (squashed, before) = rest.split_at_mut(6 * units);
        let before = MomentSlicesMut::halves(before);
        before.mean.copy_from_slice(memory.mean);
        before.var.copy_from_slice(memory.var);
        let gates = self.squash_gates(pre, gates);
        vectorised::run(Remember { gates, before: before.as_slices(), memory: memory.reborrow() });
        let (value, slopes) = squashed.split_at_mut(2 * units);
        let mut value = MomentSlicesMut::halves(value);
        (self.tanh)(memory.as_slices(), value.reborrow(), DerivativesMut::quarters(slopes));
        vectorised::run(Emit { gate: gates.lane(OUTPUT, units), squashed: value.as_slices(), state });
    }

    fn backward(
        &self,
        trace: &[f32],
        grad_state: MomentSlices<'_>,
        grad_memory: MomentSlicesMut<'_>,
        grad_pre: MomentSlicesMut<'_>,
    ) {
        let trace = Trace::new(trace, grad_state.mean.len());
        vectorised::run(Backpropagate { trace, grad_state, grad_memory, grad_pre });
    }
}

/// c_t = f⊙c_{t−1} + i⊙g.
struct Remember<'a> {
    gates: MomentSlices<'a>,
    before: MomentSlices<'a>,
    memory: MomentSlicesMut<'a>,
}

impl Kernel for Remember<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.before.mean.len();
        let gate = |gate| self.gates.lane(gate, units).first(units);
        let (input, forget, cell_input) = (gate(INPUT), gate(FORGET), gate(CELL_INPUT));
        let (before, mut memory) = (self.before.first(units), self.memory.first(units));
        for unit in 0..units {
            let kept = product(forget.at(unit), before.at(unit));
            let added = product(input.at(unit), cell_input.at(unit));
            memory.put(unit, Moments { mean: kept.mean + added.mean, var: kept.var + added.var });
        }
    }
}

/// h_t = o⊙tanh(c_t).
struct Emit<'a> {
    gate: MomentSlices<'a>,
    squashed: MomentSlices<'a>,
    state: MomentSlicesMut<'a>,
}

impl Kernel for Emit<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.gate.mean.len();
        let (gate, squashed) = (self.gate.first(units), self.squashed.first(units));
        let mut state = self.state.first(units);
        for unit in 0..units {
            state.put(unit, product(gate.at(unit), squashed.at(unit)));
        }
    }
}

/// All gradients of one step.
struct Backpropagate<'a> {
    trace: Trace<'a>,
    grad_state: MomentSlices<'a>,
    grad_memory: MomentSlicesMut<'a>,
    grad_pre: MomentSlicesMut<'a>,
}

impl Kernel for Backpropagate<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.grad_state.mean.len();
        let [input, forget, output, cell_input] =
            [INPUT, FORGET, OUTPUT, CELL_INPUT].map(|gate| self.trace.gate(gate, units));
        let (before, squashed) = (self.trace.before.first(units), self.trace.squashed.first(units));
        let squash_slopes = self.trace.squash_slopes.first(units);
        let grad_state = self.grad_state.first(units);
        let mut grad_memory = self.grad_memory.first(units);
        let [mut grad_input, mut grad_forget, mut grad_output, mut grad_cell_input] =
            self.grad_pre.quarters().map(|plane| plane.first(units));
        for unit in 0..units {
            let [i, f, o, g] = [input, forget, output, cell_input].map(|(gate, _)| gate.at(unit));
            let (before, squashed) = (before.at(unit), squashed.at(unit));
            let grad_hidden = grad_state.gradient(unit);
            let grad_squashed = grad_hidden.through_product(squashed, o);
            let grad_cell = grad_memory.as_slices().gradient(unit) + squash_slopes.pull(unit, grad_squashed);
            grad_memory.set(unit, grad_cell.through_product(before, f));
            grad_input.set(unit, input.1.pull(unit, grad_cell.through_product(i, g)));
            grad_forget.set(unit, forget.1.pull(unit, grad_cell.through_product(f, before)));
            grad_output.set(unit, output.1.pull(unit, grad_hidden.through_product(o, squashed)));
            grad_cell_input.set(unit, cell_input.1.pull(unit, grad_cell.through_product(g, i)));
        }
    }
}

impl Lstm {
    /// Squashes all gates into their part of the trace and returns their moments.
    fn squash_gates<'a>(&self, pre: MomentSlices<'_>, trace: &'a mut [f32]) -> MomentSlices<'a> {
        let all = pre.mean.len();
        let sigmoids = CELL_INPUT * all / 4;
        let (value, slopes) = trace.split_at_mut(2 * all);
        let (gates, cell_input) = MomentSlicesMut::halves(value).split_at(sigmoids);
        let (gate_slopes, cell_input_slopes) = DerivativesMut::quarters(slopes).split_at(sigmoids);
        let (pre_gates, pre_cell_input) = pre.split_at(sigmoids);
        (self.sigmoid)(pre_gates, gates, gate_slopes);
        (self.tanh)(pre_cell_input, cell_input, cell_input_slopes);
        MomentSlices::halves(value)
    }
}

impl<'a> Trace<'a> {
    fn new(trace: &'a [f32], units: usize) -> Self {
        let (gates, rest) = trace.split_at(GATE_PLANES * units);
        let (gates, gate_slopes) = gates.split_at(2 * 4 * units);
        let (squashed, before) = rest.split_at(6 * units);
        let (squashed, squash_slopes) = squashed.split_at(2 * units);
        Trace {
            gates: MomentSlices::halves(gates),
            gate_slopes: Derivatives::quarters(gate_slopes),
            squashed: MomentSlices::halves(squashed),
            squash_slopes: Derivatives::quarters(squash_slopes),
            before: MomentSlices::halves(before),
        }
    }

    /// Moments and derivatives of one gate.
    #[inline(always)]
    fn gate(&self, gate: usize, units: usize) -> (MomentSlices<'a>, Derivatives<'a>) {
        (self.gates.lane(gate, units).first(units), self.gate_slopes.part(gate, units).first(units))
    }
}
