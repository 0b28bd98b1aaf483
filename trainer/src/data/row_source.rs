//! Files of rows as text: CSV as it is, Parquet as CSV.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use anyhow::{Context, Result};

use super::lines::cannot_read;
use super::read_file::{ChecksumReader, ReadFiles};
use super::watch::WatchedSource;
use crate::config::{DecimalMark, FileFormat};

#[cfg(feature = "parquet")]
use super::parquet::ParquetText;

impl FileFormat {
    /// Whether rows of this format are read as text.
    pub(crate) fn has_text_rows(self) -> bool {
        matches!(self, FileFormat::Csv | FileFormat::Parquet)
    }

    /// Whether the first line of the text names the columns; only CSV files may lack it.
    pub(crate) fn has_header(self, of_csv: bool) -> bool {
        self == FileFormat::Parquet || of_csv
    }

    /// The decimal mark; only that of CSV files is anybody's choice.
    pub(crate) fn decimal_mark(self, of_csv: Option<DecimalMark>) -> Option<DecimalMark> {
        if self == FileFormat::Parquet { Some(DecimalMark::Point) } else { of_csv }
    }
}

/// Opens the text of a file of rows.
///
/// # Errors
/// When it cannot be read; the message names it.
pub(crate) fn open_rows(path: &Path, format: FileFormat) -> Result<Box<dyn BufRead>> {
    let file = WatchedSource(File::open(path).map_err(|error| cannot_read(path, &error))?);
    if format == FileFormat::Parquet {
        let mut bytes = Vec::new();
        BufReader::new(file).read_to_end(&mut bytes).map_err(|error| cannot_read(path, &error))?;
        return Ok(Box::new(parquet_text(bytes, path)?));
    }
    Ok(Box::new(BufReader::with_capacity(1 << 16, file)))
}

/// The text of a file of rows, and its checksum.
pub(super) enum CheckedRows {
    Csv(BufReader<ChecksumReader>),
    Parquet(Box<dyn BufRead>, ReadFiles),
}

impl CheckedRows {
    /// Opens a file; the error names it.
    pub(super) fn open(path: &Path, format: FileFormat) -> Result<Self> {
        if format == FileFormat::Parquet {
            let mut files = ReadFiles::default();
            let bytes = ChecksumReader::read_whole(path, &mut files)?;
            return Ok(CheckedRows::Parquet(Box::new(parquet_text(bytes, path)?), files));
        }
        ChecksumReader::open(path).map(CheckedRows::Csv)
    }

    /// Bytes of the text, if the file is nothing else.
    pub(super) fn text_bytes(&self, path: &Path) -> Option<u64> {
        match self {
            CheckedRows::Csv(_) => fs::metadata(path).ok().map(|found| found.len()),
            CheckedRows::Parquet(..) => None,
        }
    }

    /// Adds the file to those read.
    pub(super) fn finish(self, read: &mut ReadFiles) -> Result<()> {
        match self {
            CheckedRows::Csv(source) => source.into_inner().finish(read),
            CheckedRows::Parquet(_, files) => {
                read.add_all(files);
                Ok(())
            }
        }
    }

    fn text(&mut self) -> &mut dyn BufRead {
        match self {
            CheckedRows::Csv(source) => source,
            CheckedRows::Parquet(source, _) => source,
        }
    }
}

impl Read for CheckedRows {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.text().read(buffer)
    }
}

impl BufRead for CheckedRows {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text().fill_buf()
    }

    fn consume(&mut self, amount: usize) {
        self.text().consume(amount);
    }
}

#[cfg(feature = "parquet")]
fn parquet_text(bytes: Vec<u8>, path: &Path) -> Result<BufReader<ParquetText>> {
    ParquetText::open(bytes).with_context(|| path.display().to_string())
}

#[cfg(not(feature = "parquet"))]
fn parquet_text(_: Vec<u8>, path: &Path) -> Result<io::Empty> {
    Err(anyhow::anyhow!(
        "this program was built without Parquet; build it with the feature `parquet`, or use CSV"
    ))
    .with_context(|| path.display().to_string())
}
