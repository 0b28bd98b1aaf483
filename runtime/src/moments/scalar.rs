//! Numbers that a moment formula can be written in: plain, or with derivatives riding along.
//!
//! Each formula is written once, generic over [`Scalar`]. Run on `f32` it is the function; run on [`Dual`]
//! it is the same function, bit for bit, together with its derivatives by mean and by variance. What the
//! trainer differentiates is therefore what the microcontroller computes, approximation errors included.

use super::elementary::{exp2, inverse_sqrt};
use core::f32::consts::LN_2;
use core::ops::{Add, Mul, Sub};

/// What a formula may do with its numbers. Constants are always `f32`.
pub(super) trait Scalar:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Add<f32, Output = Self>
    + Mul<f32, Output = Self>
{
    /// A number that depends on neither mean nor variance.
    fn constant(value: f32) -> Self;

    /// The number itself, without derivatives.
    fn value(self) -> f32;

    /// f(self), given the value and the slope of f there.
    fn chain(self, value: f32, slope: f32) -> Self;

    /// |x|.
    #[inline(always)]
    fn magnitude(self) -> Self {
        if self.value() < 0.0 { self * -1.0 } else { self }
    }

    /// The smaller of the two.
    #[inline(always)]
    fn at_most(self, limit: f32) -> Self {
        if self.value() < limit { self } else { Self::constant(limit) }
    }

    /// The larger of the two.
    #[inline(always)]
    fn at_least(self, limit: f32) -> Self {
        if self.value() > limit { self } else { Self::constant(limit) }
    }

    /// 1/x.
    #[inline(always)]
    fn reciprocal(self) -> Self {
        let inverse = 1.0 / self.value();
        self.chain(inverse, -inverse * inverse)
    }

    /// 1/√x for x ≥ 1.
    #[inline(always)]
    fn inverse_sqrt(self) -> Self {
        let y = inverse_sqrt(self.value());
        self.chain(y, -0.5 * y * (y * y))
    }

    /// 2ˣ for |x| ≤ 126.
    #[inline(always)]
    fn exp2(self) -> Self {
        let power = exp2(self.value());
        self.chain(power, LN_2 * power)
    }
}

impl Scalar for f32 {
    #[inline(always)]
    fn constant(value: f32) -> Self {
        value
    }

    #[inline(always)]
    fn value(self) -> f32 {
        self
    }

    #[inline(always)]
    fn chain(self, value: f32, _slope: f32) -> Self {
        value
    }
}

/// A value and its derivatives by the mean and by the variance that went in.
#[derive(Clone, Copy)]
pub(super) struct Dual {
    pub(super) value: f32,
    pub(super) by_mean: f32,
    pub(super) by_var: f32,
}

impl Scalar for Dual {
    #[inline(always)]
    fn constant(value: f32) -> Self {
        Dual { value, by_mean: 0.0, by_var: 0.0 }
    }

    #[inline(always)]
    fn value(self) -> f32 {
        self.value
    }

    #[inline(always)]
    fn chain(self, value: f32, slope: f32) -> Self {
        Dual { value, by_mean: slope * self.by_mean, by_var: slope * self.by_var }
    }
}

impl Add for Dual {
    type Output = Dual;

    #[inline(always)]
    fn add(self, other: Dual) -> Dual {
        Dual {
            value: self.value + other.value,
            by_mean: self.by_mean + other.by_mean,
            by_var: self.by_var + other.by_var,
        }
    }
}

impl Sub for Dual {
    type Output = Dual;

    #[inline(always)]
    fn sub(self, other: Dual) -> Dual {
        Dual {
            value: self.value - other.value,
            by_mean: self.by_mean - other.by_mean,
            by_var: self.by_var - other.by_var,
        }
    }
}

impl Mul for Dual {
    type Output = Dual;

    #[inline(always)]
    fn mul(self, other: Dual) -> Dual {
        Dual {
            value: self.value * other.value,
            by_mean: self.by_mean * other.value + self.value * other.by_mean,
            by_var: self.by_var * other.value + self.value * other.by_var,
        }
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
