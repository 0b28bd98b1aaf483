//! Expectation and variance through activation functions and products.
//!
//! A quantity is known by its [`Moments`]: mean and variance. Each function here takes the moments of a
//! Gaussian input a ~ N(m, v) and gives those of f(a); [`product`] takes two independent inputs of any
//! distribution. [`gradient`] gives the derivatives as well.
//!
//! Every function is total: whatever bits go in, the mean that comes out is finite and the variance is
//! finite and not negative. On the way in an infinite or huge number counts as [`LARGEST`], a negative variance
//! as zero, a mean that is not a number as zero, and a variance that is not a number as [`LARGEST`], because
//! nothing known must never read as certainty.
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
//! [`paper`] holds the formulas as published, for the sake of published results: there the mean is off by up
//! to 0.013 and the variance by up to 0.027, also where the input is certain and it should vanish.

mod elementary;
#[cfg(feature = "quantized")]
pub(crate) mod fixed;
#[cfg(feature = "quantized")]
mod fixed_table;
pub mod gradient;
mod logistic;
pub mod paper;
mod relu;
mod scalar;

pub use gradient::Jacobian;
#[cfg(feature = "float")]
pub(crate) use logistic::{
    deterministic_sigmoid, deterministic_tanh, sigmoid_of_sanitized, tanh_of_sanitized,
};
pub use logistic::{sigmoid, tanh};
pub use relu::relu;

/// The largest mean and variance that come out of here, and that go in without being cut: near the end of what f32
/// holds, with room for the small factors of the formulas.
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
    /// The nearest moments that make sense: finite, variance not negative. What is not a number becomes
    /// mean zero or the largest variance.
    #[inline(always)]
    fn sanitized(self) -> Moments {
        let mean = if self.mean.is_nan() { 0.0 } else { self.mean };
        // A comparison is false for what is not a number: such a variance ends at the maximum.
        let var = at_most(self.var, LARGEST);
        Moments { mean: mean.clamp(-LARGEST, LARGEST), var: if var > 0.0 { var } else { 0.0 } }
    }
}

/// The smaller of the two; the limit for what is not a number. As a comparison, because `f32::min` is a call into a library
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

/// [`product`] of moments that are known to make sense, and to have one that does.
#[inline(always)]
pub(crate) fn product_of_sanitized(a: Moments, b: Moments) -> Moments {
    Moments {
        mean: a.mean * b.mean,
        var: a.var * b.var + a.var * (b.mean * b.mean) + b.var * (a.mean * a.mean),
    }
}

#[cfg(test)]
mod tests;
