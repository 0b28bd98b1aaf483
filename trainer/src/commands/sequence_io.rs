//! Input and output of sequences: rows from a CSV stream or a NumPy file, a record for each sequence or row.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::row_io::{open, select};
use crate::data::csv::RowStart;
use crate::data::{Rows, npy};

/// Input and output of sequences.
#[derive(Debug, clap::Args)]
pub(super) struct SequenceIo {
    /// CSV or NumPy file to read; by default CSV on standard input.
    #[arg(long, visible_alias = "in", value_name = "F.csv|F.npy")]
    input: Option<PathBuf>,
    /// File to write, atomically; standard output by default.
    #[arg(long, visible_alias = "out", value_name = "F")]
    pub(super) output: Option<PathBuf>,
    /// The CSV input has no header: its columns are the model's inputs in order.
    #[arg(long)]
    no_header: bool,
    /// CSV: a change of value in this column starts a new sequence; the column `sequence` by default. A blank
    /// line does as well.
    #[arg(long, value_name = "COLUMN")]
    sequence: Option<String>,
    /// A record for every row instead of one at the end of each sequence: over all rows since its beginning,
    /// or over the sliding window of the checkpoint.
    #[arg(long)]
    pub(super) every_row: bool,
    /// Print one JSON object per line instead of CSV.
    #[arg(long)]
    pub(super) json: bool,
}

/// The channels that a model reads.
pub(super) struct InputChannels {
    /// Empty if they have no names.
    pub(super) names: Vec<String>,
    pub(super) count: usize,
}

impl SequenceIo {
    /// Passes every row to `each`, as soon as it is there.
    pub(super) fn for_each_row(
        &self,
        channels: &InputChannels,
        mut each: impl FnMut(RowStart, &[f32]) -> Result<()>,
    ) -> Result<()> {
        if let Some(path) =
            self.input.as_deref().filter(|path| path.extension().is_some_and(|end| end == "npy"))
        {
            ensure!(
                self.sequence.is_none() && !self.no_header,
                "--sequence and --no-header are for CSV; sequences of a NumPy file are series in its rows, or those of \
                 NAME.lengths.npy next to NAME.values.npy"
            );
            for rows in read_npy(path, channels.count)? {
                for (index, row) in rows.iter().enumerate() {
                    each(if index == 0 { RowStart::NewSequence } else { RowStart::Continues }, row)?;
                }
            }
            return Ok(());
        }
        let mut rows = open(self.input.as_deref(), !self.no_header)?;
        if let Some(column) = &self.sequence {
            rows.watch(column)?;
        }
        select(&mut rows, &channels.names, channels.count)?;
        let mut row = vec![0.0; channels.count];
        while let Some(start) = rows.next_row(&mut row)? {
            each(start, &row)?;
        }
        Ok(())
    }
}

/// The sequences of an array: rows × channels, cut by a file of lengths next to it if there is one; or, for a
/// model of one channel, series × time.
fn read_npy(path: &Path, channels: usize) -> Result<Vec<Rows>> {
    let read = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let file = path.display().to_string();
    let values = read(path)?;
    let lengths =
        npy::companion(path).map(|path| Ok::<_, anyhow::Error>((read(&path)?, path))).transpose()?;
    let lengths = lengths.as_ref().map(|(bytes, path)| (bytes.as_slice(), path.display().to_string()));
    let table = npy::read((&values, &file), lengths.as_ref().map(|(bytes, file)| (*bytes, file.as_str())))?;
    let found = table.names.len();
    if channels == 1 && found > 1 && lengths.is_none() {
        let series = |row: &[f32]| Rows { channels: 1, values: row.to_vec() };
        return Ok(table.sequences.iter().flat_map(|rows| rows.iter().map(series)).collect());
    }
    ensure!(
        found == channels,
        "{file}: {found} columns, but the model has {channels} inputs; give one column per input, in this order"
    );
    Ok(table.sequences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &str, values: &[f32]) -> Vec<u8> {
        let mut header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
        header += &" ".repeat((63 - (10 + header.len()) % 64) % 64 + 1);
        header.pop();
        header.push('\n');
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    #[test]
    fn an_array_is_rows_or_series_by_the_channels_of_the_model() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.npy");
        fs::write(&path, array("(2, 3)", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])).unwrap();
        let series = read_npy(&path, 1).unwrap();
        assert_eq!(
            series.iter().map(|rows| rows.values.clone()).collect::<Vec<_>>(),
            [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
        );
        let rows = read_npy(&path, 3).unwrap();
        assert_eq!((rows.len(), rows[0].len()), (1, 2));
        let error = read_npy(&path, 2).unwrap_err().to_string();
        assert!(error.contains("3 columns, but the model has 2 inputs"), "{error}");
    }
}
