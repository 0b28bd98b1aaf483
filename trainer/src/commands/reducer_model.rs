//! A model that reduces sequences, from a checkpoint or a run folder: always run by the runtime.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use quaver::checkpoint::Kind;
use quaver::{Reducer, ReducerModel};

use super::sequence_io::{InputChannels, SequenceIo};
use super::{checkpoint_file, row_io};
use crate::data::csv::RowStart;

/// The bytes of a checkpoint that were checked.
pub(super) struct LoadedReducer {
    pub(super) bytes: Vec<u8>,
    /// Names of the classes; class0, class1, … if the checkpoint has none.
    pub(super) classes: Vec<String>,
    pub(super) channels: InputChannels,
    pub(super) dimensions: usize,
}

impl LoadedReducer {
    pub(super) fn load(path: &Path) -> Result<Self> {
        let shown = path.display();
        let bytes = checkpoint_file::read(path, checkpoint_file::OR_RUN)?;
        ensure!(
            Kind::of(&bytes) == Some(Kind::Reducer),
            "{shown} does not reduce sequences: train a model with a section `[reduce]`"
        );
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
