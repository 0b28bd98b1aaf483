//! Likelihood, error and calibration of predictions.
//!
//! Conventions, repeated wherever scores are printed: NLL is in nats with densities in raw units; per output
//! it is the mean over observed values, in total the sum over outputs, averaged over time steps. Coverage is
//! the fraction of observed values inside the central interval of the predictive normal distribution, width
//! the mean width of that interval.

use std::collections::BTreeMap;
use std::ops::Range;

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
    /// Intervals and variances.
    #[serde(flatten)]
    pub uncertainty: UncertaintyScores,
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
    /// Intervals and variances.
    #[serde(flatten)]
    pub uncertainty: UncertaintyScores,
    /// Number of observed values.
    pub n: usize,
}

/// Scores of intervals and of variances, of one output or of all together. Widths are in raw units, variances
/// in squared raw units.
#[derive(Clone, Debug, Serialize)]
pub struct UncertaintyScores {
    /// Coverage of each central interval, by its percentage; empty for binary outputs.
    pub coverage: BTreeMap<String, f64>,
    /// Standard error of each coverage, with regard to autocorrelation
    /// ([`frequency_std_error`](super::frequency_std_error)).
    pub coverage_std_error: BTreeMap<String, f64>,
    /// Mean width of each central interval, by its percentage; empty for binary outputs.
    pub width: BTreeMap<String, f64>,
    /// The calibration curve.
    pub calibration: Vec<CalibrationPoint>,
    /// Mean epistemic variance over observed values.
    pub epistemic: f64,
    /// Mean aleatoric variance over observed values.
    pub aleatoric: f64,
}

impl UncertaintyScores {
    /// The scores of these outputs, given their totals.
    fn new(
        likelihood: Likelihood,
        total: &ScoreTotals,
        covered: &CoverageSteps,
        outputs: Range<usize>,
    ) -> Self {
        UncertaintyScores {
            coverage: total.coverage(likelihood),
            coverage_std_error: by_percent(likelihood, covered.std_errors(outputs)),
            width: total.width(likelihood),
            calibration: total.calibration(likelihood),
            epistemic: total.mean_epistemic(),
            aleatoric: total.mean_aleatoric(),
        }
    }
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
    combine(likelihood, names, &totals, &covered, counted_steps(sequences))
}

/// Time steps with at least one observed target that counts.
pub(super) fn counted_steps(sequences: &[Sequence]) -> usize {
    let observed = |row: &&[f32]| row.iter().any(|value| !value.is_nan());
    let counted =
        |sequence: &Sequence| sequence.targets.iter().skip(sequence.burn_in).filter(observed).count();
    sequences.iter().map(counted).sum()
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
        name: name.clone(),
        nll: total.mean_nll(),
        nll_standardised: None,
        mse: total.mse(),
        r2: total.r2(),
        crps: total.mean_crps(),
        uncertainty: UncertaintyScores::new(likelihood, total, covered, output..output + 1),
        n: total.n,
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
        uncertainty: UncertaintyScores::new(likelihood, &all, covered, 0..names.len()),
        n: steps,
        per_output,
    }
}

#[cfg(test)]
mod tests;
