//! The Elman cell: h_t = f(W [x_t, h_{t−1}] + b).

use super::activation::{ActivationFn, Derivatives, DerivativesMut};
use super::cell::{RecurrentCell, StepGradients, StepInput, StepOutput};
use super::{MomentSlices, MomentSlicesMut};
use crate::nn::vectorised::{self, Kernel, Processor};

/// An Elman cell with its activation function.
pub(super) struct Elman {
    pub(super) activation: ActivationFn,
}

impl RecurrentCell for Elman {
    /// The four derivatives of the activation function.
    const TRACE: usize = 4;
    const GATES: &'static [usize] = &[0];
    const APART: usize = 0;
    const READS_STATE: bool = false;

    fn forward(&self, input: StepInput<'_>, output: StepOutput<'_>) {
        (self.activation)(input.pre, output.state, DerivativesMut::quarters(output.trace));
    }

    fn backward(&self, trace: &[f32], _before: MomentSlices<'_>, grads: StepGradients<'_>) {
        vectorised::run(ElmanBackward {
            derivatives: Derivatives::quarters(trace),
            grad_state: grads.state,
            grad_pre: grads.pre,
        });
    }
}

/// From the gradient for the states to that for the pre-activations.
struct ElmanBackward<'a> {
    derivatives: Derivatives<'a>,
    grad_state: MomentSlices<'a>,
    grad_pre: MomentSlicesMut<'a>,
}

impl Kernel for ElmanBackward<'_> {
    #[inline(always)]
    fn run<P: Processor>(self) {
        let count = self.grad_state.mean.len();
        let (derivatives, grad_state) = (self.derivatives.first(count), self.grad_state.first(count));
        let mut grad_pre = self.grad_pre.first(count);
        for unit in 0..count {
            grad_pre.set(unit, derivatives.backward(unit, grad_state.gradient(unit)));
        }
    }
}
