//! Two predictions of the same rows, compared step by step.

use quaver::checkpoint::Likelihood;
use quaver::conformal::normal_quantile;
use serde::Serialize;

use super::bootstrap::mean_std_error;
use super::scores::for_each_value;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// How often a normal variable is more than two standard deviations from its mean.
const TWO_STANDARD_ERRORS: f64 = 0.0455;

/// The mean of a difference, and its standard error.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedDifference {
    /// Mean over all steps.
    pub mean: f64,
    /// Its standard error, with regard to autocorrelation (block bootstrap over time).
    pub std_error: f64,
}

impl PairedDifference {
    /// The mean of `one − other` over steps that both have, by sequence.
    pub fn new(one: &[Vec<f64>], other: &[Vec<f64>]) -> Self {
        let difference = |(one, other): (&Vec<f64>, &Vec<f64>)| -> Vec<f64> {
            one.iter().zip(other).map(|(one, other)| one - other).filter(|value| value.is_finite()).collect()
        };
        let differences: Vec<Vec<f64>> = one.iter().zip(other).map(difference).collect();
        let n: usize = differences.iter().map(Vec::len).sum();
        let mean = differences.iter().flatten().sum::<f64>() / n.max(1) as f64;
        PairedDifference { mean, std_error: mean_std_error(&differences) }
    }

    /// Whether the mean is below a limit by more than chance would explain: by two standard errors.
    pub fn is_clearly_below(&self, limit: f64) -> bool {
        self.is_clearly_the_lowest(limit, 1)
    }

    /// The same of the lowest of `count` differences, of which one or the other is low by chance: by as many
    /// standard errors as make an error as rare as one difference and two standard errors (Bonferroni's
    /// correction).
    pub fn is_clearly_the_lowest(&self, limit: f64, count: usize) -> bool {
        let error_rate = TWO_STANDARD_ERRORS / count.max(1) as f64;
        let standard_errors = f64::from(normal_quantile((1.0 - error_rate) as f32));
        self.mean + standard_errors * self.std_error < limit
    }
}

/// Negative log-likelihood of every step that counts, summed over outputs, in nats; NaN where no target is
/// observed.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn step_nlls(
    likelihood: Likelihood,
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
) -> Vec<Vec<f64>> {
    let mut found: Vec<Vec<f64>> = sequences.iter().map(|sequence| vec![f64::NAN; sequence.len()]).collect();
    for_each_value(sequences, predictions, |place, value| {
        let step = &mut found[place.sequence][place.step];
        let nll = value.nll(likelihood);
        *step = if step.is_nan() { nll } else { *step + nll };
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::evaluate::scores;

    #[test]
    fn steps_add_up_to_the_score() {
        let values = vec![1.0, 2.0, f32::NAN, 4.0, 0.5, -1.0];
        let sequence = Sequence::next(Rows { channels: 2, values });
        let mut prediction = SequencePrediction::zeros(3, 2);
        (0..3).for_each(|step| (0..2).for_each(|output| prediction.set(step, output, 0.5, 0.1, 0.9)));
        let (sequences, predictions) = (vec![sequence], vec![prediction]);
        let names = ["a".to_string(), "b".to_string()];
        let steps = step_nlls(Likelihood::Gaussian, &sequences, &predictions);
        let mean = steps[0].iter().sum::<f64>() / 3.0;
        let score = scores(Likelihood::Gaussian, &names, &sequences, &predictions).nll;
        assert!((mean - score).abs() < 1e-12, "{mean} against {score}");
        let same = PairedDifference::new(&steps, &steps);
        assert_eq!((same.mean, same.std_error), (0.0, 0.0));
    }

    #[test]
    fn a_clear_difference_is_told_from_chance() {
        let noise = |step: usize| f64::from(u32::try_from((step * 7919) % 101).unwrap()) / 101.0 - 0.5;
        let (one, other): (Vec<f64>, Vec<f64>) =
            (0..400).map(|step| (noise(step), noise(3 * step + 1) + 0.5)).unzip();
        let clear = PairedDifference::new(std::slice::from_ref(&one), &[other]);
        assert!(clear.is_clearly_below(0.0) && (clear.mean + 0.5).abs() < 0.1, "{clear:?}");
        let shifted: Vec<f64> = (0..400).map(|step| noise(3 * step + 1)).collect();
        assert!(!PairedDifference::new(&[one], &[shifted]).is_clearly_below(0.0));
    }

    #[test]
    fn the_lowest_of_many_has_to_be_lower() {
        // Normal quantiles of 1 − 0.02275/n: 2.00 for one difference, 3.25 for 40.
        let lower_by = |standard_errors: f64| PairedDifference { mean: -standard_errors, std_error: 1.0 };
        for (count, needed) in [(1, 2.0), (40, 3.25)] {
            assert!(lower_by(needed + 0.01).is_clearly_the_lowest(0.0, count), "{count}");
            assert!(!lower_by(needed - 0.01).is_clearly_the_lowest(0.0, count), "{count}");
        }
    }
}
