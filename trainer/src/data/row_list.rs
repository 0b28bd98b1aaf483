//! Rows that a file lists by number.

use anyhow::{Result, anyhow, bail, ensure};

use super::lines::{Encoding, Lines};
use super::read_file::{ChecksumReader, ReadFiles};
use super::rows::Rows;
use crate::config::RowList;

/// Rows by their number, counted through all of `sequences`, each as a sequence.
pub(super) fn pick(sequences: &[Rows], numbers: &[usize]) -> Vec<Rows> {
    let rows: Vec<(&Rows, usize)> =
        sequences.iter().flat_map(|rows| (0..rows.len()).map(move |index| (rows, index))).collect();
    numbers.iter().map(|&number| rows[number]).map(|(rows, index)| rows.slice(index..index + 1)).collect()
}

impl RowList {
    /// The numbers of the listed rows, each less than the number of rows of all `sequences`. Adds the list's
    /// file to `read`.
    pub(super) fn numbers(&self, sequences: &[Rows], read: &mut ReadFiles) -> Result<Vec<usize>> {
        let count: usize = sequences.iter().map(Rows::len).sum();
        let text = ChecksumReader::read_whole(&self.file, read)?;
        let mut file = Lines::new(text.as_slice(), &self.file.display().to_string(), Encoding::Utf8);
        let line = self.find(&mut file)?;
        let place = format!("{}:{}", self.file.display(), self.line + 1);
        let one = |cell: &str| {
            let cell = cell.trim();
            let number: usize = cell.parse().map_err(|_| {
                anyhow!(
                    "{place}: found `{cell}`, expected row numbers, counted from 0 and separated by commas"
                )
            })?;
            ensure!(
                number < count,
                "{place}: there is no row {number}: the file has {count} rows, counted from 0"
            );
            Ok(number)
        };
        line.split(',').map(one).collect()
    }

    fn find(&self, file: &mut Lines<impl std::io::BufRead>) -> Result<String> {
        let mut count = 0;
        while let Some(line) = file.next_line()? {
            if count == self.line {
                let named = self.file.display();
                ensure!(!line.trim().is_empty(), "{named}:{}: no rows are listed here", count + 1);
                return Ok(line.to_string());
            }
            count += 1;
        }
        bail!(
            "{}: no line {}: the file has {count} lines, and `line` counts from 0",
            self.file.display(),
            self.line
        )
    }
}
