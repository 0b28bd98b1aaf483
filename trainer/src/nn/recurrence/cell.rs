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

    /// How many gates, the last ones in that order, reach the cell in two shares, the input's apart from the
    /// state's. The state's share of such a gate has biases of its own.
    const APART: usize;

    /// Whether a step reads the state before it other than through the affine map.
    const READS_STATE: bool;

    /// Computes the state.
    fn forward(&self, input: StepInput<'_>, output: StepOutput<'_>);

    /// Computes all gradients of the step from that for the state. `before` is the state before the step.
    fn backward(&self, trace: &[f32], before: MomentSlices<'_>, grads: StepGradients<'_>);
}

/// What one step of one lane is computed from.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepInput<'a> {
    /// Pre-activations; in gates that are given in two shares, the state's.
    pub(super) pre: MomentSlices<'a>,
    /// The input's share of the gates that are given in two.
    pub(super) input_share: MomentSlices<'a>,
    /// The state before the step, without noise.
    pub(super) before: MomentSlices<'a>,
}

/// What one step of one lane computes.
#[derive(Debug)]
pub(super) struct StepOutput<'a> {
    /// Further state of the cell: before the step when a method is called with it, after the step afterwards.
    pub(super) memory: MomentSlicesMut<'a>,
    /// The state after the step.
    pub(super) state: MomentSlicesMut<'a>,
    /// What the backward pass of the step needs.
    pub(super) trace: &'a mut [f32],
}

/// Gradients of one step of one lane: that for the state is given, the others are to be written.
#[derive(Debug)]
pub(super) struct StepGradients<'a> {
    /// For the state after the step.
    pub(super) state: MomentSlices<'a>,
    /// For the memory: after the step when a method is called with it, before the step afterwards.
    pub(super) memory: MomentSlicesMut<'a>,
    /// For the pre-activations, as in [`StepInput::pre`].
    pub(super) pre: MomentSlicesMut<'a>,
    /// For [`StepInput::input_share`].
    pub(super) input_share: MomentSlicesMut<'a>,
    /// For [`StepInput::before`], the affine map aside; empty unless the cell reads that state.
    pub(super) before: MomentSlicesMut<'a>,
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
