//! Likelihood, error and calibration of predictions.
//!
//! Conventions, repeated wherever scores are printed: NLL is in nats with densities in raw units; per output
//! it is the mean over observed values, in total the sum over outputs, averaged over time steps. Coverage is
//! the fraction of observed values inside the central interval of the predictive normal distribution, width
//! the mean width of that interval.

use std::collections::BTreeMap;

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::calibration::CalibrationPoint;
use super::coverage_steps::CoverageSteps;
use super::score_totals::{ScoreTotals, by_percent};
use crate::data::Sequence;
use crate::prediction::ScoredValue;
use crate::prediction::SequencePrediction;

/// Scores of all outputs together, and of each.
#[derive(Clone, Debug, Serialize)]
pub struct Scores {
    /// Negative log-likelihood in nats per time step, summed over outputs.
    pub nll: f64,
    /// The same with densities in units of each output's training standard deviation, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nll_standardised: Option<f64>,
    /// Mean squared error over all observed values.
    pub mse: f64,
    /// Squared error summed over outputs, mean over time steps.
    pub sse_per_step: f64,
    /// Coefficient of determination, averaged over outputs.
    pub r2: f64,
    /// Continuous ranked probability score (for binary outputs the Brier score), mean over all observed
    /// values.
    pub crps: f64,
    /// Coverage of each central interval, by its percentage; empty for binary outputs.
    pub coverage: BTreeMap<String, f64>,
    /// Standard error of each coverage, with regard to autocorrelation
    /// ([`frequency_std_error`](super::frequency_std_error)).
    pub coverage_std_error: BTreeMap<String, f64>,
    /// Mean width of each central interval, by its percentage; empty for binary outputs.
    pub width: BTreeMap<String, f64>,
    /// The calibration curve.
    pub calibration: Vec<CalibrationPoint>,
    /// Mean epistemic variance over all observed values.
    pub epistemic: f64,
    /// Mean aleatoric variance over all observed values.
    pub aleatoric: f64,
    /// Time steps with at least one observed target.
    pub n: usize,
    /// Scores of each output.
    pub per_output: Vec<OutputScores>,
}

/// Scores of one output.
#[derive(Clone, Debug, Serialize)]
pub struct OutputScores {
    /// Name of the output.
    pub name: String,
    /// Negative log-likelihood in nats, mean over observed values.
    pub nll: f64,
    /// The same with densities in units of the output's training standard deviation, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nll_standardised: Option<f64>,
    /// Mean squared error in squared raw units.
    pub mse: f64,
    /// Coefficient of determination: fraction of the variance of the observed values that the means explain.
    pub r2: f64,
    /// Continuous ranked probability score in raw units, or the Brier score; mean over observed values.
    pub crps: f64,
    /// Coverage of each central interval, by its percentage; empty for binary outputs.
    pub coverage: BTreeMap<String, f64>,
    /// Standard error of each coverage, with regard to autocorrelation
    /// ([`frequency_std_error`](super::frequency_std_error)).
    pub coverage_std_error: BTreeMap<String, f64>,
    /// Mean width of each central interval in raw units, by its percentage; empty for binary outputs.
    pub width: BTreeMap<String, f64>,
    /// The calibration curve.
    pub calibration: Vec<CalibrationPoint>,
    /// Mean epistemic variance in squared raw units.
    pub epistemic: f64,
    /// Mean aleatoric variance in squared raw units.
    pub aleatoric: f64,
    /// Number of observed values.
    pub n: usize,
}

impl Scores {
    /// Adds NLLs with densities in units of `std_devs`, one per output: −ln p(y/s) = −ln p(y) − ln s.
    pub fn in_units_of(mut self, std_devs: &[f32]) -> Self {
        let mut shift = 0.0;
        for (output, std_dev) in self.per_output.iter_mut().zip(std_devs) {
            let log = f64::from(*std_dev).ln();
            output.nll_standardised = Some(output.nll - log);
            shift += log * output.n as f64;
        }
        self.nll_standardised = Some(self.nll - shift / self.n.max(1) as f64);
        self
    }
}

/// Scores predictions against the observed targets; missing targets do not count.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn scores(
    likelihood: Likelihood,
    names: &[String],
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
) -> Scores {
    let mut totals = vec![ScoreTotals::default(); names.len()];
    let mut covered = CoverageSteps::new(sequences, names.len());
    for_each_value(sequences, predictions, |place, value| {
        totals[place.output].add(likelihood, &value);
        covered.add(place, &value);
    });
    let observed = |row: &&[f32]| row.iter().any(|value| !value.is_nan());
    let counted =
        |sequence: &Sequence| sequence.targets.iter().skip(sequence.burn_in).filter(observed).count();
    let steps = sequences.iter().map(counted).sum();
    combine(likelihood, names, &totals, &covered, steps)
}

/// Errors in predicted standard deviations, of every observed value.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn standardised_residuals(sequences: &[Sequence], predictions: &[SequencePrediction]) -> Vec<f32> {
    let mut residuals = Vec::new();
    for_each_value(sequences, predictions, |_, value| residuals.push(value.z() as f32));
    residuals
}

/// Where a predicted value stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ValuePlace {
    pub(super) sequence: usize,
    pub(super) step: usize,
    pub(super) output: usize,
}

/// Visits every observed target that counts with its prediction, output by output within each step.
pub(super) fn for_each_value(
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
    mut visit: impl FnMut(ValuePlace, ScoredValue),
) {
    assert_eq!(sequences.len(), predictions.len(), "one prediction per sequence");
    for (index, (sequence, prediction)) in sequences.iter().zip(predictions).enumerate() {
        for (step, targets) in sequence.targets.iter().enumerate().skip(sequence.burn_in) {
            for (output, value) in targets.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
                let place = ValuePlace { sequence: index, step, output };
                visit(place, ScoredValue::at(prediction, step, output, *value));
            }
        }
    }
}

fn combine(
    likelihood: Likelihood,
    names: &[String],
    totals: &[ScoreTotals],
    covered: &CoverageSteps,
    steps: usize,
) -> Scores {
    let of = |(output, (name, total)): (usize, (&String, &ScoreTotals))| OutputScores {
        coverage_std_error: by_percent(likelihood, covered.std_errors(output..output + 1)),
        ..of_output(likelihood, name, total)
    };
    let per_output: Vec<_> = names.iter().zip(totals).enumerate().map(of).collect();
    let mut all = ScoreTotals::default();
    totals.iter().for_each(|total| all.merge(total));
    // A constant output has no R², and is left out of the mean.
    let explained: Vec<f64> = per_output.iter().map(|output| output.r2).filter(|r2| r2.is_finite()).collect();
    let per_step = |sum: f64| sum / steps.max(1) as f64;
    Scores {
        nll: per_step(all.nll),
        nll_standardised: None,
        mse: all.mse(),
        sse_per_step: per_step(all.squared_error),
        r2: explained.iter().sum::<f64>() / explained.len() as f64,
        crps: all.mean_crps(),
        coverage: all.coverage(likelihood),
        coverage_std_error: by_percent(likelihood, covered.std_errors(0..names.len())),
        width: all.width(likelihood),
        calibration: all.calibration(likelihood),
        epistemic: all.mean_epistemic(),
        aleatoric: all.mean_aleatoric(),
        n: steps,
        per_output,
    }
}

fn of_output(likelihood: Likelihood, name: &str, total: &ScoreTotals) -> OutputScores {
    OutputScores {
        name: name.to_string(),
        nll: total.mean_nll(),
        nll_standardised: None,
        mse: total.mse(),
        r2: total.r2(),
        crps: total.mean_crps(),
        coverage: total.coverage(likelihood),
        coverage_std_error: BTreeMap::new(),
        width: total.width(likelihood),
        calibration: total.calibration(likelihood),
        epistemic: total.mean_epistemic(),
        aleatoric: total.mean_aleatoric(),
        n: total.n,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn rows(channels: usize, values: &[f32]) -> Rows {
        Rows { channels, values: values.to_vec() }
    }

    fn two_outputs() -> (Vec<Sequence>, Vec<SequencePrediction>) {
        let targets = rows(2, &[1.0, 10.0, 3.0, f32::NAN, f32::NAN, f32::NAN]);
        let sequence = Sequence::columns(rows(1, &[0.0; 3]), targets);
        let prediction = SequencePrediction {
            mean: rows(2, &[0.0, 12.0, 3.0, 0.0, 0.0, 0.0]),
            epistemic: rows(2, &[0.5, 3.0, 0.5, 1.0, 1.0, 1.0]),
            aleatoric: rows(2, &[0.5, 1.0, 0.5, 1.0, 1.0, 1.0]),
        };
        (vec![sequence], vec![prediction])
    }

    fn found() -> Scores {
        let (sequences, predictions) = two_outputs();
        scores(Likelihood::Gaussian, &["a".to_string(), "b".to_string()], &sequences, &predictions)
    }

    #[test]
    fn rows_that_lead_up_to_others_do_not_count() {
        let (sequences, predictions) = two_outputs();
        let sequences = [Sequence { burn_in: 1, ..sequences[0].clone() }];
        let names = ["a".to_string(), "b".to_string()];
        let found = scores(Likelihood::Gaussian, &names, &sequences, &predictions);
        assert_eq!((found.n, found.sse_per_step, found.per_output[1].n), (1, 0.0, 0));
    }

    #[test]
    fn scores_follow_their_definitions() {
        let found = found();
        let ln_two_pi = (2.0 * std::f64::consts::PI).ln();
        let first = 0.5 * (ln_two_pi + 1.0);
        let second = 0.5 * (ln_two_pi + 4.0_f64.ln() + 1.0);
        let third = 0.5 * ln_two_pi;
        assert!((found.nll - (first + second + third) / 2.0).abs() < 1e-12, "two steps were observed");
        assert_eq!(found.n, 2);
        assert!((found.mse - 5.0 / 3.0).abs() < 1e-12);
        assert!((found.sse_per_step - 2.5).abs() < 1e-12);
        assert_eq!(found.per_output[0].n, 2);
        assert!((found.per_output[0].r2 - 0.5).abs() < 1e-12, "1 of 2 squared units is left");
        assert!(found.per_output[1].r2.is_nan(), "a single value has no spread");
        assert_eq!(found.r2, found.per_output[0].r2);
        assert_eq!((found.per_output[1].epistemic, found.per_output[1].aleatoric), (3.0, 1.0));
        assert!((found.epistemic - 4.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn standardised_densities_grow_with_the_std_dev() {
        let plain = found();
        let scaled = found().in_units_of(&[1.0, 4.0]);
        assert_eq!(scaled.per_output[0].nll_standardised, Some(plain.per_output[0].nll));
        let second = scaled.per_output[1].nll_standardised.unwrap();
        assert!((second - (plain.per_output[1].nll - 4.0_f64.ln())).abs() < 1e-12);
        // Of two steps, one observed the second output.
        assert!((scaled.nll_standardised.unwrap() - (plain.nll - 4.0_f64.ln() / 2.0)).abs() < 1e-12);
    }

    #[test]
    fn intervals_hold_what_lies_inside_them() {
        // z = 1 lies outside the 50 % interval (0.674) and inside the 90 % one (1.645); z = 0 lies inside
        // both.
        let found = found();
        assert!((found.coverage["50"] - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.coverage["90"], 1.0);
        assert_eq!(
            (found.coverage_std_error["90"], found.per_output[1].coverage_std_error["50"]),
            (0.0, 0.0)
        );
        // Hits less their share of 1/3: −2/3 of the two trials of the first step, 2/3 of that of the second,
        // and a third step without trials. Three steps are too few to see that they depend on each other.
        assert!(
            (found.coverage_std_error["50"] - (2.0 * (2.0_f64 / 3.0).powi(2)).sqrt() / 3.0).abs() < 1e-12
        );
        // Standard deviations 1, 2, 1 on average 4/3.
        assert!((found.width["90"] - 2.0 * 1.644_853_627 * 4.0 / 3.0).abs() < 1e-8);
        assert!((found.per_output[1].width["95"] - 4.0 * 1.959_963_985).abs() < 1e-8);
    }

    #[test]
    fn residuals_are_in_std_devs_and_skip_missing_targets() {
        let (sequences, predictions) = two_outputs();
        assert_eq!(standardised_residuals(&sequences, &predictions), [1.0, -1.0, 0.0]);
    }

    #[test]
    fn binary_outputs_have_cross_entropy_and_no_intervals() {
        let sequence = Sequence::columns(rows(1, &[0.0; 2]), rows(1, &[1.0, 0.0]));
        let zeros = rows(1, &[0.0; 2]);
        let prediction =
            SequencePrediction { mean: rows(1, &[0.8, 0.4]), epistemic: zeros.clone(), aleatoric: zeros };
        let found = scores(Likelihood::Bernoulli, &["a".to_string()], &[sequence], &[prediction]);
        let expected = -(0.8_f32 as f64).ln() - (1.0 - 0.4_f32 as f64).ln();
        assert!((found.nll - expected / 2.0).abs() < 1e-12);
        assert!((found.crps - 0.5 * (0.04 + 0.16)).abs() < 1e-7);
        assert!(found.coverage.is_empty() && found.width.is_empty());
    }
}
