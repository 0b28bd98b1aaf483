//! The interface of a recurrent cell: one step forward, one step backward.

use quaver::moments::Moments;

use super::{MomentSlices, MomentSlicesMut};

/// One kind of recurrence.
///
/// Every method processes one step of one lane. Pre-activations are ordered gate by gate, all units of the
/// first gate first.
pub(super) trait RecurrentCell: Sync {
    /// Numbers per unit that the backward pass of a step needs.
    const TRACE: usize;

    /// The order of the gates in the pre-activations; weights and inputs hold them unit by unit, in the order
    /// 0, 1, ….
    const GATES: &'static [usize];

    /// Computes the state from the pre-activations. `memory` is further state of the cell.
    fn forward(
        &self,
        pre: MomentSlices<'_>,
        memory: MomentSlicesMut<'_>,
        state: MomentSlicesMut<'_>,
        trace: &mut [f32],
    );

    /// Computes the gradient for the pre-activations from that for the state. `grad_memory` is the gradient
    /// for the memory after the step on entry, and for the memory before the step on return.
    fn backward(
        &self,
        trace: &[f32],
        grad_state: MomentSlices<'_>,
        grad_memory: MomentSlicesMut<'_>,
        grad_pre: MomentSlicesMut<'_>,
    );
}

/// Derivatives of the loss with respect to the mean and the variance of one quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gradient {
    pub(super) mean: f32,
    pub(super) var: f32,
}

impl Gradient {
    /// The gradient with negligible parts set to zero.
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

/// Gradients below this are set to zero.
///
/// Behind a saturated gate they shrink from step to step until they and their products are subnormal, which
/// slows most processors down many times; nothing that small moves a parameter.
const NEGLIGIBLE: f32 = 1e-20;

/// The value, or zero if it is negligible.
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
