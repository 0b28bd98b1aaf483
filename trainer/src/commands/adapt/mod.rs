//! `quaver adapt`: what learning on the device would do, replayed from recorded rows.

mod labelled;
mod page;
mod replay;
mod rows;
mod text;

use std::io::Write;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use quaver::{AdaptOptions, Covariance, Model};

use super::checkpoint_file;
use super::implausible::ImplausibleValues;
use super::print::{print_json, print_text};
use super::row_io;
use super::row_model::{LineParts, RowPrediction, header, line};
use super::split::Split;
use crate::prediction::SequencePrediction;
use crate::report;
use labelled::labelled_rows;
use replay::{Replay, replay};
use rows::LabelledRows;

/// Replay adaptation on the device: learn from the first labelled rows, score the rest
///
/// Runs a checkpoint with the runtime's AdaptivePredictor: its layers stay as exported, and its output layer
/// learns from the labels of the first rows of every sequence, each right after its prediction. The rows
/// after them are scored: the exported model and the adapted one, side by side, for several numbers of
/// labelled rows. A blank line in the input starts a new sequence, of another person: what was learned is
/// forgotten.
///
/// Rows come from a CSV file with a header, which holds the model's inputs and its outputs as labels, or from
/// a config as in `quaver eval`. An empty label is one that is not known. A model of its own next input needs
/// no labels: the rows are its labels.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver adapt model.qvr --in one_person.csv
  quaver adapt model.qvr --in one_person.csv --hz 200 --seconds 0,5,10,20
  quaver adapt model.qvr --in one_person.csv --labels load_cell --rows 500 --out predictions.csv
  quaver adapt model.qvr --data config.toml --diagonal --plot adapted.html
  quaver adapt model.qvr --in one_person.csv --json | jq '.amounts[] | {rows, r2: .adapted.r2}'")]
pub struct Arguments {
    /// The checkpoint, of a Gaussian or heteroscedastic model.
    #[arg(value_name = "MODEL.qvr")]
    model: PathBuf,
    /// CSV file with the model's inputs and the labels; `-` reads standard input.
    #[arg(long, visible_alias = "in", value_name = "F.csv", required_unless_present = "data")]
    input: Option<PathBuf>,
    /// Columns that hold the labels, one per output in the order of the model; by default those with the
    /// names of its outputs.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', requires = "input")]
    labels: Vec<String>,
    /// A config whose [data] section names the rows, instead of --in.
    #[arg(long, value_name = "CONFIG.toml", conflicts_with = "input")]
    data: Option<PathBuf>,
    /// Folder for relative paths of data, instead of the config's folder.
    #[arg(long, value_name = "DIR", requires = "data")]
    data_dir: Option<PathBuf>,
    /// The split of the config to replay.
    #[arg(long, value_enum, default_value_t = Split::Test)]
    split: Split,
    /// Numbers of first rows whose labels are learned; by default none and 1/16 to 1/2 of the shortest
    /// sequence.
    #[arg(long, value_name = "N", value_delimiter = ',', conflicts_with = "seconds")]
    rows: Vec<usize>,
    /// The same in seconds.
    #[arg(long, value_name = "S", value_delimiter = ',', requires = "hz")]
    seconds: Vec<f64>,
    /// Rows per second.
    #[arg(long, value_name = "F")]
    hz: Option<f64>,
    /// Score only rows from this one on, so that all numbers of labelled rows are scored on the same rows;
    /// by default all that follow the labelled ones.
    #[arg(long, value_name = "ROW")]
    score_from: Option<usize>,
    /// Forgetting factor of a label, above 0.9 and at most 1.
    #[arg(long, visible_alias = "rate", default_value_t = AdaptOptions::default().forgetting, value_name = "LAMBDA")]
    forgetting: f32,
    /// Prior variance of each weight, in units of the noise variance.
    #[arg(long, default_value_t = AdaptOptions::default().prior, value_name = "S")]
    prior: f32,
    /// Successive labels that count as one, because their errors are alike.
    #[arg(long, default_value_t = AdaptOptions::default().correlation, value_name = "N")]
    correlation: f32,
    /// Diagonal covariance: n words of memory instead of n(n + 1)/2.
    #[arg(long)]
    diagonal: bool,
    /// CSV file for the predictions with the most labels, as `quaver run` writes them.
    #[arg(long, visible_alias = "out", value_name = "F.csv")]
    output: Option<PathBuf>,
    /// Write an HTML page with the first sequence before and after, and the scores.
    #[arg(long, value_name = "F.html")]
    plot: Option<PathBuf>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn options(&self) -> AdaptOptions {
        let covariance = if self.diagonal { Covariance::Diagonal } else { Covariance::Full };
        AdaptOptions {
            covariance,
            prior: self.prior,
            forgetting: self.forgetting,
            correlation: self.correlation,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let path = arguments.model.display();
    let bytes = checkpoint_file::read(&arguments.model, "")?;
    let model = Model::load(&bytes).with_context(|| format!("{path} is not a usable checkpoint"))?;
    let rows = LabelledRows::read(arguments, &model)?;
    let amounts = labelled_rows(arguments, &rows.sequences)?;
    ImplausibleValues::in_sequences(&model, &rows.sequences).report();
    let replayed = replay(&bytes, arguments, &rows, &amounts)?;
    if let Some(path) = &arguments.output {
        row_io::write(Some(path), |out| write(&replayed, &rows.output_names, out))?;
    }
    if let Some(path) = &arguments.plot {
        let title = format!("{}, adapted", arguments.model.display());
        report::write(path, &page::page(&title, arguments.hz, &rows, &replayed))?;
    }
    if arguments.json { print_json(&replayed.scores) } else { print_text(&text::render(&replayed.scores)) }
}

/// Predictions with the most labels, a blank line between sequences.
fn write(replayed: &Replay, names: &[String], out: &mut dyn Write) -> Result<()> {
    writeln!(out, "{}", header(names, LineParts::default()))?;
    for (index, prediction) in replayed.adapted.iter().enumerate() {
        if index > 0 {
            writeln!(out)?;
        }
        for step in 0..prediction.mean.len() {
            out.write_all(line(&row(prediction, step), names, LineParts::default()).as_bytes())?;
        }
    }
    Ok(())
}

fn row(prediction: &SequencePrediction, step: usize) -> RowPrediction {
    let parts = [&prediction.mean, &prediction.epistemic, &prediction.aleatoric].map(|rows| rows.row(step));
    let [mean, epistemic, aleatoric] = parts;
    let output = |o: usize| quaver::Output {
        mean: mean[o],
        variance: epistemic[o] + aleatoric[o],
        epistemic: epistemic[o],
        aleatoric: aleatoric[o],
    };
    RowPrediction { outputs: (0..mean.len()).map(output).collect(), surprise: None, implausible: Vec::new() }
}

/// An error unless every number is a positive one.
fn ensure_positive(name: &str, value: f64) -> Result<()> {
    ensure!(value.is_finite() && value > 0.0, "{name} must be a positive number, found {value}");
    Ok(())
}
