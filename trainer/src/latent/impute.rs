//! Gaps filled in (Bayer and Osendorfer 2014, 4.3; Bayer 2015, thesis, 4.4.2).

use quaver::checkpoint::Likelihood;

use super::model::{Feed, LatentModel};
use crate::data::{Rows, Sequence};
use crate::evaluate::Forecast;

/// A sequence without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Imputation {
    /// What was observed, and means where nothing was.
    pub filled: Rows,
    /// What the model says of every value, those observed included.
    pub said: Forecast,
}

impl LatentModel {
    /// Fills missing values (NaN) in, round by round: z = mode of q(z|x), x̂ = mode of p(x|z), and x̂ takes the place of what is
    /// missing. Gaps begin as unknown: with the mean and the variance of the training data.
    pub fn impute(&self, rows: &Rows, rounds: usize) -> Imputation {
        let mut current = rows.clone();
        let mut said = self.reconstruction(&current);
        for _ in 1..rounds.max(1) {
            fill(&mut current, rows, &said.mean, |mean| self.mode(mean));
            said = self.reconstruction(&current);
        }
        let mut filled = rows.clone();
        fill(&mut filled, rows, &said.mean, |mean| mean);
        Imputation { filled, said }
    }

    fn reconstruction(&self, rows: &Rows) -> Forecast {
        self.reconstruct(&[Sequence::next(rows.clone())], Feed::Mean).remove(0)
    }

    /// The most likely value of an output with this mean.
    fn mode(&self, mean: f32) -> f32 {
        match self.nets.generating.spec.likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => mean,
            Likelihood::Bernoulli | Likelihood::Categorical => mean.round(),
        }
    }
}

/// Puts values where `observed` has none.
fn fill(rows: &mut Rows, observed: &Rows, means: &Rows, value: impl Fn(f32) -> f32) {
    let places = rows.values.iter_mut().zip(&observed.values).zip(&means.values);
    for ((place, observed), mean) in places {
        if observed.is_nan() {
            *place = value(*mean);
        }
    }
}
