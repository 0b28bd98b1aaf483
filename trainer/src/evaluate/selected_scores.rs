//! Error and calibration of some of the predicted values: those of rows with a gap, or of a faulty channel.

use serde::Serialize;

use super::bootstrap::{TrialSteps, frequency_std_error};
use super::score_totals::{INTERVALS, inside_intervals};
use super::scores::{ValuePlace, for_each_value};
use crate::data::{Scaler, Sequence};
use crate::prediction::{ScoredValue, SequencePrediction};

/// Index of the 90 % interval in [`INTERVALS`].
const NINETY: usize = 1;

/// Scores of selected values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelectedScores {
    /// Root mean squared error over all values, in raw units.
    pub rmse: f64,
    /// Coverage of the central 90 % interval; `None` for binary outputs.
    pub coverage: Option<f64>,
    /// Its standard error, with regard to autocorrelation.
    pub coverage_std_error: Option<f64>,
    /// Mean width of that interval in raw units.
    pub width: Option<f64>,
    /// The largest distance of a predicted mean from the training mean, in training standard deviations.
    pub furthest: f64,
    /// Number of values.
    pub n: usize,
    /// Error of every output that has values.
    pub per_output: Vec<SelectedOutput>,
}

/// Scores of the selected values of one output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SelectedOutput {
    /// Name of the output.
    pub name: String,
    /// Root mean squared error in raw units.
    pub rmse: f64,
    /// Coverage of the central 90 % interval; `None` for binary outputs.
    pub coverage: Option<f64>,
    /// Number of values.
    pub n: usize,
}

/// The targets of an evaluation.
#[derive(Clone, Copy, Debug)]
pub(super) struct ScoredTargets<'a> {
    /// Whether predictions have intervals, which those of binary outputs and plain values have not.
    pub(super) has_intervals: bool,
    pub(super) names: &'a [String],
    /// Of the targets in training.
    pub(super) scaler: &'a Scaler,
    pub(super) sequences: &'a [Sequence],
}

/// Sums over the selected values of one output.
#[derive(Clone, Copy, Debug, Default)]
struct OutputTotals {
    n: usize,
    squares: f64,
    inside: usize,
    std_dev: f64,
}

/// Sums over selected values.
#[derive(Clone, Debug)]
pub(super) struct SelectedTotals {
    outputs: Vec<OutputTotals>,
    furthest: f64,
    steps: Vec<TrialSteps>,
}

impl SelectedTotals {
    /// Sums over the values at the places for which `selected` holds.
    pub(super) fn of(
        targets: &ScoredTargets<'_>,
        predictions: &[SequencePrediction],
        selected: impl Fn(ValuePlace) -> bool,
    ) -> Self {
        let mut totals = SelectedTotals {
            outputs: vec![OutputTotals::default(); targets.names.len()],
            furthest: 0.0,
            steps: targets.sequences.iter().map(|sequence| TrialSteps::zeros(sequence.len())).collect(),
        };
        for_each_value(targets.sequences, predictions, |place, value| {
            if selected(place) {
                totals.add(place, &value, targets.scaler);
            }
        });
        totals
    }

    fn add(&mut self, place: ValuePlace, value: &ScoredValue, scaler: &Scaler) {
        let inside = inside_intervals(value)[NINETY];
        let output = &mut self.outputs[place.output];
        output.n += 1;
        output.squares += value.error() * value.error();
        output.inside += usize::from(inside);
        output.std_dev += value.variance().sqrt();
        let mean = f64::from(scaler.mean[place.output]);
        let distance = (value.mean - mean).abs() / f64::from(scaler.std_dev[place.output]);
        self.furthest = self.furthest.max(distance);
        self.steps[place.sequence].add(place.step, inside);
    }

    /// Adds the steps of another run over the same sequences, for the standard error of a mean over runs.
    pub(super) fn merge_steps(&mut self, other: &SelectedTotals) {
        self.steps.iter_mut().zip(&other.steps).for_each(|(sum, part)| sum.merge(part));
    }

    pub(super) fn coverage_std_error(&self) -> f64 {
        frequency_std_error(&self.steps)
    }

    /// The scores; `None` without values.
    pub(super) fn scores(&self, targets: &ScoredTargets<'_>) -> Option<SelectedScores> {
        let normal = targets.has_intervals;
        let share = |totals: &OutputTotals| totals.inside as f64 / totals.n as f64;
        let of = |(name, totals): (&String, &OutputTotals)| SelectedOutput {
            name: name.clone(),
            rmse: (totals.squares / totals.n as f64).sqrt(),
            coverage: normal.then(|| share(totals)),
            n: totals.n,
        };
        let all = self.outputs.iter().fold(OutputTotals::default(), |all, part| OutputTotals {
            n: all.n + part.n,
            squares: all.squares + part.squares,
            inside: all.inside + part.inside,
            std_dev: all.std_dev + part.std_dev,
        });
        (all.n > 0).then(|| SelectedScores {
            rmse: (all.squares / all.n as f64).sqrt(),
            coverage: normal.then(|| share(&all)),
            coverage_std_error: normal.then(|| self.coverage_std_error()),
            width: normal.then(|| 2.0 * INTERVALS[NINETY].1 * all.std_dev / all.n as f64),
            furthest: self.furthest,
            n: all.n,
            per_output: targets.names.iter().zip(&self.outputs).filter(|(_, o)| o.n > 0).map(of).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    #[test]
    fn only_selected_values_count() {
        let rows = |values: &[f32]| Rows { channels: 2, values: values.to_vec() };
        let sequence = Sequence::columns(rows(&[0.0; 6]), rows(&[3.0, 1.0, 4.0, f32::NAN, 9.0, 9.0]));
        let mut prediction = SequencePrediction::zeros(3, 2);
        (0..3).for_each(|step| {
            prediction.set(step, 0, 0.0, 1.0, 3.0);
            prediction.set(step, 1, -5.0, 0.0, 1.0);
        });
        let names = ["a".to_string(), "b".to_string()];
        let scaler = Scaler { mean: vec![0.0, 5.0], std_dev: vec![1.0, 2.0] };
        let sequences = [sequence];
        let targets =
            ScoredTargets { has_intervals: true, names: &names, scaler: &scaler, sequences: &sequences };
        let totals = SelectedTotals::of(&targets, std::slice::from_ref(&prediction), |place| place.step < 2);
        let found = totals.scores(&targets).unwrap();
        assert_eq!(found.n, 3);
        assert!((found.rmse - ((9.0 + 16.0 + 36.0) / 3.0_f64).sqrt()).abs() < 1e-12);
        // 3 lies within 1.645 × 2 of 0, 4 does not, and 1 is six standard deviations from −5.
        assert_eq!(found.coverage, Some(1.0 / 3.0));
        assert!((found.width.unwrap() - 2.0 * 1.644_853_627 * (2.0 + 2.0 + 1.0) / 3.0).abs() < 1e-8);
        assert_eq!(found.furthest, 5.0, "−5 is five standard deviations of 2 below 5");
        assert_eq!(found.per_output[0].coverage, Some(0.5));
        assert_eq!((found.per_output[1].rmse, found.per_output[1].n), (6.0, 1));
        let none = SelectedTotals::of(&targets, &[prediction], |_| false);
        assert_eq!(none.scores(&targets), None);
    }
}
