//! A file read once as text, and several files of one kind together.

use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::column::ColumnStatistics;
use super::timestamp::parse_timestamp;
use super::unit::name_and_unit;
use crate::config::{DataSource, FileFormat};
use crate::data::csv::{CellValue, RowReader, RowStart};
use crate::data::{WatchedReading, open_rows};

/// What one file holds.
#[derive(Clone, Debug)]
pub struct FileSurvey {
    /// Its path as given.
    pub path: PathBuf,
    /// Its format.
    pub format: FileFormat,
    /// CSV: whether the first line names the columns.
    pub has_header: bool,
    /// How it differs from the usual form, if it does.
    pub peculiarities: Option<String>,
    /// Rows in which the sequences that the file itself marks start; never empty.
    pub starts: Vec<usize>,
    /// Number of rows.
    pub rows: usize,
    /// Its columns, in order.
    pub columns: Vec<ColumnStatistics>,
}

impl FileSurvey {
    /// Reads a file.
    ///
    /// # Errors
    /// When it cannot be read, or has no rows; the message names it.
    pub fn read(path: &Path) -> Result<Self> {
        let source = DataSource::whole(path);
        let format = source.infer_format()?;
        if format.has_text_rows() { Self::read_text(path, format) } else { Self::read_array(&source, format) }
    }

    fn read_text(path: &Path, format: FileFormat) -> Result<Self> {
        let name = path.display().to_string();
        let has_header = format.has_header(format == FileFormat::Csv && has_header(path)?);
        let mut reader = RowReader::new(open_rows(path, format)?, &name, has_header)?;
        reader.select(&[])?;
        let mut columns: Vec<ColumnStatistics> = Vec::new();
        let (mut starts, mut rows) = (Vec::new(), 0);
        while let Some(start) = reader.next_row(&mut [])? {
            if columns.is_empty() {
                let units = reader.units();
                let unit = |index: usize, name: &str| {
                    let below = units.and_then(|units| units.get(index)).map(|unit| trimmed(unit));
                    below.or(name_and_unit(name).1).filter(|unit| !unit.is_empty()).map(String::from)
                };
                let column = |(index, name): (usize, &String)| ColumnStatistics::new(name, unit(index, name));
                columns = reader.all_names().iter().enumerate().map(column).collect();
            }
            let begins = start == RowStart::NewSequence;
            if begins {
                starts.push(rows);
            }
            for (index, column) in columns.iter_mut().enumerate() {
                column.add(reader.text(index), begins);
            }
            rows += 1;
        }
        ensure!(rows > 0, "{name}: no rows below the header; write one row per sample");
        // Which mark the decimals have is only known to a reader of numbers.
        let peculiarities = reader.peculiarities();
        Ok(FileSurvey { path: path.to_path_buf(), format, has_header, peculiarities, starts, rows, columns })
    }

    fn read_array(source: &DataSource, format: FileFormat) -> Result<Self> {
        let table = source.read_all()?;
        let mut columns: Vec<ColumnStatistics> =
            table.names.iter().map(|name| ColumnStatistics::new(name, None)).collect();
        let (mut starts, mut rows) = (Vec::new(), 0);
        for sequence in &table.sequences {
            starts.push(rows);
            for (step, row) in sequence.iter().enumerate() {
                columns.iter_mut().zip(row).for_each(|(column, value)| column.add_number(*value, step == 0));
            }
            rows += sequence.len();
        }
        ensure!(rows > 0, "{}: no rows", source.file.display());
        let path = source.file.clone();
        Ok(FileSurvey { path, format, has_header: false, peculiarities: None, starts, rows, columns })
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnStatistics> {
        self.columns.iter().find(|column| column.name == name)
    }
}

fn trimmed(unit: &str) -> &str {
    unit.trim_matches(['[', ']', '(', ')', ' '])
}

/// Whether the first line names the columns: it does unless every cell has a number, a time stamp or
/// nothing.
fn has_header(path: &Path) -> Result<bool> {
    let name = path.display().to_string();
    // The first line is short; the rest of the file need not be read for it.
    let mut reader =
        RowReader::new(BufReader::new(open_rows(path, FileFormat::Csv)?.take(1 << 20)), &name, false)?;
    let columns = reader.all_names().len();
    reader.select(&[])?;
    reader.next_row(&mut [])?;
    let is_value = |index: usize| {
        let cell = reader.text(index);
        CellValue::of(cell) != CellValue::Text || parse_timestamp(cell).is_some()
    };
    Ok(!(0..columns).all(is_value))
}

/// Files of one kind.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The files, in the order given.
    pub files: Vec<FileSurvey>,
    /// Their columns, each over all files.
    pub columns: Vec<ColumnStatistics>,
}

impl Survey {
    /// Reads all files.
    ///
    /// # Errors
    /// When a file cannot be read, or its columns or its format are not those of the first.
    pub fn read(paths: &[PathBuf]) -> Result<Self> {
        ensure!(!paths.is_empty(), "name at least one file");
        let watched = WatchedReading::begin(paths.iter().map(PathBuf::as_path));
        let files: Vec<FileSurvey> =
            paths.iter().map(|path| FileSurvey::read(path)).collect::<Result<_>>()?;
        drop(watched);
        let first = &files[0];
        let mut columns = first.columns.clone();
        for file in &files[1..] {
            let (shown, of_first) = (file.path.display(), first.path.display());
            ensure!(
                file.format == first.format && file.has_header == first.has_header,
                "{shown} is of another form than {of_first}: one has a header or another format; make them alike"
            );
            for column in &mut columns {
                let Some(same) = file.column(&column.name) else {
                    anyhow::bail!(
                        "{shown}: no column `{}`, which {of_first} has; make them alike",
                        column.name
                    )
                };
                column.merge(same);
            }
            if let Some(extra) = file.columns.iter().find(|column| first.column(&column.name).is_none()) {
                anyhow::bail!(
                    "{shown}: the column `{}` is not in {of_first}; name the columns to read with --inputs and \
                     remove it, or make the files alike",
                    extra.name
                );
            }
        }
        Ok(Survey { files, columns })
    }

    /// The column of this name.
    pub fn column(&self, name: &str) -> Option<&ColumnStatistics> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// Rows of all files.
    pub fn rows(&self) -> usize {
        self.files.iter().map(|file| file.rows).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn survey(text: &str) -> FileSurvey {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        FileSurvey::read(&path).unwrap()
    }

    #[test]
    fn headers_are_recognised() {
        assert!(survey("a,b\n1,2\n").has_header);
        assert!(survey("t,b\n2026-11-17T10:00:00Z,2\n").has_header);
        let without = survey("2026-11-17T10:00:00Z;2,5\n2026-11-17T10:00:01Z;3,5\n");
        assert!(!without.has_header);
        assert_eq!(without.columns[1].name, "c1");
        assert_eq!(without.columns[1].range, Some([2.5, 3.5]));
        assert_eq!(without.rows, 2);
    }

    #[test]
    fn units_come_from_the_header_or_the_line_below() {
        let file = survey("a [mV],b\n1,2\n");
        assert_eq!(file.columns[0].unit.as_deref(), Some("mV"));
        let file = survey("t,a,b\ns,mV,[N]\n1,2,3\n");
        let units: Vec<_> = file.columns.iter().map(|column| column.unit.clone().unwrap()).collect();
        assert_eq!(units, ["s", "mV", "N"]);
        assert_eq!(file.rows, 1);
    }

    #[test]
    fn sequences_start_at_blank_lines_and_changes() {
        assert_eq!(survey("a\n1\n2\n\n3\n").starts, [0, 2]);
        assert_eq!(survey("sequence,a\nx,1\nx,2\ny,3\n").starts, [0, 2]);
    }
}
