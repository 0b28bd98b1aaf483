//! Reads the selected part of one data file.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail};

use super::bag::Bag;
use super::csv::{self, RowReader};
use super::overlap::UsedRows;
use super::read_file::{ChecksumReader, ReadFiles};
use super::row_classes::LabelCodes;
use super::row_list::pick;
use super::row_source::CheckedRows;
use super::rows::Rows;
use super::select_columns::SelectedColumns;
use super::table::Table;
use super::{lines, npy, piano_roll};
use crate::config::{BagConfig, DataSource, DecimalMark, FileFormat, RowSelection};
use crate::memory;

/// Options for files that do not describe themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadOptions<'a> {
    pub(super) format: Option<FileFormat>,
    pub(super) header: bool,
    pub(super) decimal: Option<DecimalMark>,
    pub(super) lengths: Option<&'a Path>,
    pub(super) bag: Option<&'a BagConfig>,
}

impl DataSource {
    /// Reads the columns that `choose` selects from the available names, and the selected rows. Adds the
    /// files it opens to `read`, and what was unusual about them to `notes`; `used` gets the rows that
    /// are scored. With `codes`, the target is a column of labels, of which the table has the codes.
    pub(super) fn read(
        &self,
        reading: ReadOptions<'_>,
        read: &mut ReadFiles,
        notes: &mut Vec<String>,
        used: &mut Vec<UsedRows>,
        codes: Option<&mut LabelCodes>,
        choose: impl FnOnce(&[String]) -> Result<SelectedColumns, String>,
    ) -> Result<(SelectedColumns, Table)> {
        let file = self.file.display().to_string();
        let choose = |names: &[String]| choose(names).map_err(|problem| anyhow!("{file}: {problem}"));
        let (choice, mut table) = self.read_columns(reading, read, notes, codes, choose)?;
        table.sequences = self.cut(table.sequences, read, used).with_context(|| file.clone())?;
        Ok((choice, table))
    }

    fn read_columns(
        &self,
        reading: ReadOptions<'_>,
        read: &mut ReadFiles,
        notes: &mut Vec<String>,
        codes: Option<&mut LabelCodes>,
        choose: impl FnOnce(&[String]) -> Result<SelectedColumns>,
    ) -> Result<(SelectedColumns, Table)> {
        let file = &self.file.display().to_string();
        let format = reading.format.map_or_else(|| self.infer_format(), Ok)?;
        let table = match format {
            FileFormat::Csv | FileFormat::Parquet => {
                let mut source = CheckedRows::open(&self.file, format)?;
                let bytes = source.text_bytes(&self.file);
                let reader = RowReader::new(&mut source, file, format.has_header(reading.header))?;
                let decimal = format.decimal_mark(reading.decimal);
                let mut reader = reader.with_decimal_mark(decimal).with_file_bytes(bytes);
                let choice = choose(&reader.names())?;
                let table = match codes {
                    Some(codes) => {
                        reader.select(&choice.inputs)?;
                        csv::read_with_labels(&mut reader, &choice.targets[0], codes)?
                    }
                    None => {
                        reader.select(&choice.all())?;
                        csv::read(&mut reader)?
                    }
                };
                notes.extend(reader.peculiarities());
                source.finish(read)?;
                return Ok((choice, table));
            }
            FileFormat::Npy => {
                let named = self.lengths.as_deref().or(reading.lengths).map(Path::to_path_buf);
                self.read_npy(named.or_else(|| npy::companion(&self.file)).as_deref(), read, file)?
            }
            FileFormat::Mcap => {
                let bytes = ChecksumReader::read_whole(&self.file, read)?;
                let bag = Bag::parse(bytes).with_context(|| file.clone())?;
                let choice = choose(&bag.names())?;
                let config = reading.bag.cloned().unwrap_or_default();
                let rows = bag.rows(&choice.all(), &config).with_context(|| file.clone())?;
                notes.extend(bag.notes().iter().chain(&rows.notes).map(|note| format!("{file}: {note}")));
                let mut table = rows.table;
                encode_labels(codes, &choice, &mut table, file)?;
                return Ok((choice, table));
            }
            FileFormat::PianoRoll => {
                let text = ChecksumReader::read_whole(&self.file, read)?;
                piano_roll::check_size(&text, memory::available(), file)?;
                piano_roll::read(text.as_slice(), file)?
            }
            FileFormat::Words | FileFormat::Characters => bail!("{file}: text has no columns"),
        };
        let choice = choose(&table.names)?;
        let mut table = table.select(file, &choice.all())?;
        encode_labels(codes, &choice, &mut table, file)?;
        Ok((choice, table))
    }

    fn read_npy(&self, lengths: Option<&Path>, read: &mut ReadFiles, file: &str) -> Result<Table> {
        let values = ChecksumReader::read_whole(&self.file, read)?;
        let Some(path) = lengths else { return npy::read((&values, file), None) };
        let lengths = ChecksumReader::read_whole(path, read)?;
        npy::read((&values, file), Some((&lengths, &path.display().to_string())))
    }

    /// Reads all columns and rows of a file that is not CSV.
    ///
    /// # Errors
    /// When the file cannot be read; the message names it.
    pub fn read_all(&self) -> Result<Table> {
        let options = ReadOptions { format: None, header: true, decimal: None, bag: None, lengths: None };
        let all = |names: &[String]| Ok(SelectedColumns { inputs: names.to_vec(), targets: Vec::new() });
        Ok(self.read_columns(options, &mut ReadFiles::default(), &mut Vec::new(), None, all)?.1)
    }

    /// The format of the file, from its first bytes.
    ///
    /// # Errors
    /// When the file cannot be read; the message names it.
    pub fn infer_format(&self) -> Result<FileFormat> {
        let mut head = Vec::new();
        let mut start = lines::open(&self.file)?.take(FileFormat::HEAD as u64);
        start.read_to_end(&mut head).map_err(|error| lines::cannot_read(&self.file, &error))?;
        Ok(FileFormat::infer(&self.file, &head))
    }

    /// Keeps the selected sequences and rows, and adds those that are scored to `used`.
    fn cut(
        &self,
        mut sequences: Vec<Rows>,
        read: &mut ReadFiles,
        used: &mut Vec<UsedRows>,
    ) -> Result<Vec<Rows>> {
        let (mut first, mut start) = (0, 0);
        if let Some(cut) = self.sequences {
            let range = cut.within(sequences.len()).map_err(|problem| anyhow!("sequences {problem}"))?;
            first = range.start;
            start = sequences[..first].iter().map(Rows::len).sum();
            sequences = sequences.drain(range).collect();
        }
        let mut uses = |rows: Range<usize>| used.push(UsedRows { file: self.file.clone(), rows });
        let cut = match &self.rows {
            None | Some(RowSelection::Listed(_)) if self.burn_in.is_some() => {
                bail!("burn_in needs a range of rows that it precedes, such as rows = \"2502..\"");
            }
            None => {
                uses(start..start + sequences.iter().map(Rows::len).sum::<usize>());
                return Ok(sequences);
            }
            Some(RowSelection::Listed(list)) => {
                let listed = list.numbers(&sequences, read)?;
                listed.iter().for_each(|&row| uses(start + row..start + row + 1));
                return Ok(pick(&sequences, &listed));
            }
            Some(RowSelection::Range(cut)) => cut,
        };
        let mut kept = Vec::with_capacity(sequences.len());
        for (index, rows) in sequences.into_iter().enumerate() {
            let number = first + index;
            let range =
                cut.within(rows.len()).map_err(|problem| anyhow!("rows {problem} in sequence {number}"))?;
            uses(start + range.start..start + range.end);
            start += rows.len();
            let burn_in = self.burn_in.unwrap_or(0);
            let begin = range.start.checked_sub(burn_in).with_context(|| {
                let before = range.start;
                format!(
                    "burn_in is {burn_in}, but sequence {number} has {before} rows before the selected ones"
                )
            })?;
            kept.push(rows.slice(begin..range.end));
        }
        Ok(kept)
    }
}

/// Replaces the labels of a file of numbers, in the column behind the inputs, by their codes, if there are
/// any.
fn encode_labels(
    codes: Option<&mut LabelCodes>,
    choice: &SelectedColumns,
    table: &mut Table,
    file: &str,
) -> Result<()> {
    let Some(codes) = codes else { return Ok(()) };
    codes
        .encode(&mut table.sequences, choice.inputs.len())
        .with_context(|| format!("{file}: column `{}`", choice.targets[0]))
}
