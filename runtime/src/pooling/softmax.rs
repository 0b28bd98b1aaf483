//! The average of values weighted by their softmax over time: stochastic pooling in expectation.

use super::{Pool, log_add_exp};
use crate::moments::Scalar;

/// Largest magnitude of a value in the exponent.
const LARGEST: f64 = 1e6;

/// Average of values weighted by p = softmax(m) over time, e = Σpm.
///
/// With the values normal around m with variances v, and d = 1 + m − e, the derivatives of e by a value are
/// pd and p(1 + (1 − 2p)d). Hence, to second order, the mean is `e + ½Σvp(1 + (1 − 2p)d)`, and to first order
/// the variance `Σp²d²v` (delta method). As e is known only at the end, the state holds the averages of `v`,
/// `v(2 + m)`, `σ` and `σ(1 + m)` with weights p, and the sums of `v`, `v(1 + m)` and `v(1 + m)²` with
/// weights p². One value alone keeps its own moments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftmaxAverage<S> {
    /// ln Σ exp(m).
    log_weight: S,
    /// e.
    mean: S,
    /// Averages with weights p: of v, v(2 + m), σ, σ(1 + m).
    first: [S; 4],
    /// Sums with weights p²: of v, v(1 + m), v(1 + m)².
    second: [S; 3],
}

impl<S: Scalar> Pool<S, 9> for SoftmaxAverage<S> {
    #[inline]
    fn of(mean: S, var: S) -> Self {
        let above = S::constant(1.0) + mean;
        let std_dev = if S::ZERO.is_less(var) { var.sqrt() } else { S::ZERO };
        let moved = var * above;
        SoftmaxAverage {
            log_weight: mean.at_most(LARGEST).at_least(-LARGEST),
            mean,
            first: [var, var + moved, std_dev, std_dev * above],
            second: [var, moved, moved * above],
        }
    }

    #[inline]
    fn merged(self, later: Self, _: S, _: S) -> Self {
        let [log_weight, share] = log_add_exp(self.log_weight, later.log_weight);
        let rest = S::constant(1.0) - share;
        let (squared_rest, squared_share) = (rest * rest, share * share);
        let mut merged =
            SoftmaxAverage { log_weight, mean: self.mean + share * (later.mean - self.mean), ..self };
        for (average, later) in merged.first.iter_mut().zip(later.first) {
            *average = *average + share * (later - *average);
        }
        for (sum, later) in merged.second.iter_mut().zip(later.second) {
            *sum = squared_rest * *sum + squared_share * later;
        }
        merged
    }

    #[inline(always)]
    fn faded(self, _: S, log_keep: S, _: Self) -> Self {
        SoftmaxAverage { log_weight: self.log_weight + log_keep, ..self }
    }

    #[inline]
    fn moments(self, correlation: S) -> [S; 2] {
        let (e, half) = (self.mean, S::constant(0.5));
        let [var, moved_var, std_dev, moved_std_dev] = self.first;
        let [sum, moved, squared] = self.second;
        // Σvp(1 + d) − 2Σvp²d, with d = 1 + m − e.
        let bend = (moved_var - e * var) - (moved - e * sum) - (moved - e * sum);
        // Σp²d²v, and (Σpdσ)².
        let independent = squared - e * (moved + moved - e * sum);
        let independent = if S::ZERO.is_less(independent) { independent } else { S::ZERO };
        let slope = moved_std_dev - e * std_dev;
        let lasting = slope * slope;
        [e + half * bend, independent + correlation * (lasting - independent)]
    }

    #[inline(always)]
    fn words(self) -> [S; 9] {
        let ([a, b, c, d], [e, f, g]) = (self.first, self.second);
        [self.log_weight, self.mean, a, b, c, d, e, f, g]
    }

    #[inline(always)]
    fn of_words([log_weight, mean, a, b, c, d, e, f, g]: [S; 9]) -> Self {
        SoftmaxAverage { log_weight, mean, first: [a, b, c, d], second: [e, f, g] }
    }
}
