//! Scores with missing channels as a plain table.

use crate::commands::text_table;
use crate::evaluate::{BURST_DRAWS, MOST_SUBSETS, MissingScores, RunSummary, SelectedScores, ValueGroup};

use super::text::covered;

/// Most outputs whose errors have columns of their own; `--json` has all.
const MOST_OUTPUTS: usize = 4;

/// How the figures of a table were made.
pub(super) fn notes() -> String {
    format!(
        "RMSE in raw units, 90 %: proportion of values inside that interval, ± standard error with regard to autocorrelation \
         (block bootstrap); width: its mean width\n\
         a number of channels: mean over all subsets, or {MOST_SUBSETS} random ones; worst: the subset with the lowest coverage; \
         bursts: mean over {BURST_DRAWS} draws, rows with a gap\n\
         model reads: a gap (the model imputes it), or the last value or training mean of the channel as if it were measured; \
         no model: that last value as the prediction\n"
    )
}

/// One row per case, stand-in and group of values, below a heading.
pub(super) fn rows(found: &[MissingScores]) -> Vec<Vec<String>> {
    let outputs = output_names(found);
    let own_inputs = groups(found).any(|summary| summary.group != ValueGroup::Outputs);
    let mut heading = vec!["missing".to_string(), "model reads".into()];
    if own_inputs {
        heading.push("values of".into());
    }
    heading.push("RMSE".into());
    heading.extend(outputs.iter().cloned());
    heading.extend(["90 %", "width", "worst", "its RMSE", "its 90 %"].map(String::from));
    if own_inputs {
        heading.push("furthest".into());
    }
    let mut rows = vec![heading];
    for scores in found {
        for (index, summary) in scores.groups.iter().enumerate() {
            let first = |text: &str| if index == 0 { text.to_string() } else { String::new() };
            let mut row = vec![first(&scores.case), first(scores.reads)];
            if own_inputs {
                row.push(group_name(summary.group, "missing channels").into());
            }
            row.extend(score_cells(&summary.mean, &outputs));
            row.extend(worst_cells(summary));
            if own_inputs {
                row.push(format!("{:.1} σ", summary.mean.furthest));
            }
            rows.push(row);
        }
    }
    rows
}

/// The name of a group of values in a table.
pub(super) fn group_name(group: ValueGroup, affected: &'static str) -> &'static str {
    match group {
        ValueGroup::Outputs => "all outputs",
        ValueGroup::AffectedChannels => affected,
        ValueGroup::OtherChannels => "other channels",
    }
}

fn groups(found: &[MissingScores]) -> impl Iterator<Item = &RunSummary> {
    found.iter().flat_map(|scores| &scores.groups)
}

/// The outputs with columns of their own: none if there is one output, or too many.
fn output_names(found: &[MissingScores]) -> Vec<String> {
    let whole = groups(found).next();
    let names = whole
        .map_or(Vec::new(), |whole| whole.mean.per_output.iter().map(|output| output.name.clone()).collect());
    if (2..=MOST_OUTPUTS).contains(&names.len()) { names } else { Vec::new() }
}

/// Error, coverage and width; `-` where there is none.
fn score_cells(scores: &SelectedScores, outputs: &[String]) -> Vec<String> {
    let number = |value: f64| format!("{value:.4}");
    let mut cells = vec![number(scores.rmse)];
    cells.extend(outputs.iter().map(|name| {
        let output = scores.per_output.iter().find(|output| output.name == *name);
        output.map_or("-".into(), |output| number(output.rmse))
    }));
    cells.push(covered(scores.coverage, scores.coverage_std_error));
    cells.push(scores.width.map_or("-".into(), number));
    cells
}

fn worst_cells(summary: &RunSummary) -> Vec<String> {
    match &summary.worst {
        Some(worst) => vec![
            worst.name.clone(),
            format!("{:.4}", worst.scores.rmse),
            covered(worst.scores.coverage, worst.scores.coverage_std_error),
        ],
        None => vec!["-".to_string(); 3],
    }
}

/// The table with explanations.
pub(super) fn render(found: &[MissingScores]) -> String {
    let mut text = format!("{}\n{}", text_table::render(&rows(found)), notes());
    if groups(found).any(|summary| summary.group != ValueGroup::Outputs) {
        text += "furthest: the largest distance of a predicted mean from the training mean, in training standard deviations\n";
    }
    text
}
