//! Imputation of gaps (Bayer and Osendorfer 2014, 4.3; Bayer 2015, thesis, 4.4.2).

use quaver::checkpoint::Likelihood;

use super::model::{LatentFeed, TrainedLatentModel};
use crate::data::interpolated;
use crate::data::{Rows, Sequence};
use crate::prediction::SequencePrediction;

/// A sequence with its gaps filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Imputation {
    /// Observed values, and predicted means in the gaps.
    pub filled: Rows,
    /// Predictions for every value, including observed ones.
    pub prediction: SequencePrediction,
}

/// Options of imputation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImputeOptions {
    /// Rounds of inferring latent variables from rows and rows from latent variables, at least one.
    pub rounds: usize,
    /// Whether imputed values are joined to the observed ones on both sides of a gap; normal outputs only.
    pub joined: bool,
}

impl TrainedLatentModel {
    /// Fills missing values (NaN) iteratively: z = mode of q(z|x), x̂ = mode of p(x|z), and x̂ replaces the
    /// missing values. In the first round a gap has the mean and variance of the training data.
    ///
    /// With `joined`, linear interpolation between the model's errors x − x̂ on both sides of a gap is added
    /// to x̂, since an error at its edge is likely to persist in the gap. A model that predicts a constant
    /// then gives linear interpolation across the gap, which better predictions refine.
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

    /// The reconstruction of rows with gaps, which `current` fills with earlier predictions.
    fn reconstruction(&self, current: &Rows, rows: &Rows, options: ImputeOptions) -> SequencePrediction {
        let mut prediction = self.reconstruct(&[Sequence::next(current.clone())], LatentFeed::Mean).remove(0);
        if options.joined && self.nets.generative.spec.likelihood.is_normal() {
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

/// Adds to means inside gaps of `observed` the linear interpolation of their errors on both sides.
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

/// Sets values that are missing in `observed`.
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
        // Errors of 0.5 and 2.5 on either side, and 2.5 from the last one on; what was observed is not
        // touched.
        assert_eq!(means.values, [0.5, 2.0, 3.5, 3.0, 0.5, 3.25]);
        let mut nothing = Rows { channels: 1, values: vec![7.0; 6] };
        join(&mut nothing, &observed);
        assert_eq!(nothing.values[1..4], interpolated(&observed, &[0.0]).values[1..4], "straight lines");
    }
}
