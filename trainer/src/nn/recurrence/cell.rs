//! What a kind of cell has to know: one step forwards, one step backwards.

use quaver::moments::Moments;

use super::{MomentSlices, MomentSlicesMut};

/// One kind of recurrence.
///
/// Every method works on one step of one lane. Pre-activations stand gate after gate, all units of the first gate
/// first.
pub(super) trait RecurrentCell: Sync {
    /// Numbers per unit that a step leaves behind for its gradient.
    const TRACE: usize;

    /// In which order the gates are wanted; weights and inputs hold them unit after unit, in the order 0, 1, ….
    const GATES: &'static [usize];

    /// Computes the state from the pre-activations. `memory` is what units keep besides their state.
    fn forward(
        &self,
        pre: MomentSlices<'_>,
        memory: MomentSlicesMut<'_>,
        state: MomentSlicesMut<'_>,
        trace: &mut [f32],
    );

    /// Computes the gradient for the pre-activations from that for the state. `grad_memory` is the gradient for
    /// the memory after the step when the method is called, and for the memory before the step afterwards.
    fn backward(
        &self,
        trace: &[f32],
        grad_state: MomentSlices<'_>,
        grad_memory: MomentSlicesMut<'_>,
        grad_pre: MomentSlicesMut<'_>,
    );
}

/// Derivatives of the loss by the mean and the variance of one quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gradient {
    pub(super) mean: f32,
    pub(super) var: f32,
}

impl Gradient {
    /// The gradient without what is too small to matter.
    #[inline(always)]
    pub(super) fn relevant(self) -> Gradient {
        Gradient { mean: relevant(self.mean), var: relevant(self.var) }
    }

    /// The gradient for one factor of a product, given that for the product: the derivative of
    /// E = E₁E₂, V = V₁V₂ + V₁E₂² + V₂E₁² (Bayer 2015, thesis, eqs. 14 and 15).
    #[inline(always)]
    pub(super) fn through_product(self, factor: Moments, other: Moments) -> Gradient {
        Gradient {
            mean: self.mean * other.mean + 2.0 * self.var * other.var * factor.mean,
            var: self.var * (other.var + other.mean * other.mean),
        }
    }
}

/// Gradients below this are taken for zero.
///
/// Behind a saturated gate they shrink from step to step until they and their products are subnormal, with which a
/// processor computes many times more slowly; nothing so small moves a parameter.
const NEGLIGIBLE: f32 = 1e-20;

/// A number unless it is negligible.
#[inline(always)]
fn relevant(value: f32) -> f32 {
    if value.abs() < NEGLIGIBLE { 0.0 } else { value }
}

impl core::ops::Add for Gradient {
    type Output = Gradient;

    #[inline(always)]
    fn add(self, other: Gradient) -> Gradient {
        Gradient { mean: self.mean + other.mean, var: self.var + other.var }
    }
}
