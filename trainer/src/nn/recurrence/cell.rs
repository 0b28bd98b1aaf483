//! What a kind of cell has to know: one step forwards, one step backwards.

use core::fmt::Debug;

use quaver::moments::{Jacobian, Moments};

use super::{Planes, PlanesMut};

/// A transfer function with its derivatives.
pub(super) type Transfer = fn(Moments) -> (Moments, Jacobian);

/// One kind of recurrence.
///
/// Every method works on one step of a block of lanes, unit after unit, lane after lane.
pub(super) trait Cell: Sync {
    /// What the step of one unit leaves behind for its gradient.
    type Trace: Clone + Debug + Default + Send + Sync;

    /// Computes the state from the pre-activations. `memory` is what a unit keeps besides its state.
    fn forward(
        &self,
        pre: Planes<'_>,
        memory: &mut [Moments],
        state: PlanesMut<'_>,
        traces: &mut [Self::Trace],
    );

    /// Computes the gradient for the pre-activations from that for the state. `grad_memory` is the gradient for
    /// the memory after the step when the method is called, and for the memory before the step afterwards.
    fn backward(
        &self,
        traces: &[Self::Trace],
        grad_state: Planes<'_>,
        grad_memory: &mut [Gradient],
        grad_pre: PlanesMut<'_>,
    );
}

/// Derivatives of the loss by the mean and the variance of one quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Gradient {
    pub(super) mean: f32,
    pub(super) var: f32,
}

impl Gradient {
    /// The gradient for the argument of a function, given that for its value.
    pub(super) fn through(self, jacobian: Jacobian) -> Gradient {
        Gradient {
            mean: self.mean * jacobian.mean_by_mean + self.var * jacobian.var_by_mean,
            var: self.mean * jacobian.mean_by_var + self.var * jacobian.var_by_var,
        }
    }

    /// The gradient for one factor of a product, given that for the product: the derivative of
    /// E = E₁E₂, V = V₁V₂ + V₁E₂² + V₂E₁² (Bayer 2015, thesis, eqs. 14 and 15).
    pub(super) fn through_product(self, factor: Moments, other: Moments) -> Gradient {
        Gradient {
            mean: self.mean * other.mean + 2.0 * self.var * other.var * factor.mean,
            var: self.var * (other.var + other.mean * other.mean),
        }
    }
}

impl core::ops::Add for Gradient {
    type Output = Gradient;

    fn add(self, other: Gradient) -> Gradient {
        Gradient { mean: self.mean + other.mean, var: self.var + other.var }
    }
}
