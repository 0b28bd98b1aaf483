//! Numbers of several rows at once, in which the formulas of the runtime can be evaluated.

use std::f32::consts::LOG2_E;
use std::ops::{Add, Div, Mul, Neg, Sub};

use quaver::export::exp2;
use quaver::moments::Scalar;

/// Rows that are computed together: two of the widest vectors, and enough that a weight is used several times
/// when it is read.
pub(super) const LANES: usize = 32;

/// One number of each row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lanes(pub(super) [f32; LANES]);

impl Lanes {
    #[inline(always)]
    fn map(self, function: impl Fn(f32) -> f32) -> Self {
        Lanes(self.0.map(function))
    }

    #[inline(always)]
    fn with(mut self, other: Self, function: impl Fn(f32, f32) -> f32) -> Self {
        for lane in 0..LANES {
            self.0[lane] = function(self.0[lane], other.0[lane]);
        }
        self
    }
}

macro_rules! lanewise {
    ($($operator:ident, $method:ident;)*) => {
        $(impl $operator for Lanes {
            type Output = Lanes;

            #[inline(always)]
            fn $method(self, other: Lanes) -> Lanes {
                self.with(other, f32::$method)
            }
        })*
    };
}

lanewise! { Add, add; Sub, sub; Mul, mul; Div, div; }

impl Neg for Lanes {
    type Output = Lanes;

    #[inline(always)]
    fn neg(self) -> Lanes {
        self.map(|value| -value)
    }
}

impl Scalar for Lanes {
    const LN_TWO_PI: Self = Lanes([f32::LN_TWO_PI; LANES]);
    const ZERO: Self = Lanes([0.0; LANES]);

    #[inline(always)]
    fn constant(value: f64) -> Self {
        Lanes([value as f32; LANES])
    }

    /// Whether the values of all rows are less.
    #[inline(always)]
    fn is_less(self, other: Self) -> bool {
        (0..LANES).all(|lane| self.0[lane] < other.0[lane])
    }

    /// Within 10⁻⁵ of itself for −87 ≤ x ≤ 87, to which x is limited; NaN stays NaN.
    #[inline(always)]
    fn exp(self) -> Self {
        self.map(|value| {
            let limited = if value < -87.0 { -87.0 } else { value };
            exp2(if limited > 87.0 { 87.0 } else { limited } * LOG2_E)
        })
    }

    #[inline(always)]
    fn ln(self) -> Self {
        self.map(libm::logf)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(f32::sqrt)
    }

    #[inline(always)]
    fn lesser(self, other: Self) -> Self {
        self.with(other, |a, b| if a < b { a } else { b })
    }

    #[inline(always)]
    fn greater(self, other: Self) -> Self {
        self.with(other, |a, b| if a > b { a } else { b })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_compute_what_single_numbers_do() {
        let ramp = |first: f32, step: f32| Lanes(std::array::from_fn(|lane| first + step * lane as f32));
        let (a, b) = (ramp(-80.0, 5.0), ramp(0.5, 0.25));
        for lane in 0..LANES {
            let (x, y) = (a.0[lane], b.0[lane]);
            assert_eq!(
                [(a + b).0[lane], (a - b).0[lane], (a * b).0[lane], (a / b).0[lane]],
                [x + y, x - y, x * y, x / y]
            );
            assert_eq!(
                [b.sqrt().0[lane], (-a).0[lane], a.greater(b).0[lane], a.lesser(b).0[lane]],
                [y.sqrt(), -x, x.max(y), x.min(y)]
            );
            let exact = f64::from(x).exp();
            assert!((f64::from(a.exp().0[lane]) / exact - 1.0).abs() < 1e-5, "e^{x}");
        }
        assert!(ramp(f32::NAN, 1.0).exp().0[0].is_nan());
        assert!(ramp(-1e6, 0.0).exp().0[0] > 0.0 && ramp(1e6, 0.0).exp().0[0].is_finite());
    }
}
