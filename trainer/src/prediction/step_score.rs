//! The scores of one time step.

use std::iter::Sum;
use std::ops::AddAssign;

use super::entropy::information;

/// Entropy of a prediction and NLL of what followed, of one or more time steps, in nats.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepScore {
    /// Entropy of the predictive distribution.
    pub entropy: f64,
    /// Negative log-likelihood of what followed.
    pub nll: f64,
}

impl AddAssign for StepScore {
    fn add_assign(&mut self, other: Self) {
        self.entropy += other.entropy;
        self.nll += other.nll;
    }
}

impl<'a> Sum<&'a StepScore> for StepScore {
    fn sum<I: Iterator<Item = &'a StepScore>>(scores: I) -> Self {
        let mut total = StepScore::default();
        scores.for_each(|score| total += *score);
        total
    }
}

/// Entropy −Σ p ln p of a class with these probabilities (Fortunato, Blundell and Vinyals 2017, eq. 19).
pub(crate) fn class_entropy(probabilities: &[f32]) -> f64 {
    probabilities.iter().map(|p| information(f64::from(*p))).sum()
}
