//! Moments together with their derivatives, for training.
//!
//! The moments are those of the plain functions, bit for bit, and the derivatives are those of the functions
//! as computed. Where an input had to be sanitized first (negative variance, infinite, NaN), they are the
//! derivatives at the sanitized value.

use super::scalar::Dual;
use super::{Moments, logistic, paper};

/// Derivatives of the outgoing moments by the incoming ones.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jacobian {
    /// ∂E/∂m.
    pub mean_by_mean: f32,
    /// ∂E/∂v.
    pub mean_by_var: f32,
    /// ∂V/∂m.
    pub var_by_mean: f32,
    /// ∂V/∂v.
    pub var_by_var: f32,
}

impl Jacobian {
    /// Derivatives at a deterministic input, for a function of this slope.
    pub(super) fn deterministic(slope: f32) -> Jacobian {
        Jacobian { mean_by_mean: slope, mean_by_var: 0.0, var_by_mean: 0.0, var_by_var: slope * slope }
    }

    /// The derivatives with infinities, which only subnormal variances produce, limited to finite numbers.
    pub(super) fn sanitized(self) -> Jacobian {
        let finite = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(f32::MIN, f32::MAX) };
        Jacobian {
            mean_by_mean: finite(self.mean_by_mean),
            mean_by_var: finite(self.mean_by_var),
            var_by_mean: finite(self.var_by_mean),
            var_by_var: finite(self.var_by_var),
        }
    }
}

/// [`super::relu`] and its derivatives.
#[inline(always)]
pub fn relu(a: Moments) -> (Moments, Jacobian) {
    super::relu::relu_gradient(a)
}

/// [`super::sigmoid`] and its derivatives.
#[inline(always)]
pub fn sigmoid(a: Moments) -> (Moments, Jacobian) {
    let (mean, var) = inputs(a);
    outputs(logistic::sigmoid_of(mean, var))
}

/// [`super::tanh`] and its derivatives.
#[inline(always)]
pub fn tanh(a: Moments) -> (Moments, Jacobian) {
    let (mean, var) = inputs(a);
    outputs(logistic::tanh_of(mean, var))
}

/// [`paper::sigmoid`] and its derivatives.
#[inline(always)]
pub fn paper_sigmoid(a: Moments) -> (Moments, Jacobian) {
    let (mean, var) = inputs(a);
    outputs(paper::sigmoid_of(mean, var))
}

/// [`paper::tanh`] and its derivatives.
#[inline(always)]
pub fn paper_tanh(a: Moments) -> (Moments, Jacobian) {
    let (mean, var) = inputs(a);
    outputs(paper::tanh_of(mean, var))
}

// Each formula is called by name instead of being passed as an argument: the compiler cannot be forced to
// inline a call through an argument, and without inlining a loop over the function does not vectorise.

/// The sanitized input as dual numbers.
#[inline(always)]
fn inputs(a: Moments) -> (Dual, Dual) {
    let Moments { mean, var } = a.sanitized();
    (Dual::by_mean(mean), Dual::by_var(var))
}

/// The outgoing moments and their derivatives.
#[inline(always)]
fn outputs((mean, var): (Dual, Dual)) -> (Moments, Jacobian) {
    let jacobian = Jacobian {
        mean_by_mean: mean.by_mean,
        mean_by_var: mean.by_var,
        var_by_mean: var.by_mean,
        var_by_var: var.by_var,
    };
    (Moments { mean: mean.value, var: var.value }, jacobian)
}
