//! `quaver embed`: sequences as points.

use std::path::PathBuf;

use anyhow::Result;
use serde::Serialize;

use super::reducer_model::{LoadedReducer, RecordPlace};
use super::row_io::cell;
use super::sequence_io::SequenceIo;

/// Reduce sequences to points with a mean and a variance
///
/// Takes a model with a section [reduce], as a run folder (whose classifier is fitted on its training data
/// again) or a checkpoint, and runs it with the runtime. Reads CSV with a header and selects the model's
/// inputs by name; an empty cell is a missing value. A blank line, or a change in the column `sequence`,
/// starts a new sequence. Writes one record per sequence: the mean and the variance of every component of
/// its embedding.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver embed model.qvr --input gestures.csv --output points.csv
  quaver embed runs/gestures --input Wafer_TEST.X.npy --json | jq .mean
  tail -f live.csv | quaver embed model.qvr --every-row")]
pub struct Arguments {
    /// The run folder or the checkpoint.
    #[arg(value_name = "RUN|MODEL.qvr")]
    model: PathBuf,
    /// Run folders: folder for relative paths of data, instead of the config's folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    #[command(flatten)]
    sequences: SequenceIo,
}

#[derive(Serialize)]
struct Record<'a> {
    sequence: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    row: Option<usize>,
    mean: &'a [f32],
    variance: &'a [f32],
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let model = LoadedReducer::load(&arguments.model, arguments.data_dir.as_deref())?;
    let component = |part: &'static str| (0..model.dimensions).map(move |index| format!("e{index}{part}"));
    let fields: Vec<String> = component("").chain(component(".var")).collect();
    let json = arguments.sequences.json;
    model.follow(&arguments.sequences, &fields, |reducer, place, text| {
        let Some(embedding) = reducer.embedding() else { return };
        let (mean, variance) = (embedding.mean, embedding.var);
        *text += &if json { as_json(place, mean, variance) } else { as_csv(place, mean, variance) };
        text.push('\n');
    })
}

fn as_csv(place: RecordPlace, mean: &[f32], variance: &[f32]) -> String {
    let cells: Vec<String> = mean.iter().chain(variance).map(|value| cell(*value)).collect();
    place.cells() + &cells.join(",")
}

fn as_json(place: RecordPlace, mean: &[f32], variance: &[f32]) -> String {
    let record = Record { sequence: place.sequence, row: place.row, mean, variance };
    serde_json::to_string(&record).expect("numbers make valid JSON")
}
