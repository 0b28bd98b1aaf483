//! Distributions of observations given the outputs of a network: log-densities, moments and limits.
//!
//! | likelihood | output row | mean | total variance | of which epistemic |
//! |---|---|---|---|---|
//! | Gaussian | a ~ N(m, v) | m | v + σ̂² | v |
//! | heteroscedastic | a ~ N(m, v), s ~ N(m_s, v_s) | m | `v + E[eˢ]` | v |
//! | Bernoulli | p = σ(a) | `E[p]` | `E[p] (1 − E[p])` | `V[p]` |
//! | categorical | p = softmax(a) | `E[p_k]` | `E[p_k] (1 − E[p_k])` | `V[p_k]`, to first order |
//!
//! (Bayer 2015, thesis, 2.6.2.2: the predictive density is N(z | m, v + σ̂²).) The aleatoric part is the
//! difference of the two. Moments of σ(a) are in [`moments`](crate::moments).
//!
//! Every formula is generic over [`Scalar`](crate::moments::Scalar): `f32` on a board, `f64` for evaluation,
//! and [`Dual`](crate::moments::Dual) numbers where training needs derivatives.

mod outputs;
mod score;

pub use outputs::{
    Variances, bernoulli_variances, categorical_moments, expected_noise, normal_variances, residual_sum,
    shrunk_logit, softmax, softmax_gradient,
};
pub use score::{Score, bernoulli, categorical, expected_gaussian_nll, gaussian, gaussian_gradient, score};

/// Largest magnitude of the exponent m + v/2 of an expected noise variance, in standardised units: an extreme
/// input must not end in an infinite variance.
pub const LOG_NOISE_LIMIT: f64 = 18.0;

/// Probabilities are kept this far from 0 and 1 in scores: an impossible observation costs 16 nats, not
/// infinity.
pub const PROBABILITY_MARGIN: f64 = 1e-7;

/// Residuals are kept within this many standard deviations, so that every score is finite.
pub const Z_LIMIT: f64 = 1e6;

/// Smallest variance of a normal density: that of the smallest normal f32.
pub const MIN_VARIANCE: f64 = f32::MIN_POSITIVE as f64;
