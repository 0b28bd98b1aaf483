//! The Elman cell: h_t = f(W [x_t, h_{t−1}] + b).

use super::cell::Cell;
use super::transfer::{Slopes, SlopesMut, Sweep};
use super::{Planes, PlanesMut};
use crate::nn::vectorised::{self, Kernel, Processor};

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
        grad_pre: PlanesMut<'_>,
    ) {
        vectorised::run(Pull { slopes: Slopes::quarters(trace), grad_state, grad_pre });
    }
}

/// From the gradient for the states to that for the pre-activations.
struct Pull<'a> {
    slopes: Slopes<'a>,
    grad_state: Planes<'a>,
    grad_pre: PlanesMut<'a>,
}

impl Kernel for Pull<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let count = self.grad_state.mean.len();
        let (slopes, grad_state) = (self.slopes.first(count), self.grad_state.first(count));
        let mut grad_pre = self.grad_pre.first(count);
        for unit in 0..count {
            grad_pre.set(unit, slopes.pull(unit, grad_state.gradient(unit)));
        }
    }
}
