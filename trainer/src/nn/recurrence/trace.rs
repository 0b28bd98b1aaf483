//! What a step of a gated cell leaves behind for its backward pass.

use super::MomentSlices;
use super::MomentSlicesMut;
use super::activation::{ActivationFn, Derivatives, DerivativesMut};

/// Numbers per unit of an activation: two moments, four derivatives.
pub(super) const ACTIVATION: usize = 6;

/// The trace of a step, split into its parts.
pub(super) struct GatedTrace<'a> {
    /// Moments of the gates, means first.
    gates: MomentSlices<'a>,
    gate_derivatives: Derivatives<'a>,
    /// Moments of the activation that follows from the gates: tanh(c_t) of an LSTM, n of a GRU.
    pub(super) activated: MomentSlices<'a>,
    pub(super) activation_derivatives: Derivatives<'a>,
    /// Moments that are kept as they are: c_{t−1} of an LSTM, a_h of a GRU.
    pub(super) kept: MomentSlices<'a>,
}

impl<'a> GatedTrace<'a> {
    /// Numbers per unit for a cell with this many gates.
    pub(super) const fn len(gates: usize) -> usize {
        (gates + 1) * ACTIVATION + 2
    }

    pub(super) fn new(trace: &'a [f32], gates: usize, units: usize) -> Self {
        let (all_gates, rest) = trace.split_at(gates * ACTIVATION * units);
        let (all_gates, gate_derivatives) = all_gates.split_at(2 * gates * units);
        let (activated, kept) = rest.split_at(ACTIVATION * units);
        let (activated, activation_derivatives) = activated.split_at(2 * units);
        GatedTrace {
            gates: MomentSlices::halves(all_gates),
            gate_derivatives: Derivatives::quarters(gate_derivatives),
            activated: MomentSlices::halves(activated),
            activation_derivatives: Derivatives::quarters(activation_derivatives),
            kept: MomentSlices::halves(kept),
        }
    }

    /// Moments and derivatives of one gate.
    #[inline(always)]
    pub(super) fn gate(&self, gate: usize, units: usize) -> (MomentSlices<'a>, Derivatives<'a>) {
        (self.gates.lane(gate, units).first(units), self.gate_derivatives.part(gate, units).first(units))
    }
}

/// The parts of a trace to be written: gates, the activation that follows from them, and a copy of `kept`.
pub(super) fn split_trace<'a>(
    trace: &'a mut [f32],
    gates: usize,
    kept: MomentSlices<'_>,
) -> [&'a mut [f32]; 3] {
    let units = kept.mean.len();
    let (all_gates, rest) = trace.split_at_mut(gates * ACTIVATION * units);
    let (activated, copy) = rest.split_at_mut(ACTIVATION * units);
    let copied = MomentSlicesMut::halves(copy);
    copied.mean.copy_from_slice(kept.mean);
    copied.var.copy_from_slice(kept.var);
    [all_gates, activated, copy]
}

/// Applies an activation function, leaving moments and derivatives in its part of the trace, and returns the
/// moments.
pub(super) fn activate<'a>(
    function: ActivationFn,
    pre: MomentSlices<'_>,
    trace: &'a mut [f32],
) -> MomentSlices<'a> {
    let (value, derivatives) = trace.split_at_mut(2 * pre.mean.len());
    function(pre, MomentSlicesMut::halves(value), DerivativesMut::quarters(derivatives));
    MomentSlices::halves(value)
}
