//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2):
//! i, f, o = σ(·), g = tanh(·), c_t = f⊙c_{t−1} + i⊙g, h_t = o⊙tanh(c_t).

use quaver::moments::{Moments, product};

use super::activation::{DerivativesMut, GateActivations};
use super::cell::{RecurrentCell, StepGradients, StepInput, StepOutput};
use super::trace::{GatedTrace, activate, split_trace};
use super::unit_function::{UnitFunction, for_each_unit};
use super::{MomentSlices, MomentSlicesMut};
use crate::nn::vectorised::{self, Kernel, Processor};

/// An LSTM with its two activation functions.
pub(super) struct Lstm(pub(super) GateActivations);

/// Gates, the cell's input among them.
const GATES: usize = 4;

/// Positions of the gates among the pre-activations: gates with the same activation are adjacent.
const INPUT: usize = 0;
const FORGET: usize = 1;
const OUTPUT: usize = 2;
const CELL_INPUT: usize = 3;

impl RecurrentCell for Lstm {
    /// Moments and derivatives of the four gates and of tanh(c_t), moments of c_{t−1}.
    const TRACE: usize = GatedTrace::len(GATES);
    const GATES: &'static [usize] = &[0, 1, 3, 2];
    const APART: usize = 0;
    const READS_STATE: bool = false;

    fn forward(&self, input: StepInput<'_>, output: StepOutput<'_>) {
        let StepOutput { mut memory, state, trace } = output;
        let units = memory.mean.len();
        let [gates, activated, before] = split_trace(trace, GATES, memory.as_slices());
        let before = MomentSlices::halves(before);
        let gates = self.activate_gates(input.pre, gates);
        let gate = |gate| gates.lane(gate, units);
        let operands = [gate(FORGET), before, gate(INPUT), gate(CELL_INPUT)];
        for_each_unit::<UpdateCellState, 4>(operands, memory.reborrow());
        let activated = activate(self.0.tanh, memory.as_slices(), activated);
        for_each_unit::<UpdateHiddenState, 2>([gate(OUTPUT), activated], state);
    }

    fn backward(&self, trace: &[f32], _before: MomentSlices<'_>, grads: StepGradients<'_>) {
        let StepGradients { state: grad_state, memory: grad_memory, pre: grad_pre, .. } = grads;
        let trace = GatedTrace::new(trace, GATES, grad_state.mean.len());
        vectorised::run(LstmBackward { trace, grad_state, grad_memory, grad_pre });
    }
}

/// c_t = f⊙c_{t−1} + i⊙g, of f, c_{t−1}, i and g.
struct UpdateCellState;

impl UnitFunction<4> for UpdateCellState {
    #[inline(always)]
    fn value([forget, before, input, cell_input]: [MomentSlices<'_>; 4], unit: usize) -> Moments {
        let kept = product(forget.at(unit), before.at(unit));
        let added = product(input.at(unit), cell_input.at(unit));
        Moments { mean: kept.mean + added.mean, var: kept.var + added.var }
    }
}

/// h_t = o⊙tanh(c_t), of o and tanh(c_t).
struct UpdateHiddenState;

impl UnitFunction<2> for UpdateHiddenState {
    #[inline(always)]
    fn value([gate, activated]: [MomentSlices<'_>; 2], unit: usize) -> Moments {
        product(gate.at(unit), activated.at(unit))
    }
}

/// All gradients of one step.
struct LstmBackward<'a> {
    trace: GatedTrace<'a>,
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
        let (before, activated) = (self.trace.kept.first(units), self.trace.activated.first(units));
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
        (self.0.sigmoid)(pre_gates, gates, gate_derivatives);
        (self.0.tanh)(pre_cell_input, cell_input, cell_input_derivatives);
        MomentSlices::halves(value)
    }
}
