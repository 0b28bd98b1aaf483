//! Sigmoid and tanh by the published approximation, to reproduce results that were obtained with it.
//!
//! Not for new models: the variance does not vanish for a deterministic input and is off by factors at small
//! variances. The functions of the parent module cost little more and have neither defect.

use super::Moments;
use super::scalar::FittedScalar;
use core::f32::consts::{LOG2_E, PI};

/// a = 4 − 2√2, chosen with [`SHIFT`] so that σ(a(x − b)) resembles σ(x)².
const STEEPNESS: f32 = 1.171_572_9;
/// b = −ln(√2 − 1).
const SHIFT: f32 = 0.881_373_6;

/// Sigmoid: E ≈ σ(m/√(1 + πv/8)), V ≈ σ(a(m − b)/√(1 + πa²v/8)) − E² (Bayer 2015, thesis, 2.3.4).
///
/// The square is of the outgoing mean, where the thesis prints the incoming one, and V is limited to zero
/// from below.
#[inline]
pub fn sigmoid(a: Moments) -> Moments {
    let a = a.sanitized();
    let (mean, var) = sigmoid_of(a.mean, a.var);
    Moments { mean, var }
}

/// Hyperbolic tangent, from [`sigmoid`] by tanh(x) = 2σ(2x) − 1.
#[inline]
pub fn tanh(a: Moments) -> Moments {
    let a = a.sanitized();
    let (mean, var) = tanh_of(a.mean, a.var);
    Moments { mean, var }
}

/// [`sigmoid`] in any scalar; the inputs are sanitized.
#[inline(always)]
pub(super) fn sigmoid_of<S: FittedScalar>(mean: S, var: S) -> (S, S) {
    let first = smoothed_logistic(mean, var);
    let second = smoothed_logistic((mean + -SHIFT) * STEEPNESS, var * (STEEPNESS * STEEPNESS));
    (first, (second - first * first).at_least(0.0))
}

/// [`tanh`] in any scalar; the inputs are sanitized.
#[inline(always)]
pub(super) fn tanh_of<S: FittedScalar>(mean: S, var: S) -> (S, S) {
    let (first, spread) = sigmoid_of(mean * 2.0, var * 4.0);
    (first * 2.0 + -1.0, spread * 4.0)
}

/// E[σ(a)] with σ taken for a Gaussian's distribution function: σ(m/√(1 + πv/8)).
#[inline(always)]
fn smoothed_logistic<S: FittedScalar>(mean: S, var: S) -> S {
    let flattening = (var * (PI / 8.0) + 1.0).inverse_sqrt();
    let exponent = (mean * flattening * -LOG2_E).at_most(126.0).at_least(-126.0);
    (exponent.exp2() + 1.0).reciprocal()
}
