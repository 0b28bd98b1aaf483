//! The average of values, and their sum.

use super::Pool;
use crate::moments::Scalar;

/// Average of values: running moments for independent noise, and the average standard deviation, which is
/// that of the average if the noise is the same at all times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Average<S> {
    mean: S,
    /// Variance of the average for independent noise.
    var: S,
    /// Average standard deviation.
    std_dev: S,
}

impl<S: Scalar> Pool<S, 3> for Average<S> {
    #[inline(always)]
    fn of(mean: S, var: S) -> Self {
        // The derivative of a square root is infinite at zero.
        let std_dev = if S::ZERO.is_less(var) { var.sqrt() } else { S::ZERO };
        Average { mean, var, std_dev }
    }

    #[inline(always)]
    fn merged(self, later: Self, share: S, _: S) -> Self {
        let rest = S::constant(1.0) - share;
        Average {
            mean: self.mean + share * (later.mean - self.mean),
            var: rest * rest * self.var + share * share * later.var,
            std_dev: self.std_dev + share * (later.std_dev - self.std_dev),
        }
    }

    #[inline(always)]
    fn faded(self, _: S, _: S, _: Self) -> Self {
        self // the weight is the caller's
    }

    #[inline(always)]
    fn moments(self, correlation: S) -> [S; 2] {
        let lasting = self.std_dev * self.std_dev;
        [self.mean, self.var + correlation * (lasting - self.var)]
    }

    #[inline(always)]
    fn words(self) -> [S; 3] {
        [self.mean, self.var, self.std_dev]
    }

    #[inline(always)]
    fn of_words([mean, var, std_dev]: [S; 3]) -> Self {
        Average { mean, var, std_dev }
    }
}
