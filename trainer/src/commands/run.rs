//! `quaver run`: the runtime, row by row.

use std::path::PathBuf;

use anyhow::{Context, Result};
use quaver::Model;

use super::checkpoint_file;
use super::implausible::ImplausibleValues;
use super::row_io::{KeptColumns, RowIo};
use super::row_model::{RuntimePredictor, follow};

/// Run a checkpoint with the runtime, row by row
///
/// Reads CSV with a header and selects the model's inputs by name; an empty cell is a missing value. Writes
/// one row per input row, immediately, so that it works on a live pipe. For each output: mean, standard
/// deviation, and the epistemic and aleatoric parts of the variance. For a classifier of rows, the name of
/// the most probable class and its probability are added. For a model of its own next input, the prediction
/// is for the next row, and the surprise of the current row is added. A blank line in the input resets the
/// stream. A row or cell that cannot be read is taken for missing, and the first one is printed at the end.
/// Values outside of the plausible ranges of the checkpoint are treated as missing; their number is printed
/// on standard error at the end.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver run model.qvr --input rows.csv --output predictions.csv
  tail -f live.csv | quaver run model.qvr
  quaver run model.qvr --no-header < numbers.csv
  quaver run model.qvr --input rows.npy
  quaver run model.qvr --input rows.csv --keep time,trial")]
pub struct Arguments {
    /// The checkpoint.
    #[arg(value_name = "MODEL.qvr")]
    model: PathBuf,
    #[command(flatten)]
    rows: RowIo,
    #[command(flatten)]
    kept: KeptColumns,
    /// Stop at the first row or cell that cannot be read, instead of taking it for missing.
    #[arg(long)]
    strict: bool,
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let path = arguments.model.display();
    let bytes = checkpoint_file::read(&arguments.model, "")?;
    let model = Model::load(&bytes).with_context(|| format!("{path} is not a usable checkpoint"))?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut predictor = RuntimePredictor::new(&model, &mut words)?;
    let rows = arguments.rows.open()?;
    let mut rows = if arguments.strict { rows } else { rows.tolerant() };
    let mut implausible = None;
    arguments.rows.write(|out| {
        implausible = Some(follow(&mut predictor, &mut rows, &arguments.kept.keep, out, |_, _, _| {})?);
        Ok(())
    })?;
    implausible.iter().for_each(ImplausibleValues::report);
    if let Some(faults) = rows.tolerated() {
        let first = faults.first.as_deref().unwrap_or_default();
        eprintln!(
            "{} rows or cells could not be read and were taken for missing (--strict stops there); the first: {first}",
            faults.count
        );
    }
    Ok(())
}
