//! Reads the recordings of one file with their labels.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::recording::{Label, Recording, numeric_label};
use crate::config::{DataConfig, DataSource, FileFormat, LabelsConfig, RowSelection, Targets};
use crate::data::csv::{RowReader, RowStart};
use crate::data::npy;
use crate::data::read_file::{ChecksumReader, ReadFiles};
use crate::data::read_source::ReadOptions;
use crate::data::rows::Rows;
use crate::data::select_columns::SelectedColumns;

/// Name of the only channel of series in an array of series × time.
const SERIES: &str = "x";

/// The recordings of a file, and the names of their inputs.
pub(super) struct LabelledFile {
    pub(super) recordings: Vec<Recording>,
    pub(super) inputs: Vec<String>,
}

impl DataConfig {
    /// Reads the selected part of a file with its labels.
    pub(super) fn read_recordings(&self, source: &DataSource, read: &mut ReadFiles) -> Result<LabelledFile> {
        let labels = self.labels.clone().unwrap_or_default();
        let file = source.file.display().to_string();
        let format = self.format.map_or_else(|| source.infer_format(), Ok)?;
        let mut found = match (&labels.column, format) {
            (_, FileFormat::PianoRoll | FileFormat::Words | FileFormat::Characters) => {
                bail!("{file}: this format has no labels; convert it to CSV or NumPy")
            }
            (Some(column), FileFormat::Csv) => self.read_csv(source, &labels, column, read)?,
            (Some(column), FileFormat::Npy) => return self.read_stream(source, column, read),
            (None, FileFormat::Csv) => {
                bail!("{file}: a CSV file has its labels in a column: name it in data.labels.column")
            }
            (None, FileFormat::Npy) => self.read_arrays(source, &labels, read)?,
        };
        found.recordings = select(source, found.recordings).with_context(|| file)?;
        Ok(found)
    }

    /// CSV rows with a label each.
    fn read_csv(
        &self,
        source: &DataSource,
        labels: &LabelsConfig,
        column: &str,
        read: &mut ReadFiles,
    ) -> Result<LabelledFile> {
        let file = source.file.display().to_string();
        let mut bytes = ChecksumReader::open(&source.file)?;
        let mut reader = RowReader::new(&mut bytes, &file, self.header)?;
        if let Some(sequence) = &labels.sequence {
            reader.watch(sequence)?;
        }
        let targets = Targets::Matching(vec![column.to_string()]);
        let SelectedColumns { inputs, .. } = SelectedColumns::new(&self.inputs, &targets, &reader.names())
            .map_err(|problem| {
                anyhow!("{file}: {}", problem.replace("data.targets", "data.labels.column"))
            })?;
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
        drop(reader);
        bytes.into_inner().finish(read)?;
        Ok(LabelledFile { recordings, inputs })
    }

    /// A NumPy array with a column of labels.
    fn read_stream(&self, source: &DataSource, column: &str, read: &mut ReadFiles) -> Result<LabelledFile> {
        let reading =
            ReadOptions { format: self.format, header: self.header, lengths: self.lengths.as_deref() };
        let targets = Targets::Matching(vec![column.to_string()]);
        let choose = |names: &[String]| {
            SelectedColumns::new(&self.inputs, &targets, names)
                .map_err(|problem| problem.replace("data.targets", "data.labels.column"))
        };
        let (choice, table) = source.read(reading, read, choose)?;
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
        Ok(LabelledFile { recordings, inputs: choice.inputs })
    }

    /// NumPy arrays with a label per sequence in a file of its own.
    fn read_arrays(
        &self,
        source: &DataSource,
        labels: &LabelsConfig,
        read: &mut ReadFiles,
    ) -> Result<LabelledFile> {
        let file = source.file.display().to_string();
        let values = ChecksumReader::read_whole(&source.file, read)?;
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
            let bytes = ChecksumReader::read_whole(&lengths, read)?;
            let table = npy::read((&values, &file), Some((&bytes, &lengths.display().to_string())))?;
            (table.sequences, table.names)
        };
        let choice = SelectedColumns::new(&self.inputs, &Targets::Labels, &names)
            .map_err(|problem| anyhow!("{file}: {problem}"))?;
        let places = crate::data::table::positions(&file, &names, &choice.inputs)?;
        let path = labels.file.clone().map_or_else(|| companion(&source.file), Ok)?;
        let labels = read_labels(&path, sequences.len(), &file, read)?;
        let recording = |(index, (rows, label)): (usize, (Rows, Label))| Recording {
            rows: rows.columns(&places),
            labels: vec![label],
            place: format!("{file}: sequence {index}"),
        };
        let recordings = sequences.into_iter().zip(labels).enumerate().map(recording).collect();
        Ok(LabelledFile { recordings, inputs: choice.inputs })
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

/// Keeps the selected sequences, and the selected rows of each.
fn select(source: &DataSource, mut recordings: Vec<Recording>) -> Result<Vec<Recording>> {
    if let Some(cut) = source.sequences {
        let range = cut.within(recordings.len()).map_err(|problem| anyhow!("sequences {problem}"))?;
        recordings = recordings.drain(range).collect();
    }
    let Some(rows) = &source.rows else { return Ok(recordings) };
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
    recordings.into_iter().map(keep).collect()
}
