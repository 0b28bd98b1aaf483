//! Scores an observation against the prediction made before it.

use super::prediction::Output;
use crate::checkpoint::Likelihood;

/// Probabilities are kept this far from 0 and 1, so that one impossible note costs 16 nats and not infinity.
const PROBABILITY_MARGIN: f32 = 1e-7;

/// ln 2π
const LN_TWO_PI: f32 = 1.837_877_1;

/// Residuals are kept within this many standard deviations, so that every score is finite.
const Z_LIMIT: f32 = 1e6;

/// Negative log-likelihood and standardised residual of one observed channel.
pub(super) struct Score {
    pub(super) nll: f32,
    pub(super) z: f32,
}

pub(super) fn score(likelihood: Likelihood, predicted: Output, observed: f32) -> Score {
    match likelihood {
        Likelihood::Gaussian => gaussian(predicted, observed),
        Likelihood::Bernoulli => bernoulli(predicted.mean, observed),
    }
}

/// −log N(x | mean, variance) = ½ (ln 2π + ln variance + z²).
fn gaussian(predicted: Output, observed: f32) -> Score {
    let variance = predicted.variance.max(f32::MIN_POSITIVE);
    let z = ((observed - predicted.mean) / libm::sqrtf(variance)).clamp(-Z_LIMIT, Z_LIMIT);
    Score { nll: 0.5 * (LN_TWO_PI + libm::logf(variance) + z * z), z }
}

/// −x ln p − (1 − x) ln (1 − p).
fn bernoulli(probability: f32, observed: f32) -> Score {
    let p = probability.clamp(PROBABILITY_MARGIN, 1.0 - PROBABILITY_MARGIN);
    let x = observed.clamp(0.0, 1.0);
    let nll = -x * libm::logf(p) - (1.0 - x) * libm::logf(1.0 - p);
    Score { nll, z: (x - p) / libm::sqrtf(p * (1.0 - p)) }
}
