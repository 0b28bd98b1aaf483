//! Parquet files, read as the CSV files that they could be.
//!
//! What a cell means (a time stamp, a label, a missing value) is decided in one place, for text. Columns are
//! decoded side by side, some rows at a time.

mod cells;
mod column;
mod guarded;

use std::io::{self, BufReader, Read};

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use parquet::basic::Compression;
use parquet::file::reader::{FileReader, SerializedFileReader};

use cells::quote;
use column::{Column, Kind};
use guarded::guarded;

/// Rows that are decoded at a time.
const ROWS: usize = 1024;

/// A Parquet file as text: a header, then a row per line, cells separated by commas.
pub struct ParquetText {
    file: SerializedFileReader<Bytes>,
    kinds: Vec<Kind>,
    /// The next group of rows to be opened.
    group: usize,
    columns: Vec<Column>,
    /// Text that nobody has read yet, from `start` on.
    text: String,
    start: usize,
}

impl ParquetText {
    /// Opens the contents of a file; every column must hold numbers, times or text.
    ///
    /// # Errors
    /// When it is damaged, or has columns that rows of a recording cannot have.
    pub fn open(bytes: Vec<u8>) -> Result<BufReader<Self>> {
        guarded(|| Self::new(bytes)).map(BufReader::new)
    }

    fn new(bytes: Vec<u8>) -> Result<Self> {
        let file = SerializedFileReader::new(Bytes::from(bytes)).context(
            "this is no whole Parquet file; write it again, for instance with df.to_parquet(\"rows.parquet\")",
        )?;
        let schema = file.metadata().file_metadata().schema_descr();
        ensure!(schema.num_columns() > 0, "there are no columns");
        let kinds = schema.columns().iter().map(|column| Kind::of(column)).collect::<Result<_>>()?;
        check_compression(&file)?;
        let names: Vec<String> = schema.columns().iter().map(|column| quote(column.name())).collect();
        let text = names.join(",") + "\n";
        Ok(ParquetText { file, kinds, group: 0, columns: Vec::new(), text, start: 0 })
    }

    /// Decodes the next rows; false if there are none.
    fn advance(&mut self) -> Result<bool> {
        (self.text, self.start) = (String::new(), 0);
        loop {
            let mut rows = None;
            for column in &mut self.columns {
                let read = column.read(ROWS)?;
                ensure!(*rows.get_or_insert(read) == read, "columns differ in length; write the file again");
            }
            if let Some(rows @ 1..) = rows {
                (0..rows).for_each(|row| self.write(row));
                return Ok(true);
            }
            if !self.open_group()? {
                return Ok(false);
            }
        }
    }

    /// Opens the columns of the next group of rows; false if there is none.
    fn open_group(&mut self) -> Result<bool> {
        if self.group == self.file.num_row_groups() {
            return Ok(false);
        }
        let group = self.file.get_row_group(self.group)?;
        let column = |(index, kind): (usize, &Kind)| Ok(Column::new(group.get_column_reader(index)?, *kind));
        self.columns = self.kinds.iter().enumerate().map(column).collect::<Result<_>>()?;
        self.group += 1;
        Ok(true)
    }

    fn write(&mut self, row: usize) {
        for (index, column) in self.columns.iter().enumerate() {
            self.text.push_str(if index == 0 { "" } else { "," });
            self.text.push_str(column.cell(row));
        }
        self.text.push('\n');
    }
}

impl Read for ParquetText {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.start == self.text.len() {
            let is_more =
                guarded(|| self.advance()).map_err(|problem| io::Error::other(format!("{problem:#}")))?;
            if !is_more {
                return Ok(0);
            }
        }
        let length = buffer.len().min(self.text.len() - self.start);
        buffer[..length].copy_from_slice(&self.text.as_bytes()[self.start..self.start + length]);
        self.start += length;
        Ok(length)
    }
}

/// Refuses what cannot be decompressed before anything is read.
fn check_compression(file: &SerializedFileReader<Bytes>) -> Result<()> {
    for column in file.metadata().row_groups().iter().flat_map(|group| group.columns()) {
        let method = column.compression();
        let name = format!("{method:?}").split('(').next().unwrap_or_default().to_lowercase();
        ensure!(
            matches!(
                method,
                Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::LZ4 | Compression::LZ4_RAW
            ),
            "the file is compressed by {name}, which is not built in; write it with compression=\"snappy\""
        );
    }
    Ok(())
}

#[cfg(test)]
pub(super) mod tests;
