//! `quaver eval`: scores of a run or a checkpoint on data.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::ValueEnum;

use super::subject::Subject;
use super::table;
use crate::config::Config;
use crate::data::{Dataset, Sequence};
use crate::evaluate::{OutputScores, Scores, scores};

/// Score a run or a checkpoint on data.
///
/// NLL is in nats with densities in raw units, summed over outputs and averaged over time steps; coverage is the share of
/// observed values inside the central predictive interval.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver eval runs/first --data config.toml
  quaver eval model.qvr --data config.toml --split valid --json | jq '.coverage.\"90\"'")]
pub struct Arguments {
    /// A run folder (the net as trained) or a checkpoint (through the runtime).
    #[arg(value_name = "RUN|MODEL.qvr")]
    subject: PathBuf,
    /// The config whose [data] section names the files.
    #[arg(long, value_name = "CONFIG.toml")]
    data: PathBuf,
    /// Which part of the data.
    #[arg(long, value_enum, default_value_t = Split::Test)]
    split: Split,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// A part of the data.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Split {
    Train,
    Valid,
    Test,
}

impl Split {
    fn of(self, data: &Dataset) -> &[Sequence] {
        match self {
            Split::Train => &data.train,
            Split::Valid => &data.valid,
            Split::Test => &data.test,
        }
    }
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let subject = Subject::load(&arguments.subject)?;
    let data = Config::load(&arguments.data, &[])?.load_data()?;
    subject.check_data(&data)?;
    let sequences = arguments.split.of(&data);
    ensure!(
        !sequences.is_empty(),
        "{}: there is no test data; add data.test, or choose --split valid",
        arguments.data.display()
    );
    let found =
        scores(subject.spec().likelihood, &data.target_names, sequences, &subject.forecast(sequences)?);
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&found)?);
    } else {
        print!("{}", render(&found, subject.kind()));
    }
    Ok(())
}

/// Scores as a table with their conventions.
pub(super) fn render(found: &Scores, kind: &str) -> String {
    let mut rows =
        vec![["output", "NLL", "MSE", "R²", "50 %", "90 %", "95 %", "n"].map(String::from).to_vec()];
    rows.extend(found.per_output.iter().map(output_row));
    if found.per_output.len() > 1 {
        rows.push(row("all", found.nll, found.mse, found.r2, &found.coverage, found.n));
    }
    format!(
        "{}\n{kind}; NLL in nats, densities in raw units{}; 50 %, 90 %, 95 %: share of values inside that interval\n",
        table::render(&rows),
        if found.per_output.len() > 1 { ", in all summed over outputs per step" } else { "" },
    )
}

fn output_row(output: &OutputScores) -> Vec<String> {
    row(&output.name, output.nll, output.mse, output.r2, &output.coverage, output.n)
}

fn row(
    name: &str,
    nll: f64,
    mse: f64,
    r2: f64,
    coverage: &std::collections::BTreeMap<String, f64>,
    n: usize,
) -> Vec<String> {
    let share =
        |percent: &str| coverage.get(percent).map_or("-".into(), |share| format!("{:.1} %", 100.0 * share));
    vec![
        name.to_string(),
        format!("{nll:.4}"),
        format!("{mse:.4}"),
        format!("{r2:.4}"),
        share("50"),
        share("90"),
        share("95"),
        n.to_string(),
    ]
}
