//! The Elman cell: h_t = f(W [x_t, h_{t−1}] + b).

use quaver::moments::{Jacobian, Moments};

use super::cell::{Cell, Gradient, Transfer};
use super::{Planes, PlanesMut};

/// An Elman cell with its transfer function.
pub(super) struct Elman {
    pub(super) transfer: Transfer,
}

impl Cell for Elman {
    type Trace = Jacobian;

    fn forward(
        &self,
        pre: Planes<'_>,
        _memory: &mut [Moments],
        state: PlanesMut<'_>,
        traces: &mut [Jacobian],
    ) {
        for (unit, trace) in traces.iter_mut().enumerate() {
            let (value, jacobian) = (self.transfer)(pre.at(unit));
            state.mean[unit] = value.mean;
            state.var[unit] = value.var;
            *trace = jacobian;
        }
    }

    fn backward(
        &self,
        traces: &[Jacobian],
        grad_state: Planes<'_>,
        _grad_memory: &mut [Gradient],
        grad_pre: PlanesMut<'_>,
    ) {
        for (unit, jacobian) in traces.iter().enumerate() {
            let grad = Gradient { mean: grad_state.mean[unit], var: grad_state.var[unit] }.through(*jacobian);
            grad_pre.mean[unit] = grad.mean;
            grad_pre.var[unit] = grad.var;
        }
    }
}
