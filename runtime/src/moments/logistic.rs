//! Moments of sigmoid and tanh, by a fitted form that is accurate everywhere and has no table.
//!
//! For a ~ N(m, v), with ρ = 1/√(1 + πv/8) and z = |m|ρ/8, at most 1:
//!
//! - 1 − E = 1/(1 + 2^η), η = |m|ρ/8 · (8 log₂e + (1 − ρ)·M(z, ρ)), on the side of m
//! - V = w·x/(1 + x), w = E(1 − E), x = w·v·ρ·2^((1 − ρ)·S(z, ρ))
//!
//! M and S are polynomials of 9 and 13 terms. ρ falls from 1 to 0 as v grows from nothing to infinity, and
//! for large v all depends on m/√v, hence on z, alone; so two polynomials on the unit square cover every
//! input. What surrounds them fixes the limits whatever their coefficients: v → 0 gives E = σ(m), V =
//! v·σ′(m)², and v → ∞ gives E → ½, V → E(1 − E) = ¼. V is a product of positive factors: no difference of
//! nearly equal numbers spoils it in the tails, where it is small, and it cannot become negative.
//!
//! With M = 0 the mean is the well-known σ(m/√(1 + πv/8)) (Bayer 2015, thesis, 2.3.4), off by 0.013. The
//! coefficients are fitted by `fit.py` next to this file, which minimises the largest error.
//!
//! There are no branches and no calls: a compiler runs several at once on a host. One sigmoid takes 177
//! instructions on a Cortex-M4F (QEMU), 7 000 on a core without floating-point unit, 12 500 on a Cortex-M0.

use super::Moments;
#[cfg(feature = "float")]
use super::elementary::exp2;
use super::scalar::FittedScalar;
#[cfg(feature = "float")]
use super::scalar::Scalar;
use core::f32::consts::{LOG2_E, PI};

/// Where the coordinate z ends. Beyond, the variance is below 3·10⁻⁷, and the corrections may stay as they
/// are.
const Z_SCALE: f32 = 8.0;

/// Moments of σ(a) = 1/(1 + e^−a) for a ~ N(m, v).
#[inline]
pub fn sigmoid(a: Moments) -> Moments {
    sigmoid_of_sanitized(a.sanitized())
}

/// [`sigmoid`] of sanitized moments.
#[inline(always)]
pub(crate) fn sigmoid_of_sanitized(a: Moments) -> Moments {
    let (mean, var) = sigmoid_of(a.mean, a.var);
    Moments { mean, var }
}

/// Moments of tanh(a) for a ~ N(m, v).
#[inline]
pub fn tanh(a: Moments) -> Moments {
    tanh_of_sanitized(a.sanitized())
}

/// [`tanh`] of sanitized moments.
#[inline(always)]
pub(crate) fn tanh_of_sanitized(a: Moments) -> Moments {
    let (mean, var) = tanh_of(a.mean, a.var);
    Moments { mean, var }
}

/// σ of a deterministic input: the bits of [`sigmoid`] without variance.
#[cfg(feature = "float")]
#[inline(always)]
pub(crate) fn deterministic_sigmoid(mean: f32) -> f32 {
    let miss = deterministic_miss(mean.abs());
    if mean < 0.0 { miss } else { 1.0 - miss }
}

/// tanh of a deterministic input: the bits of [`tanh`] without variance.
#[cfg(feature = "float")]
#[inline(always)]
pub(crate) fn deterministic_tanh(mean: f32) -> f32 {
    let size = 1.0 - 2.0 * deterministic_miss(2.0 * mean.abs());
    if mean < 0.0 { -size } else { size }
}

/// 1 − σ(a) for a ≥ 0: `of_magnitude` with ρ = 1, where both corrections vanish.
#[cfg(feature = "float")]
#[inline(always)]
fn deterministic_miss(magnitude: f32) -> f32 {
    let odds = exp2(-(magnitude * LOG2_E).at_most(126.0));
    odds * (1.0 / (odds + 1.0))
}

/// [`sigmoid`] in any scalar; the inputs are sanitized.
#[inline(always)]
pub(super) fn sigmoid_of<S: FittedScalar>(mean: S, var: S) -> (S, S) {
    let (miss, spread) = of_magnitude(mean.magnitude(), var);
    let mean = if mean.is_negative() { miss } else { miss * -1.0 + 1.0 };
    (mean, spread)
}

/// [`tanh`] in any scalar, by tanh(a) = 2σ(2a) − 1; the inputs are sanitized.
#[inline(always)]
pub(super) fn tanh_of<S: FittedScalar>(mean: S, var: S) -> (S, S) {
    let (miss, spread) = of_magnitude(mean.magnitude() * 2.0, var * 4.0);
    let size = miss * -2.0 + 1.0;
    let mean = if mean.is_negative() { size * -1.0 } else { size };
    (mean, spread * 4.0)
}

/// 1 − E[σ(a)] and V[σ(a)] for a mean ≥ 0.
#[inline(always)]
fn of_magnitude<S: FittedScalar>(magnitude: S, var: S) -> (S, S) {
    let rho = (var * (PI / 8.0) + 1.0).inverse_sqrt();
    let doubt = rho * -1.0 + 1.0;
    let reach = magnitude * (1.0 / Z_SCALE) * rho;
    let z = reach.at_most(1.0);

    let eta = reach * (doubt * mean_correction(z, rho) + Z_SCALE * LOG2_E);
    // The odds against, e^−a if a were deterministic; 1 − E = odds/(1 + odds). Limited to the normal floats.
    let odds = (eta.at_most(126.0) * -1.0).exp2();
    let spread = var * rho * (doubt * spread_correction(z, rho)).exp2();

    // Two divisions rather than one by the product of their divisors: thus E is exactly ½ at m = 0.
    let hit = (odds + 1.0).reciprocal();
    let miss = odds * hit;
    let bernoulli = miss * hit;
    let x = bernoulli * spread;
    (miss, bernoulli * (x * (x + 1.0).reciprocal()))
}

/// M(z, ρ) of the module's formula.
#[inline(always)]
fn mean_correction<S: FittedScalar>(z: S, rho: S) -> S {
    let (z2, rho2) = (z * z, rho * rho);
    let rho4 = rho2 * rho2;
    let constant = rho2 * -1.914_106 + rho4 * -1.137_574;
    let quadratic = rho * 16.026_39 + rho4 * (z * -145.825 + 57.315_71) + 13.200_84;
    let quartic = rho * rho2 * (rho * 101.1231 + -30.640_26) + -2.512_13;
    z2 * (z2 * quartic + quadratic) + constant
}

/// S(z, ρ) of the module's formula.
#[inline(always)]
fn spread_correction<S: FittedScalar>(z: S, rho: S) -> S {
    let (z2, rho2) = (z * z, rho * rho);
    let constant = rho2 * rho2 * -0.198_050_4 + rho * -0.732_863_3 + 0.646_939_7;
    let quadratic = rho * (rho * (rho * 50.415_21 + -23.620_39) + 18.233_45) + 17.727_56;
    // The terms in z⁴, z⁵ and z⁶ share a factor z⁴ρ.
    let deterministic = rho * (z * (z * -167.3624 + 434.2623) + -194.2702) + z * 29.057_67 + -177.057;
    let quartic = rho * (rho2 * deterministic + 17.528_07);
    z2 * (z2 * quartic + quadratic) + constant
}
