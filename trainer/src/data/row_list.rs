//! Rows that a file lists by number.

use anyhow::{Result, anyhow, bail, ensure};

use super::lines::Lines;
use super::read_file::{ChecksumReader, ReadFiles};
use super::rows::Rows;
use crate::config::RowList;

impl RowList {
    /// The listed rows, each as a sequence. Rows are counted through all of `sequences`. Adds the list's file
    /// to `read`.
    pub(super) fn pick(&self, sequences: &[Rows], read: &mut ReadFiles) -> Result<Vec<Rows>> {
        let rows: Vec<(&Rows, usize)> =
            sequences.iter().flat_map(|rows| (0..rows.len()).map(move |index| (rows, index))).collect();
        let text = ChecksumReader::read_whole(&self.file, read)?;
        let mut file = Lines::new(text.as_slice(), &self.file.display().to_string());
        let line = self.find(&mut file)?;
        let place = format!("{}:{}", self.file.display(), self.line + 1);
        let one = |cell: &str| {
            let cell = cell.trim();
            let index: usize = cell.parse().map_err(|_| {
                anyhow!(
                    "{place}: found `{cell}`, expected row numbers, counted from 0 and separated by commas"
                )
            })?;
            let Some((rows, index)) = rows.get(index) else {
                bail!("{place}: there is no row {index}: the file has {} rows, counted from 0", rows.len());
            };
            Ok(rows.slice(*index..index + 1))
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
