//! `quaver classify`: the class of every sequence, or of a stream at every row.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use quaver::Classification;
use serde::{Serialize, Serializer};

use super::reducer_model::{LoadedReducer, RecordPlace};
use super::row_io::cell;
use super::sequence_io::SequenceIo;
use crate::data::csv::spreadsheet;
use crate::printable::escaped_json;

/// Classify sequences, or a stream at every row
///
/// Takes a model with a section [reduce], as a run folder (whose classifier is fitted on its training data
/// again) or a checkpoint, and runs it with the runtime. Reads CSV with a header and selects the model's
/// inputs by name; an empty cell is a missing value. A blank line, or a change in the column `sequence`,
/// starts a new sequence. Writes one record per sequence: the class; whether it is any of the known ones;
/// its probability; the squared distance from the nearest prototype or centre; the score that is compared
/// with the model's threshold; and the probability of every class.
///
/// With --every-row, a record follows every row at once, so that it works on a live pipe: for endless streams
/// with a checkpoint that has a sliding window.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver classify model.qvr --input gestures.csv --output classes.csv
  quaver classify runs/ucr --input Wafer_TEST.X.npy --json | jq -r .class
  tail -f live.csv | quaver classify model.qvr --every-row")]
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
    class: &'a str,
    known: bool,
    probability: f32,
    distance: Option<f32>,
    novelty: f32,
    #[serde(serialize_with = "as_map")]
    probabilities: (&'a [String], &'a [f32]),
}

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    let model = LoadedReducer::load(&arguments.model, arguments.data_dir.as_deref())?;
    ensure!(
        !model.classes.is_empty(),
        "{} has no classifier, only embeddings: use `quaver embed`, or set reduce.classifier and train again",
        arguments.model.display()
    );
    let fixed = ["class", "known", "probability", "distance", "novelty"].map(String::from);
    let probabilities = model.classes.iter().map(|name| spreadsheet::cell(&format!("p.{name}")));
    let fields: Vec<String> = fixed.into_iter().chain(probabilities).collect();
    let json = arguments.sequences.json;
    model.follow(&arguments.sequences, &fields, |reducer, place, text| {
        let Some(found) = reducer.classify() else { return };
        *text += &if json {
            as_json(place, &found, &model.classes)
        } else {
            as_csv(place, &found, &model.classes)
        };
        text.push('\n');
    })
}

fn as_csv(place: RecordPlace, found: &Classification<'_>, classes: &[String]) -> String {
    let distance = found.distance.map_or(String::new(), cell);
    let numbers = [cell(found.probability()), distance, cell(found.novelty)].into_iter();
    let numbers = numbers.chain(found.probabilities.iter().map(|p| cell(*p)));
    let cells: Vec<String> = [spreadsheet::cell(&classes[found.class]), found.known.to_string()]
        .into_iter()
        .chain(numbers)
        .collect();
    place.cells() + &cells.join(",")
}

fn as_json(place: RecordPlace, found: &Classification<'_>, classes: &[String]) -> String {
    let record = Record {
        sequence: place.sequence,
        row: place.row,
        class: &classes[found.class],
        known: found.known,
        probability: found.probability(),
        distance: found.distance,
        novelty: found.novelty,
        probabilities: (classes, found.probabilities),
    };
    escaped_json(&serde_json::to_string(&record).expect("numbers and names make valid JSON")).into_owned()
}

fn as_map<S: Serializer>((names, values): &(&[String], &[f32]), serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(names.iter().zip(*values))
}
