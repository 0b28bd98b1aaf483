//! `quaver impute`: imputation of gaps from whole sequences.

mod page;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Serialize;

use super::print::print_json;
use super::row_io::{RowIo, TruthOptions, cell, read_whole, select};
use super::text_table;
use crate::config::Config;
use crate::data::csv::spreadsheet;
use crate::data::interpolated;
use crate::data::{Rows, csv};
use crate::evaluate::{GapScores, gap_scores};
use crate::fit::{RunFolder, RunState};
use crate::latent::{Imputation, ImputeOptions, LatentNets, TrainedLatentModel};
use crate::report;
use crate::runs::TrainedState;

/// Impute gaps in sequences
///
/// Takes the run folder of a latent model: STORN, VOSP or VRAE, the last of which is bidirectional. Reads CSV
/// with a header and selects the model's channels by name; empty cells, NaN and NA are gaps. In every round,
/// latent variables are inferred from rows and rows from latent variables, and missing values are replaced.
/// Writes the same rows with the gaps filled; observed values are unchanged. A blank line starts a new
/// sequence, in the input and in the output.
///
/// With --truth, the root mean squared error inside the gaps is printed, compared with linear interpolation.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver impute runs/vrae --input gaps.csv --output filled.csv
  quaver impute runs/vrae --in gaps.csv --iterations 30 --std-devs > filled.csv
  quaver impute runs/vrae --in gaps.csv --out filled.csv --truth whole.csv --plot filled.html")]
pub struct Arguments {
    /// The run folder.
    #[arg(value_name = "RUN")]
    model: PathBuf,
    #[command(flatten)]
    rows: RowIo,
    /// Rounds of imputation; by default one if the model was trained with gaps, otherwise ten more than the
    /// rows of the longest gap: a STORN advances one row per round.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    iterations: Option<u32>,
    /// Impute the model's reconstruction as published. By default, linear interpolation of its errors at both
    /// sides of a gap is added, so that imputed values join the observed ones.
    #[arg(long)]
    unjoined: bool,
    /// Add a column with the standard deviation of every channel: that of the model inside gaps, 0 elsewhere.
    #[arg(long, alias = "deviations")]
    std_devs: bool,
    #[command(flatten)]
    comparison: TruthOptions,
}

/// Sequences with gaps, and their imputations.
struct FilledSequences {
    names: Vec<String>,
    gappy: Vec<Rows>,
    imputations: Vec<Imputation>,
}

/// Errors inside gaps, of the model and of linear interpolation.
#[derive(Debug, Serialize)]
struct GapComparison {
    model: GapScores,
    linear: GapScores,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let state = load(&arguments.model)?;
    let names = state.input_names.clone();
    let mut rows = arguments.rows.open()?;
    select(&mut rows, &names, names.len())?;
    let gappy = csv::read(&mut rows)?.sequences;
    let header = !arguments.rows.no_header;
    let truth =
        arguments.comparison.truth.as_ref().map(|path| read_whole(path, header, &names)).transpose()?;
    let model = TrainedLatentModel::new(&state);
    let used_to_gaps = used_to_gaps(&arguments.model)?;
    let options = |rows: &Rows| ImputeOptions {
        rounds: arguments
            .iterations
            .map_or(usual_rounds(used_to_gaps, longest_gap(rows)), |rounds| rounds as usize),
        joined: !arguments.unjoined,
    };
    let imputations = gappy.iter().map(|rows| model.impute(rows, options(rows))).collect();
    let filled = FilledSequences { names, gappy, imputations };
    let truth = truth.map(|table| table.sequences);
    let comparison = truth.as_ref().map(|truth| score(&filled, truth, &model)).transpose()?;
    if !(arguments.comparison.json && arguments.rows.output.is_none()) {
        arguments.rows.write(|out| write(&filled, arguments.std_devs, out))?;
    }
    if let Some(path) = &arguments.comparison.plot {
        let title = format!("Gaps filled by {}", arguments.model.display());
        report::write(path, &page::page(&title, &filled, truth.as_deref()))?;
    }
    match comparison {
        Some(comparison) if arguments.comparison.json => print_json(&comparison)?,
        // Rows may be on standard output.
        Some(comparison) => eprint!("{}", render(&comparison)),
        None => {}
    }
    Ok(())
}

fn load(path: &Path) -> Result<Box<RunState<LatentNets>>> {
    let shown = path.display();
    ensure!(
        path.is_dir(),
        "{shown} is not a run folder: imputation processes whole sequences repeatedly, which a checkpoint does not support; \
         give the run folder, or impute values of a stream with `quaver denoise`"
    );
    match TrainedState::load(&RunFolder::new(path).best_state())? {
        TrainedState::Latent(state) => Ok(state),
        TrainedState::Predictor(_) => bail!(
            "{shown} is a predictor, which has no latent variables: imputation needs a latent model \
             (a config with `[latent]`)"
        ),
        TrainedState::Reduce(_) => bail!("{shown} is a reducer, which predicts no rows"),
        TrainedState::Text(_) => bail!("{shown} is a model of text, which has no gaps to impute"),
    }
}

/// Whether the model of a run folder was trained with gaps.
pub(super) fn used_to_gaps(run: &Path) -> Result<bool> {
    let config = Config::load(&RunFolder::new(run).config(), &[])?;
    Ok(config.latent.is_some_and(|latent| latent.max_gap > 0))
}

/// Default number of rounds for gaps of this length. A model trained with gaps reads them as missing; its own
/// predictions in their place would count as observations.
pub(super) fn usual_rounds(used_to_gaps: bool, longest_gap: usize) -> usize {
    if used_to_gaps { 1 } else { longest_gap + 10 }
}

/// Rows of the longest gap of any channel.
fn longest_gap(rows: &Rows) -> usize {
    let mut lengths = vec![0; rows.channels];
    let longest = |row: &[f32]| {
        for (length, value) in lengths.iter_mut().zip(row) {
            *length = if value.is_nan() { *length + 1 } else { 0 };
        }
        lengths.iter().copied().max().unwrap_or(0)
    };
    rows.iter().map(longest).max().unwrap_or(0)
}

fn score(filled: &FilledSequences, truth: &[Rows], model: &TrainedLatentModel) -> Result<GapComparison> {
    let lengths = |sequences: &[Rows]| sequences.iter().map(Rows::len).collect::<Vec<_>>();
    let (found, expected) = (lengths(truth), lengths(&filled.gappy));
    ensure!(
        found == expected,
        "--truth has sequences of {found:?} rows, but the input has {expected:?}; it must have the same rows, without gaps"
    );
    let means: Vec<Rows> = filled.imputations.iter().map(|imputation| imputation.filled.clone()).collect();
    let lines: Vec<Rows> =
        filled.gappy.iter().map(|rows| interpolated(rows, &model.scaling.targets.mean)).collect();
    let scores = |estimates: &[Rows]| {
        gap_scores(&filled.names, &filled.gappy, estimates, truth)
            .context("no gap of the input is known in --truth")
    };
    Ok(GapComparison { model: scores(&means)?, linear: scores(&lines)? })
}

/// Rows with their gaps filled, a blank line between sequences.
fn write(filled: &FilledSequences, std_devs: bool, out: &mut dyn Write) -> Result<()> {
    let std_dev = filled.names.iter().filter(|_| std_devs).map(|name| format!("{name}.std_dev"));
    let columns: Vec<String> =
        filled.names.iter().cloned().chain(std_dev).map(|name| spreadsheet::cell(&name)).collect();
    writeln!(out, "{}", columns.join(","))?;
    for (index, (gappy, imputation)) in filled.gappy.iter().zip(&filled.imputations).enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        for (step, observed) in gappy.iter().enumerate() {
            let values = imputation.filled.row(step).iter().copied();
            let std_dev = |(c, observed): (usize, &f32)| {
                if observed.is_nan() { imputation.prediction.variance(step, c).sqrt() } else { 0.0 }
            };
            let std_devs = observed.iter().enumerate().filter(|_| std_devs).map(std_dev);
            let cells: Vec<String> = values.chain(std_devs).map(cell).collect();
            writeln!(out, "{}", cells.join(","))?;
        }
    }
    Ok(())
}

/// One row per channel with gaps, and one for all.
fn render(GapComparison { model, linear }: &GapComparison) -> String {
    let mut rows =
        vec![["channel", "RMSE in gaps", "linear interpolation", "values"].map(String::from).to_vec()];
    let row = |name: &str, model: f64, linear: f64, n: usize| {
        vec![name.to_string(), format!("{model:.4}"), format!("{linear:.4}"), n.to_string()]
    };
    for ((name, model, n), (_, linear, _)) in model.per_channel.iter().zip(&linear.per_channel) {
        rows.push(row(name, *model, *linear, *n));
    }
    let n = model.per_channel.iter().map(|(_, _, n)| n).sum();
    rows.push(row("all", model.rmse, linear.rmse, n));
    text_table::render(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_gap_of_any_channel_counts() {
        let gap = f32::NAN;
        let rows = Rows { channels: 2, values: vec![gap, 1.0, 1.0, gap, gap, gap, gap, 1.0] };
        assert_eq!((longest_gap(&rows), longest_gap(&Rows::new(2))), (2, 0));
    }
}
