//! The fitted formulas in f64: the same coefficients without the rounding, so that differences are good to
//! many digits.

use crate::moments::scalar::{FittedScalar, Scalar};
use core::ops::{Add, Div, Mul, Neg, Sub};

/// An f64 that f32 coefficients can be added to and multiplied with.
#[derive(Clone, Copy)]
pub(super) struct Wide(pub(super) f64);

impl Scalar for Wide {
    const LN_TWO_PI: Self = Wide(f64::LN_TWO_PI);
    const ZERO: Self = Wide(0.0);

    fn constant(value: f64) -> Self {
        Wide(value)
    }

    fn is_less(self, other: Self) -> bool {
        self.0 < other.0
    }

    fn exp(self) -> Self {
        Wide(self.0.exp())
    }

    fn ln(self) -> Self {
        Wide(self.0.ln())
    }

    fn sqrt(self) -> Self {
        Wide(self.0.sqrt())
    }
}

impl FittedScalar for Wide {
    fn reciprocal(self) -> Self {
        Wide(1.0 / self.0)
    }

    fn inverse_sqrt(self) -> Self {
        Wide(1.0 / self.0.sqrt())
    }

    fn exp2(self) -> Self {
        Wide(self.0.exp2())
    }
}

macro_rules! operators {
    ($($operation:ident $method:ident)*) => {$(
        impl $operation for Wide {
            type Output = Wide;

            fn $method(self, other: Wide) -> Wide {
                Wide($operation::$method(self.0, other.0))
            }
        }

        impl $operation<f32> for Wide {
            type Output = Wide;

            fn $method(self, constant: f32) -> Wide {
                Wide($operation::$method(self.0, f64::from(constant)))
            }
        }
    )*};
}

operators!(Add add Sub sub Mul mul Div div);

impl Neg for Wide {
    type Output = Wide;

    fn neg(self) -> Wide {
        Wide(-self.0)
    }
}
