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
        Likelihood::Gaussian | Likelihood::Heteroscedastic => gaussian(predicted, observed),
        Likelihood::Bernoulli => bernoulli(predicted.mean, observed),
        Likelihood::Categorical => categorical(predicted.mean, observed),
    }
}

/// One copy for all its callers.
#[inline(never)]
fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// −log N(x | mean, variance) = ½ (ln 2π + ln variance + z²).
fn gaussian(predicted: Output, observed: f32) -> Score {
    let variance = predicted.variance.max(f32::MIN_POSITIVE);
    let z = ((observed - predicted.mean) / libm::sqrtf(variance)).clamp(-Z_LIMIT, Z_LIMIT);
    Score { nll: 0.5 * (LN_TWO_PI + ln(variance) + z * z), z }
}

/// −x ln p − (1 − x) ln (1 − p).
fn bernoulli(probability: f32, observed: f32) -> Score {
    let p = probability.clamp(PROBABILITY_MARGIN, 1.0 - PROBABILITY_MARGIN);
    let x = observed.clamp(0.0, 1.0);
    let nll = -x * ln(p) - (1.0 - x) * ln(1.0 - p);
    Score { nll, z: (x - p) / libm::sqrtf(p * (1.0 - p)) }
}

/// −x ln p: summed over the classes, minus the logarithm of the probability of the one observed.
fn categorical(probability: f32, observed: f32) -> Score {
    let p = probability.clamp(PROBABILITY_MARGIN, 1.0 - PROBABILITY_MARGIN);
    let x = observed.clamp(0.0, 1.0);
    Score { nll: -x * ln(p), z: (x - p) / libm::sqrtf(p * (1.0 - p)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_score_is_the_log_density() {
        let predicted = Output::of(1.0, 1.5, 2.5);
        let Score { nll, z } = score(Likelihood::Gaussian, predicted, 5.0);
        let density = (-2.0_f64).exp() / (2.0 * (2.0 * core::f64::consts::PI).sqrt());
        assert_eq!(z, 2.0);
        assert!((f64::from(nll) + density.ln()).abs() < 1e-6);
    }

    #[test]
    fn bernoulli_score_is_the_log_probability() {
        let predicted = Output::of(0.8, 0.0, 0.16);
        assert!((f64::from(score(Likelihood::Bernoulli, predicted, 1.0).nll) + 0.8_f64.ln()).abs() < 1e-6);
        assert!((f64::from(score(Likelihood::Bernoulli, predicted, 0.0).nll) + 0.2_f64.ln()).abs() < 1e-6);
        assert!((score(Likelihood::Bernoulli, predicted, 0.0).z + 2.0).abs() < 1e-6);
    }

    #[test]
    fn scores_stay_finite() {
        for predicted in
            [Output::of(0.0, 0.0, 0.0), Output::of(f32::MAX, f32::MAX, f32::MAX), Output::of(1.0, 0.0, 1e-12)]
        {
            for observed in [0.0, f32::MAX, -f32::MAX, 1e-40] {
                for likelihood in [Likelihood::Gaussian, Likelihood::Bernoulli, Likelihood::Categorical] {
                    let Score { nll, z } = score(likelihood, predicted, observed);
                    assert!(nll.is_finite() && z.is_finite(), "{predicted:?} {observed}");
                }
            }
        }
    }
}
