//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2):
//! i, f, o = σ(·), g = tanh(·), c_t = f⊙c_{t−1} + i⊙g, h_t = o⊙tanh(c_t).

use quaver::moments::{Moments, product};

use super::activation::{ActivationFn, Derivatives, DerivativesMut};
use super::cell::{RecurrentCell, StepGradients, StepInput};
use super::{MomentSlices, MomentSlicesMut};
use crate::nn::vectorised::{self, Kernel, Processor};

/// An LSTM with its two activation functions.
pub(super) struct Lstm {
    pub(super) sigmoid: ActivationFn,
    pub(super) tanh: ActivationFn,
}

/// Slices of all gates: two of moments and four of derivatives each.
const GATE_PLANES: usize = 6 * 4;

/// Positions of the gates among the pre-activations: gates with the same activation are adjacent.
const INPUT: usize = 0;
const FORGET: usize = 1;
const OUTPUT: usize = 2;
const CELL_INPUT: usize = 3;

/// The trace of a step, split into its parts.
struct Trace<'a> {
    /// Moments of the gates, four slices of means and four of variances.
    gates: MomentSlices<'a>,
    gate_derivatives: Derivatives<'a>,
    /// Moments of tanh(c_t).
    activated: MomentSlices<'a>,
    activation_derivatives: Derivatives<'a>,
    /// Moments of c_{t−1}.
    before: MomentSlices<'a>,
}

impl RecurrentCell for Lstm {
    /// Moments and derivatives of the four gates and of tanh(c_t), moments of c_{t−1}.
    const TRACE: usize = GATE_PLANES + 6 + 2;
    const GATES: &'static [usize] = &[0, 1, 3, 2];
    const APART: usize = 0;
    const READS_STATE: bool = false;

    fn forward(
        &self,
        input: StepInput<'_>,
        mut memory: MomentSlicesMut<'_>,
        state: MomentSlicesMut<'_>,
        trace: &mut [f32],
    ) {
        let units = memory.mean.len();
        let (gates, rest) = trace.split_at_mut(GATE_PLANES * units);
        let (activated, before) = rest.split_at_mut(6 * units);
        let before = MomentSlicesMut::halves(before);
        before.mean.copy_from_slice(memory.mean);
        before.var.copy_from_slice(memory.var);
        let gates = self.activate_gates(input.pre, gates);
        vectorised::run(UpdateCellState { gates, before: before.as_slices(), memory: memory.reborrow() });
        let (value, derivatives) = activated.split_at_mut(2 * units);
        let mut value = MomentSlicesMut::halves(value);
        (self.tanh)(memory.as_slices(), value.reborrow(), DerivativesMut::quarters(derivatives));
        vectorised::run(UpdateHiddenState {
            gate: gates.lane(OUTPUT, units),
            activated: value.as_slices(),
            state,
        });
    }

    fn backward(
        &self,
        trace: &[f32],
        _before: MomentSlices<'_>,
        grad_state: MomentSlices<'_>,
        grads: StepGradients<'_>,
    ) {
        let trace = Trace::new(trace, grad_state.mean.len());
        let StepGradients { memory: grad_memory, pre: grad_pre, .. } = grads;
        vectorised::run(LstmBackward { trace, grad_state, grad_memory, grad_pre });
    }
}

/// c_t = f⊙c_{t−1} + i⊙g.
struct UpdateCellState<'a> {
    gates: MomentSlices<'a>,
    before: MomentSlices<'a>,
    memory: MomentSlicesMut<'a>,
}

impl Kernel for UpdateCellState<'_> {
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
struct UpdateHiddenState<'a> {
    gate: MomentSlices<'a>,
    activated: MomentSlices<'a>,
    state: MomentSlicesMut<'a>,
}

impl Kernel for UpdateHiddenState<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.gate.mean.len();
        let (gate, activated) = (self.gate.first(units), self.activated.first(units));
        let mut state = self.state.first(units);
        for unit in 0..units {
            state.put(unit, product(gate.at(unit), activated.at(unit)));
        }
    }
}

/// All gradients of one step.
struct LstmBackward<'a> {
    trace: Trace<'a>,
    grad_state: MomentSlices<'a>,
    grad_memory: MomentSlicesMut<'a>,
    grad_pre: MomentSlicesMut<'a>,
}

impl Kernel for LstmBackward<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.grad_state.mean.len();
        let [input, forget, output, cell_input] =
            [INPUT, FORGET, OUTPUT, CELL_INPUT].map(|gate| self.trace.gate(gate, units));
        let (before, activated) = (self.trace.before.first(units), self.trace.activated.first(units));
        let activation_derivatives = self.trace.activation_derivatives.first(units);
        let grad_state = self.grad_state.first(units);
        let mut grad_memory = self.grad_memory.first(units);
        let [mut grad_input, mut grad_forget, mut grad_output, mut grad_cell_input] =
            self.grad_pre.quarters().map(|plane| plane.first(units));
        for unit in 0..units {
            let [i, f, o, g] = [input, forget, output, cell_input].map(|(gate, _)| gate.at(unit));
            let (before, activated) = (before.at(unit), activated.at(unit));
            let grad_hidden = grad_state.gradient(unit);
            let grad_activated = grad_hidden.through_product(activated, o);
            let grad_cell = grad_memory.as_slices().gradient(unit)
                + activation_derivatives.backward(unit, grad_activated);
            grad_memory.set(unit, grad_cell.through_product(before, f));
            grad_input.set(unit, input.1.backward(unit, grad_cell.through_product(i, g)));
            grad_forget.set(unit, forget.1.backward(unit, grad_cell.through_product(f, before)));
            grad_output.set(unit, output.1.backward(unit, grad_hidden.through_product(o, activated)));
            grad_cell_input.set(unit, cell_input.1.backward(unit, grad_cell.through_product(g, i)));
        }
    }
}

impl Lstm {
    /// Applies the activations to all gates, into their part of the trace, and returns their moments.
    fn activate_gates<'a>(&self, pre: MomentSlices<'_>, trace: &'a mut [f32]) -> MomentSlices<'a> {
        let all = pre.mean.len();
        let sigmoids = CELL_INPUT * all / 4;
        let (value, derivatives) = trace.split_at_mut(2 * all);
        let (gates, cell_input) = MomentSlicesMut::halves(value).split_at(sigmoids);
        let (gate_derivatives, cell_input_derivatives) =
            DerivativesMut::quarters(derivatives).split_at(sigmoids);
        let (pre_gates, pre_cell_input) = pre.split_at(sigmoids);
        (self.sigmoid)(pre_gates, gates, gate_derivatives);
        (self.tanh)(pre_cell_input, cell_input, cell_input_derivatives);
        MomentSlices::halves(value)
    }
}

impl<'a> Trace<'a> {
    fn new(trace: &'a [f32], units: usize) -> Self {
        let (gates, rest) = trace.split_at(GATE_PLANES * units);
        let (gates, gate_derivatives) = gates.split_at(2 * 4 * units);
        let (activated, before) = rest.split_at(6 * units);
        let (activated, activation_derivatives) = activated.split_at(2 * units);
        Trace {
            gates: MomentSlices::halves(gates),
            gate_derivatives: Derivatives::quarters(gate_derivatives),
            activated: MomentSlices::halves(activated),
            activation_derivatives: Derivatives::quarters(activation_derivatives),
            before: MomentSlices::halves(before),
        }
    }

    /// Moments and derivatives of one gate.
    #[inline(always)]
    fn gate(&self, gate: usize, units: usize) -> (MomentSlices<'a>, Derivatives<'a>) {
        (self.gates.lane(gate, units).first(units), self.gate_derivatives.part(gate, units).first(units))
    }
}
