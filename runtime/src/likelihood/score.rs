//! Scores of an observation: negative log-likelihood and standardised residual.

use core::f64::consts::TAU;

use super::{MIN_VARIANCE, PROBABILITY_MARGIN, Z_LIMIT};
use crate::moments::Scalar;
use crate::spec::Likelihood;

/// Score of one observed value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Score<S = f32> {
    /// Negative log-likelihood in nats.
    pub nll: S,
    /// Residual in predicted standard deviations.
    pub z: S,
}

/// Score of an observation against a prediction of this mean and total variance. Probabilities have no
/// variance of their own: that of a Bernoulli or categorical observation follows from `mean`.
#[inline]
pub fn score<S: Scalar>(likelihood: Likelihood, mean: S, var: S, observed: S) -> Score<S> {
    match likelihood {
        Likelihood::Gaussian | Likelihood::Heteroscedastic => gaussian(mean, var, observed),
        Likelihood::Bernoulli => bernoulli(mean, observed),
        Likelihood::Categorical => categorical(mean, observed),
    }
}

/// −ln N(x | m, v) = ½ (ln 2π + ln v + z²), z = (x − m)/√v; `var` is the total variance, noise included
/// (Bayer 2015, thesis, 2.6.2.2).
#[inline]
pub fn gaussian<S: Scalar>(mean: S, var: S, observed: S) -> Score<S> {
    let var = var.at_least(MIN_VARIANCE);
    let z = ((observed - mean) / var.sqrt()).at_most(Z_LIMIT).at_least(-Z_LIMIT);
    Score { nll: S::constant(0.5) * (S::LN_TWO_PI + var.ln() + z * z), z }
}

/// Derivatives of −ln N(x | m, v) with respect to m and v: −(x − m)/v and (1 − (x − m)²/v)/(2v). Those of
/// [`gaussian`] with a [`Dual`](crate::moments::Dual) number are the same up to rounding; a training loop
/// needs neither its square root nor its limits.
#[inline(always)]
pub fn gaussian_gradient<S: Scalar>(mean: S, var: S, observed: S) -> [S; 2] {
    let (residual, precision) = (observed - mean, S::constant(1.0) / var);
    let square = residual * residual * precision;
    [-residual * precision, S::constant(0.5) * precision * (S::constant(1.0) - square)]
}

/// −`E[ln N(x | y, σ̂²)]` = (v + (x − m)²)/(2σ̂²) + ½ ln 2πσ̂² for y ~ N(m, v): the expected score of
/// variational Bayes (Bayer 2015, thesis, 2.6.2.1). For v = 0 it is −ln N(x | m, σ̂²), without the limits of
/// [`gaussian`].
#[inline]
pub fn expected_gaussian_nll<S: Scalar>(mean: S, var: S, noise_var: S, observed: S) -> S {
    let residual = observed - mean;
    let half = S::constant(0.5);
    half * ((var + residual * residual) / noise_var + (S::constant(TAU) * noise_var).ln())
}

/// −x ln p − (1 − x) ln (1 − p) for x from 0 to 1, p the expected probability of a one.
#[inline]
pub fn bernoulli<S: Scalar>(probability: S, observed: S) -> Score<S> {
    let one = S::constant(1.0);
    let (p, x) = (inner(probability), unit_interval(observed));
    Score { nll: -x * p.ln() - (one - x) * (one - p).ln(), z: residual(x, p) }
}

/// −x ln p: summed over the classes, the negative logarithm of the observed class's probability.
#[inline]
pub fn categorical<S: Scalar>(probability: S, observed: S) -> Score<S> {
    let (p, x) = (inner(probability), unit_interval(observed));
    Score { nll: -x * p.ln(), z: residual(x, p) }
}

/// A probability, kept away from 0 and 1.
#[inline]
fn inner<S: Scalar>(probability: S) -> S {
    let largest = S::constant(1.0) - S::constant(PROBABILITY_MARGIN);
    probability.lesser(largest).at_least(PROBABILITY_MARGIN)
}

#[inline]
fn unit_interval<S: Scalar>(observed: S) -> S {
    observed.at_most(1.0).at_least(0.0)
}

/// (x − p)/√(p (1 − p)).
#[inline]
fn residual<S: Scalar>(x: S, p: S) -> S {
    (x - p) / (p * (S::constant(1.0) - p)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::Dual;

    const ALL: [Likelihood; 4] =
        [Likelihood::Gaussian, Likelihood::Bernoulli, Likelihood::Heteroscedastic, Likelihood::Categorical];

    /// ∫ f over ±12 standard deviations by the trapezoidal rule, whose error is below rounding for a Gaussian
    /// integrand.
    fn integral(mean: f64, var: f64, f: impl Fn(f64) -> f64) -> f64 {
        let (step, s) = (0.01, var.sqrt());
        (-1200..=1200).map(|i| f(mean + s * step * f64::from(i)) * s * step).sum()
    }

    /// A density integrates to 1 and has the moments that it was given; 10⁻¹² is what 2,401 roundings leave.
    #[test]
    fn the_gaussian_score_is_that_of_a_density_with_these_moments() {
        for (mean, var) in [(0.0, 1.0), (-3.0, 0.04), (2.5, 9.0)] {
            let density = |x: f64| (-gaussian(mean, var, x).nll).exp();
            assert!((integral(mean, var, density) - 1.0).abs() < 1e-12);
            assert!((integral(mean, var, |x| x * density(x)) - mean).abs() < 1e-11);
            assert!(
                (integral(mean, var, |x| gaussian(mean, var, x).z.powi(2) * density(x)) - 1.0).abs() < 1e-11
            );
        }
    }

    /// E[−ln N(x | y, σ̂²)] over y ~ N(m, v) by quadrature, to the same precision.
    #[test]
    fn the_expected_gaussian_score_is_the_integral_of_its_definition() {
        for (mean, var, noise, x) in [(0.0, 1.0, 0.5, 0.3), (2.0, 0.1, 3.0, -1.0)] {
            let expected =
                integral(mean, var, |y| (-gaussian(mean, var, y).nll).exp() * gaussian(y, noise, x).nll);
            let found = expected_gaussian_nll(mean, var, noise, x);
            assert!((found - expected).abs() < 1e-11, "{found} {expected}");
        }
    }

    /// The same operations in another order: a few roundings of f64.
    #[test]
    fn the_gaussian_gradient_is_that_of_the_score() {
        for (mean, var, x) in [(0.0, 1.0, 2.0), (1.0, 4.0, 3.0), (-3.0, 0.04, -2.5), (0.1, 30.0, 0.1)] {
            let nll = gaussian(Dual::by_mean(mean), Dual::by_var(var), Dual::constant(x)).nll;
            let found = gaussian_gradient::<f64>(mean, var, x);
            for (found, expected) in found.into_iter().zip([nll.by_mean, nll.by_var]) {
                assert!((found - expected).abs() < 1e-14 * (1.0 + expected.abs()), "{found} {expected}");
            }
        }
    }

    /// Probabilities of all outcomes add up to 1, and z has mean 0 and variance 1 over them.
    #[test]
    fn binary_scores_are_those_of_a_distribution_over_two_outcomes() {
        for p in [0.01_f64, 0.3, 0.8] {
            let scores = [bernoulli(p, 1.0), bernoulli(p, 0.0)];
            let weights = scores.map(|score| (-score.nll).exp());
            assert!((weights[0] - p).abs() < 1e-15 && (weights[0] + weights[1] - 1.0).abs() < 1e-15);
            let moment = |power| (0..2).map(|i| weights[i] * scores[i].z.powi(power)).sum::<f64>();
            assert!(moment(1).abs() < 1e-13 && (moment(2) - 1.0).abs() < 1e-13);
            assert!((categorical(p, 1.0).nll + p.ln()).abs() < 1e-15 && categorical(p, 0.0).nll == 0.0);
        }
    }

    /// In f32 three roundings of numbers below 4: 10⁻⁶.
    #[test]
    fn f32_agrees_with_f64() {
        for likelihood in ALL {
            for (mean, var, observed) in [(0.8_f32, 0.16_f32, 1.0_f32), (0.2, 0.5, 0.0), (0.5, 4.0, 1.0)] {
                let narrow = score(likelihood, mean, var, observed);
                let wide = score::<f64>(likelihood, mean.into(), var.into(), observed.into());
                assert!((f64::from(narrow.nll) - wide.nll).abs() < 1e-6, "{likelihood:?}");
                assert!((f64::from(narrow.z) - wide.z).abs() < 1e-6, "{likelihood:?}");
            }
        }
    }

    /// Central differences with a step of 10⁻⁴ miss third derivatives times 10⁻⁸, which are below 100 here.
    #[test]
    fn dual_numbers_carry_the_derivatives_of_the_scores() {
        for likelihood in ALL {
            for (mean, var, observed) in [(0.3_f64, 0.7, 1.0), (0.8, 2.0, 0.0)] {
                let nll = |mean, var| score(likelihood, mean, var, observed).nll;
                let dual =
                    score(likelihood, Dual::by_mean(mean), Dual::by_var(var), Dual::constant(observed)).nll;
                let by_mean = (nll(mean + 1e-4, var) - nll(mean - 1e-4, var)) / 2e-4;
                let by_var = (nll(mean, var + 1e-4) - nll(mean, var - 1e-4)) / 2e-4;
                assert!((dual.by_mean - by_mean).abs() < 1e-6, "{likelihood:?}: {} {by_mean}", dual.by_mean);
                assert!((dual.by_var - by_var).abs() < 1e-6, "{likelihood:?}: {} {by_var}", dual.by_var);
            }
        }
    }

    #[test]
    fn scores_stay_finite() {
        for (mean, var) in [(0.0, 0.0), (f32::MAX, f32::MAX), (1.0, 1e-12)] {
            for observed in [0.0, f32::MAX, -f32::MAX, 1e-40] {
                for likelihood in ALL {
                    let Score { nll, z } = score(likelihood, mean, var, observed);
                    assert!(nll.is_finite() && z.is_finite(), "{likelihood:?} {mean} {var} {observed}");
                }
            }
        }
    }
}
