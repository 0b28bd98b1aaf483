//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2):
//! i, f, o = σ(·), g = tanh(·), c_t = f⊙c_{t−1} + i⊙g, h_t = o⊙tanh(c_t).

use quaver::moments::{Jacobian, Moments, product};

use super::cell::{Cell, Gradient, Transfer};
use super::{Planes, PlanesMut};

/// Pre-activations per unit, in the order input gate, forget gate, cell input, output gate.
const GATES: usize = 4;

/// An LSTM with the moments of its two transfer functions.
pub(super) struct Lstm {
    pub(super) sigmoid: Transfer,
    pub(super) tanh: Transfer,
}

/// A value and the derivatives of the function that made it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Traced {
    value: Moments,
    jacobian: Jacobian,
}

impl Traced {
    fn new((value, jacobian): (Moments, Jacobian)) -> Self {
        Traced { value, jacobian }
    }
}

/// One step of one unit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LstmTrace {
    input_gate: Traced,
    forget_gate: Traced,
    cell_input: Traced,
    output_gate: Traced,
    squashed_cell: Traced,
    cell_before: Moments,
}

impl Cell for Lstm {
    type Trace = LstmTrace;

    fn forward(
        &self,
        pre: Planes<'_>,
        memory: &mut [Moments],
        state: PlanesMut<'_>,
        traces: &mut [LstmTrace],
    ) {
        for (unit, (cell, trace)) in memory.iter_mut().zip(traces).enumerate() {
            let gate = GATES * unit;
            trace.input_gate = Traced::new((self.sigmoid)(pre.at(gate)));
            trace.forget_gate = Traced::new((self.sigmoid)(pre.at(gate + 1)));
            trace.cell_input = Traced::new((self.tanh)(pre.at(gate + 2)));
            trace.output_gate = Traced::new((self.sigmoid)(pre.at(gate + 3)));
            trace.cell_before = *cell;
            let kept = product(trace.forget_gate.value, *cell);
            let added = product(trace.input_gate.value, trace.cell_input.value);
            *cell = Moments { mean: kept.mean + added.mean, var: kept.var + added.var };
            trace.squashed_cell = Traced::new((self.tanh)(*cell));
            let hidden = product(trace.output_gate.value, trace.squashed_cell.value);
            state.mean[unit] = hidden.mean;
            state.var[unit] = hidden.var;
        }
    }

    fn backward(
        &self,
        traces: &[LstmTrace],
        grad_state: Planes<'_>,
        grad_memory: &mut [Gradient],
        mut grad_pre: PlanesMut<'_>,
    ) {
        for (unit, (grad_cell, trace)) in grad_memory.iter_mut().zip(traces).enumerate() {
            let grad_hidden = Gradient { mean: grad_state.mean[unit], var: grad_state.var[unit] };
            let grads = trace.backward(grad_hidden, grad_cell);
            for (gate, grad) in grads.into_iter().enumerate() {
                grad_pre.set(GATES * unit + gate, grad);
            }
        }
    }
}

impl LstmTrace {
    /// The gradient for the four pre-activations; `grad_cell` turns from that for c_t into that for c_{t−1}.
    fn backward(&self, grad_hidden: Gradient, grad_cell: &mut Gradient) -> [Gradient; GATES] {
        let (input, forget) = (self.input_gate, self.forget_gate);
        let (cell_input, output, squashed) = (self.cell_input, self.output_gate, self.squashed_cell);
        let grad_output = grad_hidden.through_product(output.value, squashed.value);
        let grad_squashed = grad_hidden.through_product(squashed.value, output.value);
        let grad = *grad_cell + grad_squashed.through(squashed.jacobian);
        *grad_cell = grad.through_product(self.cell_before, forget.value);
        [
            grad.through_product(input.value, cell_input.value).through(input.jacobian),
            grad.through_product(forget.value, self.cell_before).through(forget.jacobian),
            grad.through_product(cell_input.value, input.value).through(cell_input.jacobian),
            grad_output.through(output.jacobian),
        ]
    }
}
