//! How unlikely an observation is under an output's moments, and the derivatives of that.

use std::f64::consts::TAU;

use quaver::checkpoint::MomentForm;
use quaver::moments::{Moments, gradient};

/// Negative log-likelihood of one value, in nats, with its derivatives by the moments of the output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Term {
    /// −ln p(z | y).
    pub nll: f64,
    /// Derivative by the mean.
    pub by_mean: f32,
    /// Derivative by the variance.
    pub by_var: f32,
}

/// −ln N(z | E[y], s), where s is the variance of the output and of the noise together.
pub fn gaussian(target: f32, mean: f32, total_var: f32) -> Term {
    let residual = target - mean;
    let precision = 1.0 / total_var;
    let square = residual * residual * precision;
    let log = (TAU * f64::from(total_var)).ln();
    Term {
        nll: 0.5 * (log + f64::from(square)),
        by_mean: -residual * precision,
        by_var: 0.5 * precision * (1.0 - square),
    }
}

/// Cross entropy of a target of 0 or 1 with E[σ(a)].
///
/// 1 − E[σ(a)] is E[σ(−a)], so that a target of 0 is one of 1 for the mirrored output: no probability is ever the
/// difference of 1 and a number close to 1.
pub fn bernoulli(target: f32, mean: f32, var: f32, form: MomentForm) -> Term {
    let sign = if target > 0.5 { 1.0 } else { -1.0 };
    let output = Moments { mean: sign * mean, var };
    let (squashed, jacobian) = match form {
        MomentForm::Accurate => gradient::sigmoid(output),
        MomentForm::Paper => gradient::paper_sigmoid(output),
    };
    let probability = squashed.mean.max(f32::MIN_POSITIVE);
    Term {
        nll: -f64::from(probability).ln(),
        by_mean: -sign * jacobian.mean_by_mean / probability,
        by_var: -jacobian.mean_by_var / probability,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaussian_terms_by_hand() {
        // N(0 | 0, 1): ½ ln 2π.
        assert!((gaussian(0.0, 0.0, 1.0).nll - 0.918_938_533_2).abs() < 1e-9);
        // N(3 | 1, 4): ½ (ln 8π + 1); slopes −(3 − 1)/4 and ½·¼·(1 − 1).
        let term = gaussian(3.0, 1.0, 4.0);
        assert!((term.nll - 2.112_085_713_7).abs() < 1e-9);
        assert_eq!((term.by_mean, term.by_var), (-0.5, 0.0));
        // N(2 | 0, 1): slopes −2 and ½ (1 − 4).
        let term = gaussian(2.0, 0.0, 1.0);
        assert_eq!((term.by_mean, term.by_var), (-2.0, -1.5));
    }

    #[test]
    fn bernoulli_terms_of_a_certain_output_by_hand() {
        // σ(ln 3) = ¾.
        let logit = 3.0_f32.ln();
        let one = bernoulli(1.0, logit, 0.0, MomentForm::Accurate);
        let zero = bernoulli(0.0, logit, 0.0, MomentForm::Accurate);
        assert!((one.nll - -(0.75_f64.ln())).abs() < 1e-3, "{one:?}");
        assert!((zero.nll - -(0.25_f64.ln())).abs() < 1e-3, "{zero:?}");
        assert!((one.by_mean - -0.25).abs() < 1e-3, "{one:?}");
        assert!((zero.by_mean - 0.75).abs() < 1e-3, "{zero:?}");
    }

    #[test]
    fn uncertainty_makes_a_wrong_output_less_wrong() {
        let sure = bernoulli(0.0, 3.0, 0.0, MomentForm::Accurate);
        let unsure = bernoulli(0.0, 3.0, 4.0, MomentForm::Accurate);
        assert!(unsure.nll < sure.nll - 0.5);
        assert!(unsure.by_var < 0.0);
    }

    #[test]
    fn the_most_unlikely_observation_has_a_finite_loss() {
        for form in [MomentForm::Accurate, MomentForm::Paper] {
            let term = bernoulli(1.0, -1e4, 0.0, form);
            assert!(term.nll.is_finite() && term.by_mean.is_finite() && term.by_var.is_finite(), "{term:?}");
            assert!(term.nll > 80.0);
        }
    }
}
