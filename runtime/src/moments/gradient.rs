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
    pub(super) fn sane(self) -> Jacobian {
        let finite = |x: f32| if x.is_nan() { 0.0 } else { x.clamp(f32::MIN, f32::MAX) };
        Jacobian {
            mean_by_mean: finite(self.mean_by_mean),
            mean_by_var: finite(self.mean_by_var),
            var_by_mean: finite(self.var_by_mean),
            var_by_var: finite(self.var_by_var),
        }
    }
}

/// [`super::rectifier`] and its derivatives.
#[inline]
pub fn rectifier(a: Moments) -> (Moments, Jacobian) {
    super::rectifier::rectifier_gradient(a)
}

/// [`super::sigmoid`] and its derivatives.
#[inline]
pub fn sigmoid(a: Moments) -> (Moments, Jacobian) {
    differentiate(a, logistic::sigmoid_of)
}

/// [`super::tanh`] and its derivatives.
#[inline]
pub fn tanh(a: Moments) -> (Moments, Jacobian) {
    differentiate(a, logistic::tanh_of)
}

/// [`paper::sigmoid`] and its derivatives.
#[inline]
pub fn paper_sigmoid(a: Moments) -> (Moments, Jacobian) {
    differentiate(a, paper::sigmoid_of)
}

/// [`paper::tanh`] and its derivatives.
#[inline]
pub fn paper_tanh(a: Moments) -> (Moments, Jacobian) {
    differentiate(a, paper::tanh_of)
}

/// Runs a formula on numbers that carry their derivatives.
#[inline(always)]
fn differentiate(a: Moments, formula: impl Fn(Dual, Dual) -> (Dual, Dual)) -> (Moments, Jacobian) {
    let a = a.sane();
    let (mean, var) = formula(
        Dual { value: a.mean, by_mean: 1.0, by_var: 0.0 },
        Dual { value: a.var, by_mean: 0.0, by_var: 1.0 },
    );
    let jacobian = Jacobian {
        mean_by_mean: mean.by_mean,
        mean_by_var: mean.by_var,
        var_by_mean: var.by_mean,
        var_by_var: var.by_var,
    };
    (Moments { mean: mean.value, var: var.value }, jacobian)
}
