//! Reads CSV row by row, from a file or from a pipe that is still being written to.

use std::io::BufRead;

use anyhow::{Error, Result, anyhow, bail};

use super::cell::NumberReader;
use super::record::Record;
use super::separator::Separator;
use super::{header, units};
use crate::config::DecimalMark;
use crate::data::lines::{Encoding, Lines};
use crate::data::table;

/// The column whose changes of value split a file into sequences.
const SEQUENCE: &str = "sequence";

/// Whether a row starts a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStart {
    /// The first row of a sequence: the file's first, one after a blank line, or one with a new `sequence`
    /// value.
    NewSequence,
    /// Any other row.
    Continues,
}

/// Rows and cells that could not be read, and were taken for missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToleratedFaults {
    /// Number of them.
    pub count: u64,
    /// The first, with its place.
    pub first: Option<String>,
}

/// Reads CSV rows one at a time, never beyond the end of the requested row.
///
/// ```
/// use quaver_trainer::data::csv::{RowReader, RowStart};
///
/// let text = "time,emg1,emg2\n0.00,4,-7\n0.01,,3\n";
/// let mut rows = RowReader::new(text.as_bytes(), "stdin", true)?;
/// rows.select(&["emg1".to_string(), "emg2".to_string()])?;
///
/// let mut row = [0.0; 2];
/// assert_eq!(rows.next_row(&mut row)?, Some(RowStart::NewSequence));
/// assert_eq!(row, [4.0, -7.0]);
/// assert_eq!(rows.next_row(&mut row)?, Some(RowStart::Continues));
/// assert!(row[0].is_nan());
/// assert_eq!(rows.next_row(&mut row)?, None);
/// # anyhow::Ok(())
/// ```
#[derive(Debug)]
pub struct RowReader<R> {
    lines: Lines<R>,
    record: Record,
    separator: Separator,
    numbers: NumberReader,
    /// All columns of the file.
    names: Vec<String>,
    /// Indices of the selected columns.
    columns: Vec<usize>,
    has_header: bool,
    /// Collects what is wrong with rows instead of stopping, if set.
    tolerated: Option<ToleratedFaults>,
    /// Index of the `sequence` column, and its value in the last row.
    sequence: Option<(usize, String)>,
    /// Without a header, the first line is read to count the columns and kept in `record` as the first row.
    first_row_waits: bool,
    /// Whether the next line may contain the units of the columns.
    units_may_follow: bool,
    /// The line of units below the header, if there is one.
    units: Option<Vec<String>>,
    /// Whether the next row starts a sequence.
    begins: bool,
    /// Bytes of the file, if known.
    file_bytes: Option<u64>,
}

impl<R: BufRead> RowReader<R> {
    /// Reads the header, if there is one, and selects all columns. `file` names the source in errors.
    pub fn new(source: R, file: &str, header: bool) -> Result<Self> {
        let mut reader = RowReader {
            lines: Lines::new(source, file, Encoding::Utf8OrLatin1),
            record: Record::default(),
            separator: Separator::default(),
            numbers: NumberReader::default(),
            names: Vec::new(),
            columns: Vec::new(),
            has_header: header,
            tolerated: None,
            sequence: None,
            first_row_waits: !header,
            units_may_follow: header,
            units: None,
            begins: true,
            file_bytes: None,
        };
        if !reader.first_record()? {
            bail!(
                "{file}: the file is empty; \
                 write one row per sample, below a line with the names of the columns"
            );
        }
        reader.begins = true;
        if header {
            reader.names = header::names(&reader.record, &reader.lines.place())?;
            let position = reader.names.iter().position(|name| name == SEQUENCE);
            reader.sequence = position.map(|index| (index, String::new()));
        } else {
            reader.names = table::numbered(reader.record.len());
        }
        reader.columns = reader.data_columns().collect();
        Ok(reader)
    }

    /// Takes this for the decimal mark instead of that of the first number with one.
    pub fn with_decimal_mark(mut self, mark: Option<DecimalMark>) -> Self {
        self.numbers.mark = mark;
        self
    }

    /// Bytes of the whole file, so that memory for its rows is taken at once.
    pub fn with_file_bytes(mut self, bytes: Option<u64>) -> Self {
        self.file_bytes = bytes;
        self
    }

    /// About how many rows are left, after `rows` have been read; none if the size of the file is not known.
    pub(super) fn rows_left(&self, rows: usize) -> usize {
        let read = self.lines.bytes().max(1);
        let left = self.file_bytes.unwrap_or(read).saturating_sub(read);
        // A little more, because what is not used takes no memory.
        (left as f64 / read as f64 * rows as f64 * 1.02) as usize
    }

    /// Reads on after rows and cells that are wrong: their values are missing. For live sources.
    pub fn tolerant(mut self) -> Self {
        self.tolerated = Some(ToleratedFaults::default());
        self
    }

    /// What was wrong with rows so far; nothing unless the reader is [`tolerant`](Self::tolerant).
    pub fn tolerated(&self) -> Option<&ToleratedFaults> {
        self.tolerated.as_ref().filter(|faults| faults.count > 0)
    }

    /// Whether the file names its columns.
    pub fn has_header(&self) -> bool {
        self.has_header
    }

    /// The text of a column, of any that the file has, in the row read last.
    pub fn text(&self, column: usize) -> &str {
        if column < self.record.len() { self.record.cell(column) } else { "" }
    }

    /// Indices of columns for [`text`](Self::text).
    pub fn positions(&self, names: &[String]) -> Result<Vec<usize>> {
        table::positions(self.lines.file(), &self.names, names)
    }

    /// How the file differs from the usual form, as far as it was read: separator, decimal mark, encoding,
    /// a line of units. `None` if it does not.
    pub fn peculiarities(&self) -> Option<String> {
        let found: Vec<String> = [
            (self.separator != Separator::Comma).then(|| format!("separator: {}", self.separator)),
            (self.numbers.mark == Some(DecimalMark::Comma)).then(|| "decimal comma".to_string()),
            self.lines.is_latin1().then(|| "Latin-1 text".to_string()),
            self.units.is_some().then(|| "a line of units below the header".to_string()),
        ]
        .into_iter()
        .flatten()
        .collect();
        (!found.is_empty()).then(|| format!("{}: {}", self.file(), found.join(", ")))
    }

    /// The name of the source in errors.
    pub fn file(&self) -> &str {
        self.lines.file()
    }

    /// Number of the line read last, counted from 1.
    pub fn line(&self) -> u64 {
        self.lines.number()
    }

    /// All data columns of the file, which are all but `sequence`.
    pub fn names(&self) -> Vec<String> {
        self.data_columns().map(|index| self.names[index].clone()).collect()
    }

    /// All columns of the file, `sequence` included.
    pub fn all_names(&self) -> &[String] {
        &self.names
    }

    /// The units of all columns, where a line below the header has them. Known after the first row.
    pub fn units(&self) -> Option<&[String]> {
        self.units.as_deref()
    }

    /// The selected columns, in order.
    pub fn selected(&self) -> Vec<String> {
        self.columns.iter().map(|&index| self.names[index].clone()).collect()
    }

    /// Selects columns, in this order. The cells of all others are ignored.
    pub fn select(&mut self, names: &[String]) -> Result<()> {
        self.columns = table::positions(self.lines.file(), &self.names, names)?;
        Ok(())
    }

    /// Makes changes of value in this column split the file into sequences, instead of those in `sequence`.
    pub fn watch(&mut self, name: &str) -> Result<()> {
        self.sequence = Some((self.column(name)?, String::new()));
        self.columns = self.data_columns().collect();
        Ok(())
    }

    /// The index of a column, selected or not.
    pub fn column(&self, name: &str) -> Result<usize> {
        Ok(self.positions(&[name.to_string()])?[0])
    }

    /// Reads the next row into `row`, `NaN` for missing values, and returns whether it starts a sequence;
    /// `None` at the end.
    ///
    /// # Panics
    /// If `row` is not as long as the selection.
    pub fn next_row(&mut self, row: &mut [f32]) -> Result<Option<RowStart>> {
        assert_eq!(row.len(), self.columns.len(), "the row must have one place per selected column");
        if !std::mem::take(&mut self.first_row_waits) && !self.next_data_record()? {
            return Ok(None);
        }
        match self.check_width() {
            Ok(()) => {
                self.watch_sequence();
                self.read_cells(row)?;
            }
            Err(problem) => {
                self.tolerate(problem)?;
                row.fill(f32::NAN);
            }
        }
        let begins = std::mem::take(&mut self.begins);
        Ok(Some(if begins { RowStart::NewSequence } else { RowStart::Continues }))
    }

    fn read_cells(&mut self, row: &mut [f32]) -> Result<()> {
        for (index, value) in row.iter_mut().enumerate() {
            let column = self.columns[index];
            *value = match self.numbers.number(self.record.cell(column)) {
                Ok(number) => number,
                Err(problem) => {
                    let place = self.lines.place();
                    self.tolerate(anyhow!("{place}: column `{}`: {problem}", self.names[column]))?;
                    f32::NAN
                }
            };
        }
        Ok(())
    }

    /// Keeps a problem for later, or returns it.
    fn tolerate(&mut self, problem: Error) -> Result<()> {
        let Some(faults) = &mut self.tolerated else { return Err(problem) };
        faults.count += 1;
        faults.first.get_or_insert_with(|| problem.to_string());
        Ok(())
    }

    fn data_columns(&self) -> impl Iterator<Item = usize> {
        let sequence = self.sequence.as_ref().map(|(index, _)| *index);
        (0..self.names.len()).filter(move |&index| Some(index) != sequence)
    }

    /// Parses the first line that is not blank, which also shows the separator; `false` at the end.
    fn first_record(&mut self) -> Result<bool> {
        self.parse_next(Separator::of_line)
    }

    /// Parses the next line that is not blank and does not contain units; `false` at the end.
    fn next_data_record(&mut self) -> Result<bool> {
        let separator = self.separator;
        let mut found = self.parse_next(|_| separator)?;
        if std::mem::take(&mut self.units_may_follow) && found && units::are_units(&self.record) {
            self.units = Some(self.record.cells().map(String::from).collect());
            found = self.parse_next(|_| separator)?;
        }
        Ok(found)
    }

    fn parse_next(&mut self, separator_of: impl Fn(&str) -> Separator) -> Result<bool> {
        loop {
            let Some(line) = self.lines.next_line()? else { return Ok(false) };
            if line.trim().is_empty() {
                self.begins = true;
                continue;
            }
            self.separator = separator_of(&line);
            return match self.record.parse(&line, self.separator) {
                Ok(()) => Ok(true),
                Err(problem) => bail!("{}: {problem}", self.lines.place()),
            };
        }
    }

    fn check_width(&self) -> Result<()> {
        let (found, expected) = (self.record.len(), self.names.len());
        if found == expected {
            return Ok(());
        }
        let place = self.lines.place();
        let (last, plural) = (&self.names[expected.min(found.max(1)) - 1], if found == 1 { "" } else { "s" });
        if found < expected {
            bail!(
                "{place}: {found} cell{plural}, expected {expected}: the row ends after column `{last}`; \
                 leave the cell of a missing value empty but keep its {}",
                self.separator
            );
        }
        bail!(
            "{place}: {found} cells, expected {expected}: the row continues after the last column `{last}`; \
             remove the extra cells (a decimal comma splits a cell in two: separate cells by semicolons)"
        );
    }

    /// Detects a new value in the `sequence` column.
    fn watch_sequence(&mut self) {
        if let Some((column, last)) = &mut self.sequence {
            let value = self.record.cell(*column);
            if value != last {
                self.begins = true;
                last.clear();
                last.push_str(value);
            }
        }
    }
}
