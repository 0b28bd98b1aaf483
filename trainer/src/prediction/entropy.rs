//! Entropy of a predictive distribution.

use std::f64::consts::{E, TAU};

use quaver::checkpoint::Likelihood;

use super::scored_value::ScoredValue;

impl ScoredValue {
    /// What the predictive distribution of this output adds to the entropy of a step, in nats (Fortunato,
    /// Blundell and Vinyals 2017, eq. 19). For a normal output it is the differential entropy ½ ln(2πe V),
    /// with the total variance V in raw units. A class adds its term −p ln p of the sum over classes.
    pub(crate) fn entropy(&self, likelihood: Likelihood) -> f64 {
        match likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => 0.5 * (TAU * E * self.variance()).ln(),
            Likelihood::Bernoulli => information(self.mean) + information(1.0 - self.mean),
            Likelihood::Categorical => information(self.mean),
        }
    }
}

/// −p ln p, which is 0 for an event that never or always happens.
pub(super) fn information(p: f64) -> f64 {
    if p > 0.0 { -p * p.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn predicted(mean: f64, variance: f64) -> ScoredValue {
        ScoredValue { observed: 0.0, mean, epistemic: 0.5 * variance, aleatoric: 0.5 * variance }
    }

    /// E[−ln p(x)] of a normal distribution by the midpoint rule over ±12 standard deviations, beyond which
    /// less than 1e-30 is left.
    fn integrated(variance: f64) -> f64 {
        let (cells, reach) = (100_000, 12.0 * variance.sqrt());
        let width = 2.0 * reach / f64::from(cells);
        let term = |cell: i32| {
            let x = (f64::from(cell) + 0.5) * width - reach;
            let log = -0.5 * (x * x / variance + (TAU * variance).ln());
            -width * log.exp() * log
        };
        (0..cells).map(term).sum()
    }

    #[test]
    fn a_normal_has_the_entropy_of_its_definition() {
        for variance in [0.01, 1.0, 37.0] {
            let found = predicted(5.0, variance).entropy(Likelihood::Gaussian);
            // The midpoint rule is exact to rounding for a function that vanishes at both ends.
            assert!((found - integrated(variance)).abs() < 1e-9, "{found}");
        }
    }

    #[test]
    fn a_coin_has_one_bit_and_a_certain_event_none() {
        let entropy = |p: f64| predicted(p, 0.0).entropy(Likelihood::Bernoulli);
        assert!((entropy(0.5) - 2.0_f64.ln()).abs() < 1e-15);
        assert_eq!((entropy(0.0), entropy(1.0)), (0.0, 0.0));
        let classes = [0.5, 0.25, 0.25, 0.0].map(|p| predicted(p, 0.0).entropy(Likelihood::Categorical));
        assert!((classes.iter().sum::<f64>() - 1.5 * 2.0_f64.ln()).abs() < 1e-15, "one and a half bits");
    }
}
