//! Number types that a formula can be evaluated in.
//!
//! Each formula is written once, generic over [`Scalar`]: evaluated in `f32` it is what a board computes, in
//! `f64` it is a reference, and in [`Dual`] it is the same function, bit for bit, together with its
//! derivatives. What the trainer differentiates is therefore what the microcontroller computes, approximation
//! errors included.

use core::ops::{Add, Div, Mul, Neg, Sub};

use super::elementary::{exp2, inverse_sqrt};
use super::square_root;
use core::f32::consts::LN_2;

/// A number that likelihoods and noise can be evaluated in: `f32`, `f64`, or a [`Dual`] of either.
pub trait Scalar:
    Copy + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// Zero.
    const ZERO: Self;
    /// ln 2π. In `f32` it is one unit in the last place above the nearest number: recorded scores contain it.
    const LN_TWO_PI: Self;

    /// The nearest number to `value`, with derivatives of zero.
    fn constant(value: f64) -> Self;

    /// Whether the value is less than another's; false if either is NaN.
    fn is_less(self, other: Self) -> bool;

    /// eˣ.
    fn exp(self) -> Self;

    /// ln x for x > 0.
    fn ln(self) -> Self;

    /// √x for x ≥ 0.
    fn sqrt(self) -> Self;

    /// The smaller of the two; `other` if either is NaN.
    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        if self.is_less(other) { self } else { other }
    }

    /// The larger of the two; `other` if either is NaN.
    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        if other.is_less(self) { self } else { other }
    }

    /// The number, at most `limit`.
    #[inline(always)]
    fn at_most(self, limit: f64) -> Self {
        self.lesser(Self::constant(limit))
    }

    /// The number, at least `limit`.
    #[inline(always)]
    fn at_least(self, limit: f64) -> Self {
        self.greater(Self::constant(limit))
    }
}

impl Scalar for f32 {
    const LN_TWO_PI: Self = 1.837_877_1;
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn constant(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn exp(self) -> Self {
        libm::expf(self)
    }

    #[inline(never)] // one copy in flash for all its callers
    fn ln(self) -> Self {
        libm::logf(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        square_root::sqrt(self)
    }
}

impl Scalar for f64 {
    const LN_TWO_PI: Self = 1.837_877_066_409_345_6;
    const ZERO: Self = 0.0;

    #[inline(always)]
    fn constant(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self < other
    }

    #[inline(always)]
    fn exp(self) -> Self {
        libm::exp(self)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        libm::log(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        libm::sqrt(self)
    }
}

/// A value with its derivatives with respect to two inputs, a mean and a variance (forward-mode
/// differentiation).
///
/// ```
/// use quaver::likelihood;
/// use quaver::moments::{Dual, Scalar};
///
/// // −ln N(3 | 1, 4) and its derivatives by mean and variance: −(3 − 1)/4 and ½·¼·(1 − 1).
/// let nll = likelihood::gaussian(Dual::by_mean(1.0_f64), Dual::by_var(4.0), Dual::constant(3.0)).nll;
/// assert!((nll.by_mean + 0.5).abs() < 1e-15 && nll.by_var.abs() < 1e-15);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<T = f32> {
    /// The value.
    pub value: T,
    /// Derivative with respect to the mean.
    pub by_mean: T,
    /// Derivative with respect to the variance.
    pub by_var: T,
}

impl<T: Scalar> Dual<T> {
    /// The mean itself: derivative 1.
    #[inline(always)]
    pub fn by_mean(mean: T) -> Self {
        Dual { value: mean, by_mean: T::constant(1.0), by_var: T::ZERO }
    }

    /// The variance itself: derivative 1.
    #[inline(always)]
    pub fn by_var(var: T) -> Self {
        Dual { value: var, by_mean: T::ZERO, by_var: T::constant(1.0) }
    }

    /// f(x) by the chain rule, from f and f′ at the value.
    #[inline(always)]
    pub(super) fn chain(self, value: T, slope: T) -> Self {
        Dual { value, by_mean: slope * self.by_mean, by_var: slope * self.by_var }
    }
}

impl<T: Scalar> Scalar for Dual<T> {
    const LN_TWO_PI: Self = Dual { value: T::LN_TWO_PI, by_mean: T::ZERO, by_var: T::ZERO };
    const ZERO: Self = Dual { value: T::ZERO, by_mean: T::ZERO, by_var: T::ZERO };

    #[inline(always)]
    fn constant(value: f64) -> Self {
        Dual { value: T::constant(value), by_mean: T::ZERO, by_var: T::ZERO }
    }

    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        self.value.is_less(other.value)
    }

    #[inline(always)]
    fn exp(self) -> Self {
        let power = self.value.exp();
        self.chain(power, power)
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.chain(self.value.ln(), T::constant(1.0) / self.value)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value.sqrt();
        self.chain(root, T::constant(0.5) / root)
    }
}

impl<T: Scalar> Add for Dual<T> {
    type Output = Self;

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Dual {
            value: self.value + other.value,
            by_mean: self.by_mean + other.by_mean,
            by_var: self.by_var + other.by_var,
        }
    }
}

impl<T: Scalar> Sub for Dual<T> {
    type Output = Self;

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Dual {
            value: self.value - other.value,
            by_mean: self.by_mean - other.by_mean,
            by_var: self.by_var - other.by_var,
        }
    }
}

impl<T: Scalar> Mul for Dual<T> {
    type Output = Self;

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Dual {
            value: self.value * other.value,
            by_mean: self.by_mean * other.value + self.value * other.by_mean,
            by_var: self.by_var * other.value + self.value * other.by_var,
        }
    }
}

impl<T: Scalar> Div for Dual<T> {
    type Output = Self;

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let value = self.value / other.value;
        Dual {
            value,
            by_mean: (self.by_mean - value * other.by_mean) / other.value,
            by_var: (self.by_var - value * other.by_var) / other.value,
        }
    }
}

impl<T: Scalar> Neg for Dual<T> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        Dual { value: -self.value, by_mean: -self.by_mean, by_var: -self.by_var }
    }
}

impl Add<f32> for Dual {
    type Output = Dual;

    #[inline(always)]
    fn add(self, constant: f32) -> Dual {
        Dual { value: self.value + constant, ..self }
    }
}

impl Mul<f32> for Dual {
    type Output = Dual;

    #[inline(always)]
    fn mul(self, factor: f32) -> Dual {
        self.chain(self.value * factor, factor)
    }
}

/// A scalar for the fitted moments of sigmoid and tanh: polynomials with f32 coefficients, and functions
/// without branches that vectorise.
pub(super) trait FittedScalar: Scalar + Add<f32, Output = Self> + Mul<f32, Output = Self> {
    /// 1/x.
    fn reciprocal(self) -> Self;

    /// 1/√x for x ≥ 1.
    fn inverse_sqrt(self) -> Self;

    /// 2ˣ for |x| ≤ 126.
    fn exp2(self) -> Self;

    /// Whether the value is below zero.
    #[inline(always)]
    fn is_negative(self) -> bool {
        self.is_less(Self::ZERO)
    }

    /// |x|.
    #[inline(always)]
    fn magnitude(self) -> Self {
        if self.is_negative() { self * -1.0 } else { self }
    }
}

impl FittedScalar for f32 {
    #[inline(always)]
    fn reciprocal(self) -> Self {
        1.0 / self
    }

    #[inline(always)]
    fn inverse_sqrt(self) -> Self {
        inverse_sqrt(self)
    }

    #[inline(always)]
    fn exp2(self) -> Self {
        exp2(self)
    }
}

impl FittedScalar for Dual {
    #[inline(always)]
    fn reciprocal(self) -> Self {
        let inverse = 1.0 / self.value;
        self.chain(inverse, -inverse * inverse)
    }

    #[inline(always)]
    fn inverse_sqrt(self) -> Self {
        let y = inverse_sqrt(self.value);
        self.chain(y, -0.5 * y * (y * y))
    }

    #[inline(always)]
    fn exp2(self) -> Self {
        let power = exp2(self.value);
        self.chain(power, LN_2 * power)
    }
}
