//! Pooling over time: a sequence of random values becomes one, mean and variance, in fixed memory.
//!
//! Each operator is a small state that is [made](Pool::of) from the moments of one value and
//! [merged](Pool::merged) with another: a running pool merges the newest value, a window merges its parts.
//! States hold averages, never growing sums, so that a stream of any length stays inside the range and the
//! precision of f32. All formulas are generic over the [`Scalar`].
//!
//! | pooling | mean | variance for independent noise | exact |
//! |---|---|---|---|
//! | mean | Σm/n | Σv/n² | yes |
//! | sum | Σm | Σv | yes |
//! | max | Clark 1961, one pair after the other | likewise | for two normal values |
//! | stochastic | Σpm + ½Σvp(1 + (1 − 2p)d) | Σp²d²v | to second and first order in v |
//!
//! with p = softmax(m) over time and d = 1 + m − Σpm.
//!
//! # Noise that lasts
//!
//! Moments say nothing about how the noise of one time is correlated with that of another. Independent noise
//! averages out; noise of one cause, such as a channel that is missing for the whole sequence, does not. A
//! correlation ρ between all pairs of times covers both. With σ = √v:
//!
//! - the variance of a mean is `(1 − ρ)Σv/n² + ρ(Σσ/n)²`, for ρ = 1 the largest that the variances allow
//!   (Cauchy-Schwarz);
//! - that of stochastic pooling is `(1 − ρ)Σp²d²v + ρ(Σpdσ)²`;
//! - Clark's formula takes ρ as it is.

mod average;
mod maximum;
mod normal;
mod softmax;

pub use average::Average;
pub use maximum::{Maximum, larger};
pub use normal::{distribution_and_density, log_add_exp};
pub use softmax::SoftmaxAverage;

use crate::moments::Scalar;

/// State of a pooling operator for one component.
pub trait Pool<S: Scalar, const WORDS: usize>: Copy {
    /// The pool of one value with this mean and variance.
    fn of(mean: S, var: S) -> Self;

    /// This pool and a later one together. `share` is that of the later one in the weight of both, for
    /// operators that weigh all values alike.
    fn merged(self, later: Self, share: S, correlation: S) -> Self;

    /// This pool after some time without values: its weight is multiplied by `keep`, whose logarithm is
    /// `log_keep`. A maximum instead approaches the `newest` value by the share 1 − `keep`.
    fn faded(self, keep: S, log_keep: S, newest: Self) -> Self;

    /// Mean and variance of the pooled value.
    fn moments(self, correlation: S) -> [S; 2];

    /// The numbers of the state.
    fn words(self) -> [S; WORDS];

    /// The state of [`words`](Self::words).
    fn of_words(words: [S; WORDS]) -> Self;
}

/// Logarithm of the factor by which weights fade from row to row; finite also for 0, which leaves nothing.
pub(crate) fn log_keep(keep: f32) -> f32 {
    /// Below any difference of two values.
    const NOTHING: f64 = -1e9;
    Scalar::ln(keep).at_least(NOTHING)
}

#[cfg(test)]
mod tests;
