//! The Elman cell: h_t = f(W [x_t, h_{t−1}] + b).

use super::cell::Cell;
use super::transfer::{Slopes, SlopesMut, Sweep};
use super::{Planes, PlanesMut};

/// An Elman cell with its transfer function.
pub(super) struct Elman {
    pub(super) transfer: Sweep,
}

impl Cell for Elman {
    /// The four derivatives of the transfer function.
    const TRACE: usize = 4;
    const GATES: &'static [usize] = &[0];

    fn forward(&self, pre: Planes<'_>, _memory: PlanesMut<'_>, state: PlanesMut<'_>, trace: &mut [f32]) {
        (self.transfer)(pre, state, SlopesMut::quarters(trace));
    }

    fn backward(
        &self,
        trace: &[f32],
        grad_state: Planes<'_>,
        _grad_memory: PlanesMut<'_>,
        mut grad_pre: PlanesMut<'_>,
    ) {
        let slopes = Slopes::quarters(trace);
        for unit in 0..grad_state.mean.len() {
            grad_pre.set(unit, slopes.pull(unit, grad_state.gradient(unit)));
        }
    }
}
