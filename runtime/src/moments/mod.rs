//! Expectation and variance through activation functions and products.
//!
//! A random quantity is represented by its [`Moments`]: mean and variance. Each function takes the moments of
//! a Gaussian input a ~ N(m, v) and returns those of f(a); [`product`] takes two independent inputs of any
//! distribution. [`gradient`] returns the derivatives as well.
//!
//! Every function is total: for any bits the resulting mean is finite, and the variance is finite and not
//! negative. Inputs are sanitized: magnitudes are limited to [`LARGEST`], a negative variance becomes zero, a
//! NaN mean zero, and a NaN variance [`LARGEST`], because an unknown quantity must not read as a
//! deterministic one.
//!
//! # How exact
//!
//! [`identity`], [`relu`] and [`product`] are exact up to rounding. [`sigmoid`] and [`tanh`] have no
//! closed form; they are fitted (see `logistic.rs`). Largest errors against quadrature on m ∈ [−8, 8],
//! √v ∈ [0, 8], as the tests measure them:
//!
//! |             | mean     | variance | variance, relative, where ≥ 10⁻⁶ |
//! |-------------|----------|----------|----------------------------------|
//! | [`sigmoid`] | 1.4·10⁻⁴ | 6.7·10⁻⁵ | 1.7 %                            |
//! | [`tanh`]    | 2.7·10⁻⁴ | 2.7·10⁻⁴ | 2.0 %                            |
//!
//! Both are smooth, so their derivatives are close, too: within 0.003 of the exact ones for tanh, 0.0004 for
//! sigmoid, on m ∈ [−4, 4], √v ∈ [0.05, 3].
//!
//! [`paper`] holds the formulas as published, to reproduce published results: their mean is off by up to
//! 0.013 and their variance by up to 0.027, also for a deterministic input, where it should vanish.

mod elementary;
pub mod gradient;
mod logistic;
pub mod paper;
mod relu;
mod scalar;
mod square_root;

#[cfg(feature = "write")]
pub(crate) use elementary::exp2;
pub use gradient::Jacobian;
#[cfg(feature = "float")]
pub(crate) use logistic::{
    deterministic_sigmoid, deterministic_tanh, sigmoid_of_sanitized, tanh_of_sanitized,
};
pub use logistic::{sigmoid, tanh};
pub use relu::relu;
pub use scalar::{Dual, Scalar};

use crate::limits::UNIT_LIMIT;

/// Largest mean and variance of inputs and results: near the end of the range of f32, with room for the small
/// factors of the formulas.
pub const LARGEST: f32 = 1e37;

/// Mean and variance of a random quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Moments {
    /// Expectation.
    pub mean: f32,
    /// Variance, never negative.
    pub var: f32,
}

impl Moments {
    /// The nearest valid moments: finite, variance not negative. A NaN mean becomes zero, a NaN variance the
    /// largest.
    #[inline(always)]
    fn sanitized(self) -> Moments {
        let mean = if self.mean.is_nan() { 0.0 } else { self.mean };
        // Comparisons with NaN are false: such a variance becomes the largest.
        let var = at_most(self.var, LARGEST);
        Moments { mean: mean.clamp(-LARGEST, LARGEST), var: if var > 0.0 { var } else { 0.0 } }
    }
}

impl Moments {
    /// The moments within the limits of units and standardised inputs.
    #[inline(always)]
    pub(crate) fn limited(self) -> Moments {
        Moments { mean: limited_mean(self.mean), var: at_most(self.var, UNIT_LIMIT * UNIT_LIMIT) }
    }
}

/// A mean within the limits of units.
#[inline(always)]
pub(crate) fn limited_mean(mean: f32) -> f32 {
    let below = at_most(mean, UNIT_LIMIT);
    if below > -UNIT_LIMIT { below } else { -UNIT_LIMIT }
}

/// The smaller of the two; the limit if the value is NaN. A comparison, because `f32::min` is a library call
/// on cores whose FPU lacks it.
#[inline(always)]
pub(crate) fn at_most(value: f32, limit: f32) -> f32 {
    if value < limit { value } else { limit }
}

/// The quantity itself.
#[inline]
pub fn identity(a: Moments) -> Moments {
    a.sanitized()
}

/// a·b for independent a and b: E = E₁E₂, V = V₁V₂ + V₁E₂² + V₂E₁²
/// (Bayer 2015, thesis, eqs. 14 and 15). Exact for any distribution of either.
#[inline]
pub fn product(a: Moments, b: Moments) -> Moments {
    product_of_sanitized(a.sanitized(), b.sanitized()).sanitized()
}

/// [`product`] of sanitized moments whose product is within the limits.
#[inline(always)]
pub(crate) fn product_of_sanitized(a: Moments, b: Moments) -> Moments {
    Moments {
        mean: a.mean * b.mean,
        var: a.var * b.var + a.var * (b.mean * b.mean) + b.var * (a.mean * a.mean),
    }
}

/// (1 − z)·n + z·h for independent z, n and h, the update of a GRU:
/// `E = (1 − E[z]) E[n] + E[z] E[h]`, `V = E[(1 − z)²] V[n] + E[z²] V[h] + V[z] (E[h] − E[n])²`.
///
/// The law of total variance over z; exact for any distributions. Two products added up would count z as two
/// independent quantities.
#[inline]
pub fn interpolate(z: Moments, n: Moments, h: Moments) -> Moments {
    interpolate_of_sanitized(z.sanitized(), n.sanitized(), h.sanitized()).sanitized()
}

/// [`interpolate`] of sanitized moments whose result is within the limits.
#[inline(always)]
pub(crate) fn interpolate_of_sanitized(z: Moments, n: Moments, h: Moments) -> Moments {
    let (rest, difference) = (1.0 - z.mean, h.mean - n.mean);
    Moments {
        mean: rest * n.mean + z.mean * h.mean,
        var: (rest * rest + z.var) * n.var
            + (z.mean * z.mean + z.var) * h.var
            + z.var * (difference * difference),
    }
}

#[cfg(test)]
pub(crate) mod tests;
