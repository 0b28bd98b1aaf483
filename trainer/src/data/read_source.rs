//! Reads the selected part of one data file.

use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::csv::{self, RowReader};
use super::read_file::{ChecksumReader, ReadFiles};
use super::rows::Rows;
use super::select_columns::SelectedColumns;
use super::table::Table;
use super::{lines, npy, piano_roll};
use crate::config::{DataSource, FileFormat, RowSelection};
use crate::memory;

/// Options for files that do not describe themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOptions<'a> {
    pub(super) format: Option<FileFormat>,
    pub(super) header: bool,
    pub(super) lengths: Option<&'a Path>,
}

impl DataSource {
    /// Reads the columns that `choose` selects from the available names, and the selected rows. Adds the
    /// files it opens to `read`.
    pub(super) fn read(
        &self,
        reading: ReadOptions<'_>,
        read: &mut ReadFiles,
        choose: impl FnOnce(&[String]) -> Result<SelectedColumns, String>,
    ) -> Result<(SelectedColumns, Table)> {
        let file = self.file.display().to_string();
        let choose = |names: &[String]| choose(names).map_err(|problem| anyhow!("{file}: {problem}"));
        let (choice, mut table) = self.read_columns(reading, read, &file, choose)?;
        table.sequences = self.cut(table.sequences, read).with_context(|| file.clone())?;
        Ok((choice, table))
    }

    fn read_columns(
        &self,
        reading: ReadOptions<'_>,
        read: &mut ReadFiles,
        file: &str,
        choose: impl FnOnce(&[String]) -> Result<SelectedColumns>,
    ) -> Result<(SelectedColumns, Table)> {
        let table = match reading.format.map_or_else(|| self.infer_format(), Ok)? {
            FileFormat::Csv => {
                let mut source = ChecksumReader::open(&self.file)?;
                let mut reader = RowReader::new(&mut source, file, reading.header)?;
                let choice = choose(&reader.names())?;
                reader.select(&choice.all())?;
                let table = csv::read(reader)?;
                source.into_inner().finish(read)?;
                return Ok((choice, table));
            }
            FileFormat::Npy => {
                let named = self.lengths.as_deref().or(reading.lengths).map(Path::to_path_buf);
                self.read_npy(named.or_else(|| npy::companion(&self.file)).as_deref(), read, file)?
            }
            FileFormat::PianoRoll => {
                let text = ChecksumReader::read_whole(&self.file, read)?;
                piano_roll::check_size(&text, memory::available(), file)?;
                piano_roll::read(text.as_slice(), file)?
            }
            FileFormat::Words | FileFormat::Characters => bail!("{file}: text has no columns"),
        };
        let choice = choose(&table.names)?;
        let table = table.select(file, &choice.all())?;
        Ok((choice, table))
    }

    fn read_npy(&self, lengths: Option<&Path>, read: &mut ReadFiles, file: &str) -> Result<Table> {
        let values = ChecksumReader::read_whole(&self.file, read)?;
        let Some(path) = lengths else { return npy::read((&values, file), None) };
        let lengths = ChecksumReader::read_whole(path, read)?;
        npy::read((&values, file), Some((&lengths, &path.display().to_string())))
    }

    /// The format of the file, from its first bytes.
    pub(super) fn infer_format(&self) -> Result<FileFormat> {
        let mut head = Vec::new();
        let mut start = lines::open(&self.file)?.take(FileFormat::HEAD as u64);
        start.read_to_end(&mut head).map_err(|error| lines::cannot_read(&self.file, &error))?;
        Ok(FileFormat::infer(&self.file, &head))
    }

    /// Keeps the selected sequences and rows.
    fn cut(&self, mut sequences: Vec<Rows>, read: &mut ReadFiles) -> Result<Vec<Rows>> {
        let mut first = 0;
        if let Some(cut) = self.sequences {
            let range = cut.within(sequences.len()).map_err(|problem| anyhow!("sequences {problem}"))?;
            first = range.start;
            sequences = sequences.drain(range).collect();
        }
        let cut = match &self.rows {
            None | Some(RowSelection::Listed(_)) if self.burn_in.is_some() => {
                bail!("burn_in needs a range of rows that it precedes, such as rows = \"2502..\"");
            }
            None => return Ok(sequences),
            Some(RowSelection::Listed(list)) => return list.pick(&sequences, read),
            Some(RowSelection::Range(cut)) => cut,
        };
        let keep = |(index, rows): (usize, Rows)| match cut.within(rows.len()) {
            Ok(range) => match range.start.checked_sub(self.burn_in.unwrap_or(0)) {
                Some(start) => Ok(rows.slice(start..range.end)),
                None => Err(anyhow!(
                    "burn_in is {}, but sequence {} has {} rows before the selected ones",
                    self.burn_in.unwrap_or(0),
                    first + index,
                    range.start
                )),
            },
            Err(problem) => Err(anyhow!("rows {problem} in sequence {}", first + index)),
        };
        sequences.into_iter().enumerate().map(keep).collect()
    }
}
