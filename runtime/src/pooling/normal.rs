//! The normal distribution function, and sums of exponentials.

use crate::moments::Scalar;

/// Φ(x) and φ(x) of the standard normal distribution, from one exponential.
///
/// By the rational approximation of Hastings (Abramowitz and Stegun 1964, 26.2.17), whose error is below
/// 7.5·10⁻⁸: what f32 can hold next to 1. The density is exact up to rounding.
#[inline]
pub fn distribution_and_density<S: Scalar>(x: S) -> [S; 2] {
    let one = S::constant(1.0);
    let magnitude = if x.is_less(S::ZERO) { -x } else { x };
    let density = S::constant(0.398_942_280_401_432_7) * (S::constant(-0.5) * x * x).exp();
    let t = one / (one + S::constant(0.231_641_9) * magnitude);
    let polynomial = [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_53]
        .into_iter()
        .fold(S::ZERO, |sum, coefficient| (sum * t) + S::constant(coefficient));
    let tail = density * polynomial * t;
    [if x.is_less(S::ZERO) { tail } else { one - tail }, density]
}

/// ln(eᵃ + eᵇ), and the share of eᵇ in the sum.
#[inline]
pub fn log_add_exp<S: Scalar>(a: S, b: S) -> [S; 2] {
    let one = S::constant(1.0);
    let (larger, smaller, b_is_larger) = if a.is_less(b) { (b, a, true) } else { (a, b, false) };
    // Between 0 and 1: eˣ of the difference, which is not above zero, and its share of the sum.
    let ratio = (smaller - larger).exp();
    let share = one / (one + ratio);
    [larger + (one + ratio).ln(), if b_is_larger { share } else { ratio * share }]
}
