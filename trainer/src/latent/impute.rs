//! Gaps filled in (Bayer and Osendorfer 2014, 4.3; Bayer 2015, thesis, 4.4.2).

use quaver::checkpoint::Likelihood;

use super::model::{LatentFeed, TrainedLatentModel};
use crate::data::interpolated;
use crate::data::{Rows, Sequence};
use crate::prediction::{SequencePrediction, is_normal};

/// A sequence without gaps.
#[derive(Clone, Debug, PartialEq)]
pub struct Imputation {
    /// What was observed, and means where nothing was.
    pub filled: Rows,
    /// What the model says of every value, those observed included.
    pub prediction: SequencePrediction,
}

/// How gaps are filled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImputeOptions {
    /// Rounds of guessing latent variables from rows and rows from latent variables, at least one.
    pub rounds: usize,
    /// Whether what is filled in joins what was observed on either side; normal outputs only.
    pub joined: bool,
}

impl TrainedLatentModel {
    /// Fills missing values (NaN) in, round by round: z = mode of q(z|x), x̂ = mode of p(x|z), and x̂ takes the place of what is
    /// missing. Gaps begin as unknown: with the mean and the variance of the training data.
    ///
    /// If they are to join what was observed, a straight line between the model's errors x − x̂ on either side of a gap is added to x̂:
    /// what a model gets wrong there, it gets wrong in the gap. Straight lines across the gap are then what a model that says
    /// nothing comes to, and what it does say bends them.
    pub fn impute(&self, rows: &Rows, options: ImputeOptions) -> Imputation {
        let mut current = rows.clone();
        let mut prediction = self.reconstruction(&current, rows, options);
        for _ in 1..options.rounds.max(1) {
            fill(&mut current, rows, &prediction.mean, |mean| self.mode(mean));
            prediction = self.reconstruction(&current, rows, options);
        }
        let mut filled = rows.clone();
        fill(&mut filled, rows, &prediction.mean, |mean| mean);
        Imputation { filled, prediction }
    }

    /// What the model says of rows with gaps, which are filled in `current` by what it said before.
    fn reconstruction(&self, current: &Rows, rows: &Rows, options: ImputeOptions) -> SequencePrediction {
        let mut prediction = self.reconstruct(&[Sequence::next(current.clone())], LatentFeed::Mean).remove(0);
        if options.joined && is_normal(self.nets.generative.spec.likelihood) {
            join(&mut prediction.mean, rows);
        }
        prediction
    }

    /// The most likely value of an output with this mean.
    fn mode(&self, mean: f32) -> f32 {
        match self.nets.generative.spec.likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => mean,
            Likelihood::Bernoulli | Likelihood::Categorical => mean.round(),
        }
    }
}

/// Adds to means inside gaps of `observed` a line between their errors on either side.
fn join(means: &mut Rows, observed: &Rows) {
    let mut errors = observed.clone();
    errors.values.iter_mut().zip(&means.values).for_each(|(value, mean)| *value -= mean);
    let errors = interpolated(&errors, &vec![0.0; observed.channels]);
    let places = means.values.iter_mut().zip(&observed.values).zip(&errors.values);
    for ((mean, observed), error) in places {
        if observed.is_nan() {
            *mean += error;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_filled_in_joins_what_was_observed() {
        let gap = f32::NAN;
        let observed = Rows { channels: 1, values: vec![1.0, gap, gap, gap, 3.0, gap] };
        let bent = [0.5, 1.0, 2.0, 1.0, 0.5, 0.75];
        let mut means = Rows { channels: 1, values: bent.to_vec() };
        join(&mut means, &observed);
        // Errors of 0.5 and 2.5 on either side, and 2.5 from the last one on; what was observed is not touched.
        assert_eq!(means.values, [0.5, 2.0, 3.5, 3.0, 0.5, 3.25]);
        let mut nothing = Rows { channels: 1, values: vec![7.0; 6] };
        join(&mut nothing, &observed);
        assert_eq!(nothing.values[1..4], interpolated(&observed, &[0.0]).values[1..4], "straight lines");
    }
}
