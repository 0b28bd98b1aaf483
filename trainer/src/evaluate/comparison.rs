//! Two predictions of the same rows, compared step by step.

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::bootstrap::mean_std_error;
use super::scores::for_each_value;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

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

    /// Whether the mean is below a limit by more than twice its standard error.
    pub fn is_clearly_below(&self, limit: f64) -> bool {
        self.mean + 2.0 * self.std_error < limit
    }

    /// Whether the mean is above a limit by more than twice its standard error.
    pub fn is_clearly_above(&self, limit: f64) -> bool {
        self.mean - 2.0 * self.std_error > limit
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
}
