//! Reads the recordings of one file with their labels.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::recording::{Label, Recording, numeric_label};
use crate::config::{DataConfig, DataSource, FileFormat, LabelsConfig, RowSelection, Targets};
use crate::data::csv::{RowReader, RowStart};
use crate::data::npy;
use crate::data::overlap::UsedRows;
use crate::data::read_file::{ChecksumReader, ReadFiles};
use crate::data::read_source::ReadOptions;
use crate::data::row_source::CheckedRows;
use crate::data::rows::Rows;
use crate::data::select_columns::SelectedColumns;
use crate::data::table::positions;

/// Name of the only channel of series in an array of series × time.
const SERIES: &str = "x";

/// The recordings of a file, and the names of their inputs.
pub(super) struct LabelledFile {
    pub(super) recordings: Vec<Recording>,
    pub(super) inputs: Vec<String>,
    /// Rows or sequences of the file that are used, as far as it is whole sequences.
    pub(super) used: Vec<UsedRows>,
}

/// What was read so far besides recordings.
#[derive(Default)]
pub(super) struct LabelledReading {
    pub(super) files: ReadFiles,
    /// What was taken for granted, for people.
    pub(super) notes: Vec<String>,
}

impl DataConfig {
    /// Reads the selected part of a file with its labels.
    pub(super) fn read_recordings(
        &self,
        source: &DataSource,
        read: &mut LabelledReading,
    ) -> Result<LabelledFile> {
        let labels = self.labels.clone().unwrap_or_default();
        let file = source.file.display().to_string();
        let format = self.format.map_or_else(|| source.infer_format(), Ok)?;
        let mut found = match (&labels.column, format) {
            (_, FileFormat::Mcap | FileFormat::PianoRoll | FileFormat::Words | FileFormat::Characters) => {
                bail!("{file}: this format has no labels; convert it to CSV or NumPy")
            }
            (Some(column), FileFormat::Csv | FileFormat::Parquet) => {
                self.read_rows(source, format, &labels, column, read)?
            }
            (Some(column), FileFormat::Npy) => return self.read_stream(source, column, read),
            (None, FileFormat::Csv | FileFormat::Parquet) => {
                bail!("{file}: a table has its labels in a column: name it in data.labels.column")
            }
            (None, FileFormat::Npy) => self.read_arrays(source, &labels, read)?,
        };
        (found.recordings, found.used) = select(source, found.recordings).with_context(|| file)?;
        Ok(found)
    }

    /// Selects the inputs of a file whose labels are in a column, or in another file.
    fn labelled_columns(&self, column: Option<&str>, names: &[String]) -> Result<SelectedColumns, String> {
        let excluded = match &self.exclude {
            Some(patterns) => patterns.among("data.exclude", names)?.into_iter().collect(),
            None => HashSet::new(),
        };
        let targets = column.map_or(Targets::Labels, |column| Targets::Matching(vec![column.to_string()]));
        SelectedColumns::new(&self.inputs, &targets, &excluded, names)
            .map_err(|problem| problem.replace("data.targets", "data.labels.column"))
    }

    /// Rows with a label each.
    fn read_rows(
        &self,
        source: &DataSource,
        format: FileFormat,
        labels: &LabelsConfig,
        column: &str,
        read: &mut LabelledReading,
    ) -> Result<LabelledFile> {
        let file = source.file.display().to_string();
        let mut text = CheckedRows::open(&source.file, format)?;
        let reader = RowReader::new(&mut text, &file, format.has_header(self.header))?;
        let mut reader = reader.with_decimal_mark(format.decimal_mark(self.decimal));
        if let Some(sequence) = &labels.sequence {
            reader.watch(sequence)?;
        }
        let SelectedColumns { inputs, .. } = self
            .labelled_columns(Some(column), &reader.names())
            .map_err(|problem| anyhow!("{file}: {problem}"))?;
        reader.select(&inputs)?;
        let column = reader.column(column)?;
        let (mut recordings, mut row) = (Vec::<Recording>::new(), vec![0.0; inputs.len()]);
        while let Some(start) = reader.next_row(&mut row)? {
            let label = Some(reader.text(column).to_string()).filter(|label| !label.is_empty());
            match recordings.last_mut() {
                Some(recording) if start == RowStart::Continues => {
                    recording.rows.values.extend_from_slice(&row);
                    recording.labels.push(label);
                }
                _ => recordings.push(Recording {
                    rows: Rows { channels: row.len(), values: row.clone() },
                    labels: vec![label],
                    place: format!("{file}: sequence {}", recordings.len()),
                }),
            }
        }
        ensure!(!recordings.is_empty(), "{file}: no rows below the header; write one row per sample");
        read.notes.extend(reader.peculiarities());
        drop(reader);
        text.finish(&mut read.files)?;
        Ok(LabelledFile { recordings, inputs, used: Vec::new() })
    }

    /// A NumPy array with a column of labels.
    fn read_stream(
        &self,
        source: &DataSource,
        column: &str,
        read: &mut LabelledReading,
    ) -> Result<LabelledFile> {
        let reading = ReadOptions {
            format: self.format,
            header: self.header,
            decimal: self.decimal,
            lengths: self.lengths.as_deref(),
            bag: None,
        };
        let mut used = Vec::new();
        let choose = |names: &[String]| self.labelled_columns(Some(column), names);
        let (choice, table) =
            source.read(reading, &mut read.files, &mut read.notes, &mut used, None, choose)?;
        let inputs: Vec<usize> = (0..choice.inputs.len()).collect();
        let file = source.file.display();
        let recording = |(index, rows): (usize, Rows)| {
            let place = format!("{file}: sequence {index}");
            let label = |(row, values): (usize, &[f32])| {
                numeric_label(values[inputs.len()])
                    .map_err(|problem| anyhow!("{place}: row {row}, column `{column}`: {problem}"))
            };
            let labels = rows.iter().enumerate().map(label).collect::<Result<_>>()?;
            Ok(Recording { rows: rows.columns(&inputs), labels, place })
        };
        let recordings = table.sequences.into_iter().enumerate().map(recording).collect::<Result<_>>()?;
        Ok(LabelledFile { recordings, inputs: choice.inputs, used })
    }

    /// NumPy arrays with a label per sequence in a file of its own.
    fn read_arrays(
        &self,
        source: &DataSource,
        labels: &LabelsConfig,
        read: &mut LabelledReading,
    ) -> Result<LabelledFile> {
        let file = source.file.display().to_string();
        let values = ChecksumReader::read_whole(&source.file, &mut read.files)?;
        let (sequences, names) = if is_series(&source.file) {
            let rows = npy::parse_values(&values, &file)?;
            let series = rows.iter().map(|row| Rows { channels: 1, values: row.to_vec() }).collect();
            (series, vec![SERIES.to_string()])
        } else {
            let lengths = source.lengths.clone().or_else(|| self.lengths.clone());
            let lengths = lengths.or_else(|| npy::companion(&source.file)).with_context(|| {
                format!(
                    "{file}: no lengths of sequences: name the file NAME.values.npy next to NAME.lengths.npy, set \
                     data.lengths, name an array of series × time NAME.X.npy, or set data.labels.column for a \
                     label per row"
                )
            })?;
            let bytes = ChecksumReader::read_whole(&lengths, &mut read.files)?;
            let table = npy::read((&values, &file), Some((&bytes, &lengths.display().to_string())))?;
            (table.sequences, table.names)
        };
        let choice = self.labelled_columns(None, &names).map_err(|problem| anyhow!("{file}: {problem}"))?;
        let places = positions(&file, &names, &choice.inputs)?;
        let path = labels.file.clone().map_or_else(|| companion(&source.file), Ok)?;
        let labels = read_labels(&path, sequences.len(), &file, &mut read.files)?;
        let recording = |(index, (rows, label)): (usize, (Rows, Label))| Recording {
            rows: rows.columns(&places),
            labels: vec![label],
            place: format!("{file}: sequence {index}"),
        };
        let recordings = sequences.into_iter().zip(labels).enumerate().map(recording).collect();
        Ok(LabelledFile { recordings, inputs: choice.inputs, used: Vec::new() })
    }
}

/// Whether a file holds series × time by its name.
fn is_series(file: &Path) -> bool {
    file.to_string_lossy().ends_with(".X.npy")
}

/// The labels file of an array by naming convention.
fn companion(file: &Path) -> Result<PathBuf> {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let conventions = [(".X.npy", ".y.npy"), (".values.npy", ".labels.npy")];
    let found = conventions.into_iter().find_map(|(values, labels)| {
        name.strip_suffix(values).map(|stem| file.with_file_name(format!("{stem}{labels}")))
    });
    found.with_context(|| {
        format!(
            "{}: no labels: name the file NAME.X.npy or NAME.values.npy next to NAME.y.npy or NAME.labels.npy, \
             or set data.labels.file or data.labels.column",
            file.display()
        )
    })
}

/// One label per sequence.
fn read_labels(path: &Path, count: usize, values: &str, read: &mut ReadFiles) -> Result<Vec<Label>> {
    let bytes = ChecksumReader::read_whole(path, read)?;
    let file = path.display().to_string();
    let rows = npy::parse_values(&bytes, &file)?;
    ensure!(
        rows.channels == 1 && rows.len() == count,
        "{file}: {} labels in {} columns, but {values} has {count} sequences; store one label per sequence",
        rows.len(),
        rows.channels
    );
    let label = |(index, value): (usize, &f32)| {
        numeric_label(*value).map_err(|problem| anyhow!("{file}: sequence {index}: {problem}"))
    };
    rows.values.iter().enumerate().map(label).collect()
}

/// Keeps the selected sequences, and the selected rows of each; and which sequences these are, unless rows
/// are selected.
fn select(source: &DataSource, mut recordings: Vec<Recording>) -> Result<(Vec<Recording>, Vec<UsedRows>)> {
    let mut range = 0..recordings.len();
    if let Some(cut) = source.sequences {
        range = cut.within(recordings.len()).map_err(|problem| anyhow!("sequences {problem}"))?;
        recordings = recordings.drain(range.clone()).collect();
    }
    let Some(rows) = &source.rows else {
        return Ok((recordings, vec![UsedRows { file: source.file.clone(), rows: range }]));
    };
    let RowSelection::Range(cut) = rows else {
        bail!("a list of rows does not go with labels; select sequences or a range of rows")
    };
    let keep = |mut recording: Recording| {
        let range = cut
            .within(recording.rows.len())
            .map_err(|problem| anyhow!("rows {problem} in {}", recording.place))?;
        recording.rows = recording.rows.slice(range.clone());
        if recording.labels.len() > 1 {
            recording.labels = recording.labels[range].to_vec();
        }
        Ok(recording)
    };
    Ok((recordings.into_iter().map(keep).collect::<Result<_>>()?, Vec::new()))
}
