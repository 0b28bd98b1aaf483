//! Moments together with their derivatives, for training.
//!
//! The moments are those of the plain functions, bit for bit, and the derivatives are those of the functions as
//! computed. Where an input had to be made sane first (negative, infinite, not a number), they are the
//! derivatives at the number that took its place.

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
    /// That of a function with the given slope, at an input without variance.
    pub(super) fn of_certain(slope: f32) -> Jacobian {
        Jacobian { mean_by_mean: slope, mean_by_var: 0.0, var_by_mean: 0.0, var_by_var: slope * slope }
    }

    /// With infinities, which only subnormal variances can make, brought back to finite numbers.
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

// A formula is called by name rather than handed over: the compiler cannot be made to inline the call of an argument,
// and where it does not, a loop over the function is not compiled to vector instructions.

/// The incoming moments, made sane, as numbers that carry their derivatives.
#[inline(always)]
fn inputs(a: Moments) -> (Dual, Dual) {
    let Moments { mean, var } = a.sanitized();
    (Dual { value: mean, by_mean: 1.0, by_var: 0.0 }, Dual { value: var, by_mean: 0.0, by_var: 1.0 })
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
