//! Scores of several runs over the same recording, such as one for each channel: their mean and the worst.

use serde::Serialize;

use super::selected_scores::{ScoredTargets, SelectedOutput, SelectedScores, SelectedTotals};

/// Which of the predicted values were scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueGroup {
    /// All outputs of a model of other columns.
    Outputs,
    /// Of a model of its own inputs: values of the channels that are missing or faulty, whose truth only the
    /// evaluation has.
    AffectedChannels,
    /// Of a model of its own inputs: values of the channels that are as they should be.
    OtherChannels,
}

impl ValueGroup {
    /// The groups of a model of its own inputs, or of other columns.
    pub(super) fn of(own_inputs: bool) -> &'static [ValueGroup] {
        if own_inputs {
            &[ValueGroup::AffectedChannels, ValueGroup::OtherChannels]
        } else {
            &[ValueGroup::Outputs]
        }
    }

    /// Whether a value belongs to the group, given whether its channel is affected.
    pub(super) fn selects(self, affected: bool) -> bool {
        match self {
            ValueGroup::Outputs => true,
            ValueGroup::AffectedChannels => affected,
            ValueGroup::OtherChannels => !affected,
        }
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedScores {
    /// The channels that were missing or faulty, or the number of the draw.
    pub name: String,
    /// Its scores.
    #[serde(flatten)]
    pub scores: SelectedScores,
}

/// Mean scores of several runs, and the worst of them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// The values that were scored.
    pub group: ValueGroup,
    /// Means over the runs; `n` is the sum, `furthest` the largest. The standard error is that of the mean
    /// over runs, which share their recording.
    #[serde(flatten)]
    pub mean: SelectedScores,
    /// Of several runs, the one with the lowest coverage, or the largest error of binary outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst: Option<NamedScores>,
    /// Every run.
    pub runs: Vec<NamedScores>,
}

impl RunSummary {
    /// The summary of named runs; `None` if no value of theirs was selected.
    pub(super) fn new(
        group: ValueGroup,
        targets: &ScoredTargets<'_>,
        totals: &[(String, SelectedTotals)],
    ) -> Option<Self> {
        let named = |(name, totals): &(String, SelectedTotals)| {
            Some(NamedScores { name: name.clone(), scores: totals.scores(targets)? })
        };
        let runs: Vec<NamedScores> = totals.iter().filter_map(named).collect();
        let mut mean = mean(&runs)?;
        let (_, mut all) = totals.first()?.clone();
        totals[1..].iter().for_each(|(_, other)| all.merge_steps(other));
        mean.coverage_std_error = mean.coverage.map(|_| all.coverage_std_error());
        let badness = |run: &NamedScores| run.scores.coverage.map_or(run.scores.rmse, |coverage| -coverage);
        let worst = runs.iter().max_by(|a, b| badness(a).total_cmp(&badness(b))).cloned();
        Some(RunSummary { group, mean, worst: worst.filter(|_| runs.len() > 1), runs })
    }
}

/// Means over runs, of each output over the runs that have values of it.
fn mean(runs: &[NamedScores]) -> Option<SelectedScores> {
    let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let over = |value: fn(&SelectedScores) -> f64| {
        average(&runs.iter().map(|r| value(&r.scores)).collect::<Vec<_>>())
    };
    let optional = |value: fn(&SelectedScores) -> Option<f64>| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| value(&run.scores)).collect();
        values.map(|values| average(&values))
    };
    let first = runs.first()?;
    let mut names: Vec<&String> = Vec::new();
    let outputs = || runs.iter().flat_map(|run| &run.scores.per_output);
    for output in outputs() {
        if !names.contains(&&output.name) {
            names.push(&output.name);
        }
    }
    let of_output = |name: &String| {
        let found: Vec<&SelectedOutput> = outputs().filter(|output| output.name == *name).collect();
        let coverage: Option<Vec<f64>> = found.iter().map(|output| output.coverage).collect();
        SelectedOutput {
            name: name.clone(),
            rmse: average(&found.iter().map(|output| output.rmse).collect::<Vec<_>>()),
            coverage: coverage.map(|coverage| average(&coverage)),
            n: found.iter().map(|output| output.n).sum(),
        }
    };
    Some(SelectedScores {
        rmse: over(|scores| scores.rmse),
        coverage: optional(|scores| scores.coverage),
        coverage_std_error: first.scores.coverage_std_error,
        width: optional(|scores| scores.width),
        furthest: runs.iter().map(|run| run.scores.furthest).fold(0.0, f64::max),
        n: runs.iter().map(|run| run.scores.n).sum(),
        per_output: names.into_iter().map(of_output).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Rows, Scaler, Sequence};
    use crate::prediction::SequencePrediction;

    #[test]
    fn runs_have_a_mean_a_worst_and_an_error_of_their_common_recording() {
        let steps = 40;
        let rows = |value: f32| Rows { channels: 1, values: vec![value; steps] };
        let sequences = [Sequence::columns(rows(0.0), rows(0.0))];
        let (names, scaler) = (["y".to_string()], Scaler::identity(1));
        let targets =
            ScoredTargets { has_intervals: true, names: &names, scaler: &scaler, sequences: &sequences };
        // Every second row is missed by `wrong` standard deviations.
        let run = |wrong: f32| {
            let mut prediction = SequencePrediction::zeros(steps, 1);
            (0..steps).for_each(|step| prediction.set(step, 0, (step % 2) as f32 * wrong, 0.0, 1.0));
            SelectedTotals::of(&targets, &[prediction], |_| true)
        };
        let runs = [("good".to_string(), run(1.0)), ("bad".to_string(), run(10.0))];
        let found = RunSummary::new(ValueGroup::Outputs, &targets, &runs).unwrap();
        assert_eq!((found.mean.coverage, found.mean.n), (Some(0.75), 80));
        assert!((found.mean.rmse - 0.5 * (0.5_f64.sqrt() + 50.0_f64.sqrt())).abs() < 1e-6);
        assert_eq!(found.worst.as_ref().map(|worst| worst.name.as_str()), Some("bad"));
        assert_eq!(found.runs.len(), 2);
        // Alternating hits and misses cancel in blocks of two, and two runs over the same rows are no more
        // certain than their rows: half of the second run's error, since it has half of the trials.
        let single = RunSummary::new(ValueGroup::Outputs, &targets, &runs[1..]).unwrap();
        let (both, one) = (found.mean.coverage_std_error.unwrap(), single.mean.coverage_std_error.unwrap());
        assert!((both - 0.5 * one).abs() < 1e-12, "{both} against half of {one}");
        assert!(single.worst.is_none(), "one run is not the worst of several");
        assert!(RunSummary::new(ValueGroup::Outputs, &targets, &[]).is_none());
    }
}
