//! The score of one predicted value, given the observation.

use std::f64::consts::{PI, SQRT_2};

use quaver::checkpoint::Likelihood;
use quaver::likelihood::{self, MIN_VARIANCE};

use super::sequence::SequencePrediction;
use crate::data::Rows;

/// A prediction and the observed value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoredValue {
    pub(crate) observed: f64,
    pub(crate) mean: f64,
    pub(crate) epistemic: f64,
    pub(crate) aleatoric: f64,
}

impl ScoredValue {
    /// The prediction of one output at one step, and what was observed.
    pub(crate) fn at(prediction: &SequencePrediction, step: usize, output: usize, observed: f32) -> Self {
        let part = |rows: &Rows| f64::from(rows.row(step)[output]);
        ScoredValue {
            observed: f64::from(observed),
            mean: part(&prediction.mean),
            epistemic: part(&prediction.epistemic),
            aleatoric: part(&prediction.aleatoric),
        }
    }

    pub(crate) fn error(&self) -> f64 {
        self.observed - self.mean
    }

    /// The total predicted variance, never zero.
    pub(crate) fn variance(&self) -> f64 {
        (self.epistemic + self.aleatoric).max(MIN_VARIANCE)
    }

    /// The error in predicted standard deviations.
    pub(crate) fn z(&self) -> f64 {
        self.error() / self.variance().sqrt()
    }

    /// −ln p(observed), in nats.
    pub(crate) fn nll(&self, likelihood: Likelihood) -> f64 {
        likelihood::score(likelihood, self.mean, self.variance(), self.observed).nll
    }

    /// The continuous ranked probability score ∫ (F(x) − 1[x ≥ observed])² dx.
    ///
    /// For a normal distribution it is σ (z (2Φ(z) − 1) + 2φ(z) − 1/√π) (Gneiting and Raftery 2007, section
    /// 4.2). For a Bernoulli distribution, F is 1 − p between 0 and 1, which leaves the squared error: the
    /// Brier score.
    pub(crate) fn crps(&self, likelihood: Likelihood) -> f64 {
        if !likelihood.is_normal() {
            return self.error() * self.error();
        }
        let z = self.z();
        let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
        self.variance().sqrt() * (z * libm::erf(z / SQRT_2) + 2.0 * density - 1.0 / PI.sqrt())
    }
}

/// Probability that a normal variate lies within ±|z|.
pub fn central_probability(z: f64) -> f64 {
    libm::erf(z.abs() / SQRT_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(observed: f64, mean: f64, variance: f64) -> ScoredValue {
        ScoredValue { observed, mean, epistemic: 0.25 * variance, aleatoric: 0.75 * variance }
    }

    #[test]
    fn central_probabilities_are_those_of_the_normal_table() {
        for (z, probability) in [(0.674_490, 0.5), (1.644_854, 0.9), (-1.959_964, 0.95)] {
            assert!((central_probability(z) - probability).abs() < 1e-6);
        }
    }

    /// ∫ (F(x) − 1[x ≥ observed])² dx by the midpoint rule. The step at `observed` lies between two cells.
    fn integrated(distribution: impl Fn(f64) -> f64, observed: f64, reach: f64) -> f64 {
        let cells = 200_000;
        let width = reach / f64::from(cells);
        let below = |cell: i32| distribution(observed - (f64::from(cell) + 0.5) * width).powi(2);
        let above = |cell: i32| (1.0 - distribution(observed + (f64::from(cell) + 0.5) * width)).powi(2);
        (0..cells).map(|cell| width * (below(cell) + above(cell))).sum()
    }

    #[test]
    fn crps_of_a_normal_is_the_integral_of_its_definition() {
        for (observed, mean, std_dev) in [(0.0, 0.0, 1.0), (3.0, 1.0, 0.5), (-7.0, 2.0, 4.0), (0.3, 0.2, 2.5)]
        {
            let distribution = |x: f64| 0.5 * libm::erfc((mean - x) / (std_dev * SQRT_2));
            let expected = integrated(distribution, observed, (observed - mean).abs() + 9.0 * std_dev);
            let found = value(observed, mean, std_dev * std_dev).crps(Likelihood::Gaussian);
            // The midpoint rule is good to about width² here.
            assert!((found - expected).abs() < 1e-7, "{found} against {expected}");
        }
    }

    #[test]
    fn crps_of_a_probability_is_the_integral_of_its_definition() {
        for (observed, p) in [(0.0, 0.3), (1.0, 0.3), (1.0, 0.9)] {
            let distribution = |x: f64| {
                if x < 0.0 {
                    0.0
                } else if x < 1.0 {
                    1.0 - p
                } else {
                    1.0
                }
            };
            let expected = integrated(distribution, observed, 2.0);
            let found = value(observed, p, p * (1.0 - p)).crps(Likelihood::Bernoulli);
            // One cell of 1e-5 may fall on the wrong side of a step.
            assert!((found - expected).abs() < 2e-5, "{found} against {expected}");
        }
    }

    #[test]
    fn a_certain_but_wrong_probability_costs_a_finite_number_of_nats() {
        assert!((value(1.0, 0.0, 0.0).nll(Likelihood::Bernoulli) - 16.118).abs() < 1e-3, "−ln 1e-7");
        assert!((value(1.0, 0.8, 0.16).nll(Likelihood::Bernoulli) + 0.8_f64.ln()).abs() < 1e-12);
        assert!((value(0.0, 0.4, 0.24).nll(Likelihood::Bernoulli) + 0.6_f64.ln()).abs() < 1e-12);
    }
}
