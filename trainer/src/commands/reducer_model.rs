//! A model that reduces sequences, from a checkpoint or a run folder: always run by the runtime.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::{Kind, Layout, WeightFormat};
use quaver::{Reducer, ReducerModel};

use super::sequence_io::{InputChannels, SequenceIo};
use super::{checkpoint_file, row_io};
use crate::config::Config;
use crate::data::csv::RowStart;
use crate::export::{ReducerEncoding, encode_reducer};
use crate::fit::RunFolder;
use crate::reduce::fit;
use crate::runs::TrainedState;

/// The bytes of a checkpoint that were checked.
pub(super) struct LoadedReducer {
    pub(super) bytes: Vec<u8>,
    /// Names of the classes; class0, class1, … if the checkpoint has none.
    pub(super) classes: Vec<String>,
    pub(super) channels: InputChannels,
    pub(super) dimensions: usize,
}

impl LoadedReducer {
    /// Reads a checkpoint. Of a run folder, the classifier is fitted on the training data again, and the
    /// model becomes a checkpoint in f32; `data_dir` is the folder of relative paths, instead of the
    /// config's.
    pub(super) fn load(path: &Path, data_dir: Option<&Path>) -> Result<Self> {
        let shown = path.display();
        if path.is_dir() {
            return Self::new(from_run(path, data_dir)?).with_context(|| format!("{shown} cannot be run"));
        }
        let bytes = checkpoint_file::read(path, checkpoint_file::OR_RUN)?;
        ensure!(Kind::of(&bytes) == Some(Kind::Reducer), no_reducer(path));
        Self::new(bytes).with_context(|| format!("{shown} is not a usable checkpoint"))
    }

    fn new(bytes: Vec<u8>) -> Result<Self, quaver::Error> {
        let model = ReducerModel::load(&bytes)?;
        let name =
            |class: usize| model.class_name(class).map_or_else(|| format!("class{class}"), String::from);
        let classes = (0..model.classes()).map(name).collect();
        let network = model.network();
        let channels = InputChannels {
            names: network.checkpoint().input_names().map(String::from).collect(),
            count: network.spec().inputs.into(),
        };
        let dimensions = model.dimensions();
        Ok(Self { bytes, classes, channels, dimensions })
    }

    /// Reads sequences and writes a record for each, or for each row. `record` appends one; `fields` names
    /// what comes after the number of the sequence and, for rows, the number of the row.
    pub(super) fn follow(
        &self,
        io: &SequenceIo,
        fields: &[String],
        mut record: impl FnMut(&mut Reducer<'_, '_>, RecordPlace, &mut String),
    ) -> Result<()> {
        let mut words = vec![0.0; ReducerModel::load(&self.bytes)?.arena_words()];
        let mut reducer = Reducer::load_in(&self.bytes, &mut words)?;
        row_io::write(io.output.as_deref(), |out| {
            let mut text = String::new();
            if !io.json {
                text = format!("{}\n", heading(io.every_row, fields));
                flush(out, &mut text)?;
            }
            let mut place = RecordPlace { sequence: 0, row: None };
            let mut rows = 0;
            io.for_each_row(&self.channels, |start, row| {
                if start == RowStart::NewSequence && rows > 0 {
                    if !io.every_row {
                        record(&mut reducer, place, &mut text);
                        flush(out, &mut text)?;
                    }
                    reducer.begin();
                    place.sequence += 1;
                    rows = 0;
                }
                reducer.step(row);
                if io.every_row {
                    place.row = Some(rows);
                    record(&mut reducer, place, &mut text);
                    flush(out, &mut text)?;
                }
                rows += 1;
                Ok(())
            })?;
            if rows > 0 && !io.every_row {
                record(&mut reducer, place, &mut text);
                flush(out, &mut text)?;
            }
            Ok(())
        })
    }
}

/// Whether a file is the checkpoint of a reducer, usable or not.
pub(super) fn is_reducer(path: &Path) -> bool {
    fs::read(path).is_ok_and(|bytes| Kind::of(&bytes) == Some(Kind::Reducer))
}

fn no_reducer(path: &Path) -> String {
    format!("{} does not reduce sequences: train a model with a section `[reduce]`", path.display())
}

/// The checkpoint of a run folder, in f32.
fn from_run(path: &Path, data_dir: Option<&Path>) -> Result<Vec<u8>> {
    let folder = RunFolder::new(path);
    let TrainedState::Reduce(state) = TrainedState::load(&folder.best_state())? else {
        bail!(no_reducer(path))
    };
    let config = Config::load_with_data(&folder.config(), &[], data_dir)?;
    let fitted = fit(&state, &config, &config.load_data()?)?;
    let encoding = ReducerEncoding::default();
    encode_reducer(&fitted, &state.input_names, WeightFormat::F32, Layout::Float, &encoding)
}

/// What a record is about.
#[derive(Clone, Copy, Debug)]
pub(super) struct RecordPlace {
    /// Number of the sequence, counted from 0.
    pub(super) sequence: usize,
    /// Number of the row in the sequence, counted from 0.
    pub(super) row: Option<usize>,
}

impl RecordPlace {
    /// The first cells of a record, each with a comma.
    pub(super) fn cells(self) -> String {
        let row = self.row.map_or(String::new(), |row| format!("{row},"));
        format!("{},{row}", self.sequence)
    }
}

fn heading(every_row: bool, fields: &[String]) -> String {
    let row = if every_row { "row," } else { "" };
    format!("sequence,{row}{}", fields.join(","))
}

/// Writes at once, so that a reader on a pipe sees every record.
fn flush(out: &mut dyn Write, text: &mut String) -> Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()?;
    text.clear();
    Ok(())
}
