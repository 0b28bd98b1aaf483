//! The formulas in f64: the same coefficients without the rounding, so that their differences are good to many digits.

use crate::moments::scalar::Scalar;
use core::ops::{Add, Mul, Sub};

/// A number that is more exact than those that the runtime computes with.
#[derive(Clone, Copy)]
pub(super) struct Wide(pub(super) f64);

impl Scalar for Wide {
    fn constant(value: f32) -> Self {
        Wide(value.into())
    }

    fn value(self) -> f32 {
        self.0 as f32
    }

    /// Every function that is defined by value and slope is defined anew below.
    fn chain(self, _value: f32, _slope: f32) -> Self {
        unreachable!("no formula calls this on its own")
    }

    fn magnitude(self) -> Self {
        Wide(self.0.abs())
    }

    fn at_most(self, limit: f32) -> Self {
        Wide(self.0.min(limit.into()))
    }

    fn at_least(self, limit: f32) -> Self {
        Wide(self.0.max(limit.into()))
    }

    fn reciprocal(self) -> Self {
        Wide(1.0 / self.0)
    }

    fn inverse_sqrt(self) -> Self {
        Wide(1.0 / libm::sqrt(self.0))
    }

    fn exp2(self) -> Self {
        Wide(libm::exp2(self.0))
    }
}

impl Add for Wide {
    type Output = Wide;

    fn add(self, other: Wide) -> Wide {
        Wide(self.0 + other.0)
    }
}

impl Sub for Wide {
    type Output = Wide;

    fn sub(self, other: Wide) -> Wide {
        Wide(self.0 - other.0)
    }
}

impl Mul for Wide {
    type Output = Wide;

    fn mul(self, other: Wide) -> Wide {
        Wide(self.0 * other.0)
    }
}

impl Add<f32> for Wide {
    type Output = Wide;

    fn add(self, constant: f32) -> Wide {
        Wide(self.0 + f64::from(constant))
    }
}

impl Mul<f32> for Wide {
    type Output = Wide;

    fn mul(self, factor: f32) -> Wide {
        Wide(self.0 * f64::from(factor))
    }
}
