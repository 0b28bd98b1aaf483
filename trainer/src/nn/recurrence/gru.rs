//! Gated recurrent units on moments (Cho et al. 2014), with the reset gate after the recurrent product, as in
//! PyTorch and cuDNN: r, z = σ(·), n = tanh(a_x + r⊙a_h) with a_x = W_nx x_t + b_nx and a_h = W_nh h_{t−1} +
//! b_nh, h_t = (1 − z)⊙n + z⊙h_{t−1}.
//!
//! Noise on units acts before the affine maps only: the h_{t−1} that z keeps is the state as it is stored.

use quaver::moments::{Moments, interpolate, product};

use super::MomentSlices;
use super::activation::GateActivations;
use super::cell::{Gradient, RecurrentCell, StepGradients, StepInput, StepOutput};
use super::trace::{GatedTrace, activate, split_trace};
use super::unit_function::{UnitFunction, for_each_unit};
use crate::nn::vectorised::{self, Kernel, Processor};

/// A GRU with its two activation functions.
pub(super) struct Gru(pub(super) GateActivations);

/// Positions of the gates among the pre-activations.
const RESET: usize = 0;
const UPDATE: usize = 1;
const CANDIDATE: usize = 2;

/// Gates with the sigmoid: r and z.
const SIGMOIDS: usize = CANDIDATE;

impl RecurrentCell for Gru {
    /// Moments and derivatives of both gates and of the candidate, moments of a_h.
    const TRACE: usize = GatedTrace::len(SIGMOIDS);
    const GATES: &'static [usize] = &[RESET, UPDATE, CANDIDATE];
    const APART: usize = 1;
    const READS_STATE: bool = true;

    fn forward(&self, input: StepInput<'_>, output: StepOutput<'_>) {
        let StepInput { pre, input_share, before } = input;
        let StepOutput { mut state, trace, .. } = output;
        let units = before.mean.len();
        let (pre_gates, state_share) = pre.split_at(SIGMOIDS * units);
        let [gates, candidate, _] = split_trace(trace, SIGMOIDS, state_share);
        let gates = activate(self.0.sigmoid, pre_gates, gates);
        // The state is written last; until then its place holds the argument of the candidate's tanh.
        let reset = gates.lane(RESET, units);
        for_each_unit::<CandidateArgument, 3>([reset, state_share, input_share], state.reborrow());
        let candidate = activate(self.0.tanh, state.as_slices(), candidate);
        for_each_unit::<InterpolateState, 3>([gates.lane(UPDATE, units), candidate, before], state);
    }

    fn backward(&self, trace: &[f32], before: MomentSlices<'_>, grads: StepGradients<'_>) {
        let trace = GatedTrace::new(trace, SIGMOIDS, before.mean.len());
        vectorised::run(GruBackward { trace, before, grads });
    }
}

/// a_x + r⊙a_h, of r, a_h and a_x.
struct CandidateArgument;

impl UnitFunction<3> for CandidateArgument {
    #[inline(always)]
    fn value([reset, state_share, input_share]: [MomentSlices<'_>; 3], unit: usize) -> Moments {
        let (x, h) = (input_share.at(unit), product(reset.at(unit), state_share.at(unit)));
        Moments { mean: x.mean + h.mean, var: x.var + h.var }
    }
}

/// h_t = (1 − z)⊙n + z⊙h_{t−1}, of z, n and h_{t−1}.
struct InterpolateState;

impl UnitFunction<3> for InterpolateState {
    #[inline(always)]
    fn value([update, candidate, before]: [MomentSlices<'_>; 3], unit: usize) -> Moments {
        interpolate(update.at(unit), candidate.at(unit), before.at(unit))
    }
}

/// All gradients of one step.
struct GruBackward<'a> {
    trace: GatedTrace<'a>,
    before: MomentSlices<'a>,
    grads: StepGradients<'a>,
}

impl Kernel for GruBackward<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let units = self.before.mean.len();
        let [(reset, reset_derivatives), (update, update_derivatives)] =
            [RESET, UPDATE].map(|gate| self.trace.gate(gate, units));
        let (candidate, state_share) = (self.trace.activated.first(units), self.trace.kept.first(units));
        let candidate_derivatives = self.trace.activation_derivatives.first(units);
        let (before, grad_state) = (self.before.first(units), self.grads.state.first(units));
        let (gates, grad_share) = self.grads.pre.split_at(SIGMOIDS * units);
        let (grad_reset, grad_update) = gates.split_at(units);
        let (mut grad_reset, mut grad_update) = (grad_reset.first(units), grad_update.first(units));
        let (mut grad_share, mut grad_input) = (grad_share.first(units), self.grads.input_share.first(units));
        let mut grad_before = self.grads.before.first(units);
        for unit in 0..units {
            let (r, share) = (reset.at(unit), state_share.at(unit));
            let [by_z, by_n, by_h] = grad_state.gradient(unit).through_interpolation(
                update.at(unit),
                candidate.at(unit),
                before.at(unit),
            );
            let by_argument = candidate_derivatives.backward(unit, by_n);
            grad_before.set(unit, by_h);
            grad_input.set(unit, by_argument);
            grad_share.set(unit, by_argument.through_product(share, r));
            grad_reset.set(unit, reset_derivatives.backward(unit, by_argument.through_product(r, share)));
            grad_update.set(unit, update_derivatives.backward(unit, by_z));
        }
    }
}

impl Gradient {
    /// The gradients for z, n and h, given that for their [`interpolate`].
    #[inline(always)]
    fn through_interpolation(self, z: Moments, n: Moments, h: Moments) -> [Gradient; 3] {
        let (rest, apart) = (1.0 - z.mean, h.mean - n.mean);
        let across = 2.0 * self.var * z.var * apart;
        [
            Gradient {
                mean: self.mean * apart + 2.0 * self.var * (z.mean * h.var - rest * n.var),
                var: self.var * (n.var + h.var + apart * apart),
            },
            Gradient { mean: self.mean * rest - across, var: self.var * (rest * rest + z.var) },
            Gradient { mean: self.mean * z.mean + across, var: self.var * (z.mean * z.mean + z.var) },
        ]
    }
}
