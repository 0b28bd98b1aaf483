//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2):
//! i, f, o = σ(·), g = tanh(·), c_t = f⊙c_{t−1} + i⊙g, h_t = o⊙tanh(c_t).

use quaver::moments::{Moments, product};

use super::cell::Cell;
use super::transfer::{Slopes, SlopesMut, Sweep};
use super::{Planes, PlanesMut};

/// An LSTM with its two transfer functions.
pub(super) struct Lstm {
    pub(super) sigmoid: Sweep,
    pub(super) tanh: Sweep,
}

/// Planes of all gates: two of moments, four of derivatives.
const GATE_PLANES: usize = 6 * 4;

/// Positions of the gates among the pre-activations: those that are squashed alike stand together.
const INPUT: usize = 0;
const FORGET: usize = 1;
const OUTPUT: usize = 2;
const CELL_INPUT: usize = 3;

/// What a step leaves behind, cut into its parts.
struct Trace<'a> {
    /// Moments of the gates, four planes of means and four of variances.
    gates: Planes<'a>,
    gate_slopes: Slopes<'a>,
    /// Moments of tanh(c_t).
    squashed: Planes<'a>,
    squash_slopes: Slopes<'a>,
    /// Moments of c_{t−1}.
    before: Planes<'a>,
}

impl Cell for Lstm {
    /// Moments and derivatives of the four gates and of the squashed cell, moments of the cell before.
    const TRACE: usize = GATE_PLANES + 6 + 2;
    const GATES: &'static [usize] = &[0, 1, 3, 2];

    fn forward(
        &self,
        pre: Planes<'_>,
        mut memory: PlanesMut<'_>,
        mut state: PlanesMut<'_>,
        trace: &mut [f32],
    ) {
        let units = memory.mean.len();
        let (gates, rest) = trace.split_at_mut(GATE_PLANES * units);
        let (squashed, before) = rest.split_at_mut(6 * units);
        let before = PlanesMut::halves(before);
        before.mean.copy_from_slice(memory.mean);
        before.var.copy_from_slice(memory.var);
        let gates = self.squash_gates(pre, gates);
        for unit in 0..units {
            let gate = |gate: usize| gates.at(gate * units + unit);
            let kept = product(gate(FORGET), before.as_planes().at(unit));
            let added = product(gate(INPUT), gate(CELL_INPUT));
            memory.put(unit, Moments { mean: kept.mean + added.mean, var: kept.var + added.var });
        }
        let (value, slopes) = squashed.split_at_mut(2 * units);
        let mut value = PlanesMut::halves(value);
        (self.tanh)(memory.as_planes(), value.reborrow(), SlopesMut::quarters(slopes));
        for unit in 0..units {
            state.put(unit, product(gates.at(OUTPUT * units + unit), value.as_planes().at(unit)));
        }
    }

    fn backward(
        &self,
        trace: &[f32],
        grad_state: Planes<'_>,
        mut grad_memory: PlanesMut<'_>,
        mut grad_pre: PlanesMut<'_>,
    ) {
        let units = grad_state.mean.len();
        let trace = Trace::new(trace, units);
        for unit in 0..units {
            let gate = |gate: usize| trace.gates.at(gate * units + unit);
            let (before, squashed) = (trace.before.at(unit), trace.squashed.at(unit));
            let grad_hidden = grad_state.gradient(unit);
            let grad_squashed = grad_hidden.through_product(squashed, gate(OUTPUT));
            let grad_cell =
                grad_memory.as_planes().gradient(unit) + trace.squash_slopes.pull(unit, grad_squashed);
            grad_memory.set(unit, grad_cell.through_product(before, gate(FORGET)));
            let mut set = |gate: usize, grad| {
                grad_pre.set(gate * units + unit, trace.gate_slopes.pull(gate * units + unit, grad));
            };
            set(INPUT, grad_cell.through_product(gate(INPUT), gate(CELL_INPUT)));
            set(FORGET, grad_cell.through_product(gate(FORGET), before));
            set(OUTPUT, grad_hidden.through_product(gate(OUTPUT), squashed));
            set(CELL_INPUT, grad_cell.through_product(gate(CELL_INPUT), gate(INPUT)));
        }
    }
}

impl Lstm {
    /// Squashes all gates into their part of the trace and returns their moments.
    fn squash_gates<'a>(&self, pre: Planes<'_>, trace: &'a mut [f32]) -> Planes<'a> {
        let all = pre.mean.len();
        let sigmoids = CELL_INPUT * all / 4;
        let (value, slopes) = trace.split_at_mut(2 * all);
        let (gates, cell_input) = PlanesMut::halves(value).split_at(sigmoids);
        let (gate_slopes, cell_input_slopes) = SlopesMut::quarters(slopes).split_at(sigmoids);
        let (pre_gates, pre_cell_input) = pre.split_at(sigmoids);
        (self.sigmoid)(pre_gates, gates, gate_slopes);
        (self.tanh)(pre_cell_input, cell_input, cell_input_slopes);
        Planes::halves(value)
    }
}

impl<'a> Trace<'a> {
    fn new(trace: &'a [f32], units: usize) -> Self {
        let (gates, rest) = trace.split_at(GATE_PLANES * units);
        let (gates, gate_slopes) = gates.split_at(2 * 4 * units);
        let (squashed, before) = rest.split_at(6 * units);
        let (squashed, squash_slopes) = squashed.split_at(2 * units);
        Trace {
            gates: Planes::halves(gates),
            gate_slopes: Slopes::quarters(gate_slopes),
            squashed: Planes::halves(squashed),
            squash_slopes: Slopes::quarters(squash_slopes),
            before: Planes::halves(before),
        }
    }
}
