//! Imputation scores of artificial gaps as a plain table.

use std::ops::Range;

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use super::Arguments;
use crate::commands::evaluated_model::EvaluatedModel;
use crate::commands::impute::{used_to_gaps, usual_rounds};
use crate::commands::print::{print_json, print_text};
use crate::commands::text_table;
use crate::data::{Dataset, Rows, Sequence};
use crate::evaluate::{GapFilling, HeldOutGap};
use crate::latent::{ImputeOptions, TrainedLatentModel};

/// The result of an evaluation.
#[derive(Debug, Serialize)]
struct GapEvaluation {
    convention: &'static str,
    window: usize,
    gap: Range<usize>,
    windows: usize,
    iterations: usize,
    joined: bool,
    fillings: Vec<GapFilling>,
}

const CONVENTION: &str =
    "root mean squared error inside the gaps in raw units; mean: over channels of the error of each";

/// Rows `A..B`, counted from 0.
pub(super) fn parse_gap(text: &str) -> Result<Range<usize>, String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match ends {
        Some((first, end)) if first < end => Ok(first..end),
        _ => Err("give the first row and the one after the last, counted from 0, such as 30..40".into()),
    }
}

/// Masks rows, imputes them, and prints the scores.
pub(super) fn run(
    arguments: &Arguments,
    gap: &Range<usize>,
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
) -> Result<()> {
    let EvaluatedModel::Latent(state) = evaluated else {
        bail!(
            "--gap needs the run folder of a latent model: imputation processes whole sequences repeatedly, which neither a \
             predictor nor a checkpoint supports"
        )
    };
    ensure!(
        data.target.is_next(),
        "--gap imputes rows that the model reads: give a config with data.targets = \"next\" with --data"
    );
    let window = arguments.window as usize;
    ensure!(gap.end <= window, "--gap {gap:?} ends after the window of {window} rows; see --window");
    let model = TrainedLatentModel::new(state);
    let usual = usual_rounds(used_to_gaps(&arguments.evaluated)?, gap.len());
    let iterations = arguments.iterations.map_or(usual, |rounds| rounds as usize);
    let options = ImputeOptions { rounds: iterations, joined: !arguments.unjoined };
    let held_out = HeldOutGap { window, gap: gap.clone() };
    let joined = if options.joined { ", joined to the rows around the gap" } else { "" };
    let detail =
        format!("latent variables from rows and rows from latent variables, rounds: {iterations}{joined}");
    let fill = |rows: &Rows| model.impute(rows, options).filled;
    let found = GapEvaluation {
        convention: CONVENTION,
        window,
        gap: gap.clone(),
        windows: held_out.windows(sequences).len(),
        iterations,
        joined: options.joined,
        fillings: held_out.score(data, sequences, detail, fill).with_context(|| {
            format!("no sequence has {window} rows that are known in the gap; choose a smaller --window")
        })?,
    };
    if arguments.json { print_json(&found) } else { print_text(&render(&found)) }
}

/// One row per method, and the number of channels in which the model has the smaller error.
fn render(found: &GapEvaluation) -> String {
    let mut rows = vec![["gaps", "RMSE", "mean", "channels better", "values"].map(String::from).to_vec()];
    let own = &found.fillings[0].scores.per_channel;
    for (index, filling) in found.fillings.iter().enumerate() {
        let channels = &filling.scores.per_channel;
        let mean = channels.iter().map(|(_, rmse, _)| rmse).sum::<f64>() / channels.len() as f64;
        let better = own.iter().zip(channels).filter(|(own, other)| own.1 < other.1).count();
        let better = if index > 0 { format!("{better} of {}", channels.len()) } else { String::new() };
        let values: usize = channels.iter().map(|(_, _, n)| n).sum();
        let rmse = format!("{:.4}", filling.scores.rmse);
        rows.push(vec![filling.name.clone(), rmse, format!("{mean:.4}"), better, values.to_string()]);
    }
    let mut text = text_table::render(&rows);
    let GapEvaluation { window, gap, windows, convention, .. } = found;
    text += &format!(
        "\nrows {gap:?} of each of {windows} windows of {window} rows masked, all channels\n{convention}\n"
    );
    text += "channels better: those in which this model has the smaller error\n";
    for filling in &found.fillings {
        text += &format!("{}: {}\n", filling.name, filling.detail);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::parse_gap;

    #[test]
    fn gaps_have_a_beginning_and_an_end() {
        assert_eq!(parse_gap("30..40"), Ok(30..40));
        for wrong in ["30", "40..30", "30..30", "a..b", "-1..3", "30..=40"] {
            assert!(parse_gap(wrong).unwrap_err().contains("such as 30..40"), "{wrong}");
        }
    }
}
