//! NumPy's `.npy` files, format 1.0 and 2.0: little-endian, C order, one or two dimensions.
//!
//! A one-dimensional array is one column; the columns of a two-dimensional array are called c0, c1, …. `NaN`
//! is a missing value. Several sequences in one file are concatenated, and a second file holds their lengths.

mod element;
mod header;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::rows::Rows;
use super::table::{Table, numbered};
use element::Element;
use header::Header;

/// The first bytes of every `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Reads the contents of a file of values, split into sequences by those of a lengths file, if there is one;
/// each with the name of the file in errors.
pub fn read((values, file): (&[u8], &str), lengths: Option<(&[u8], &str)>) -> Result<Table> {
    let values = parse_values(values, file)?;
    let names = numbered(values.channels);
    let Some((lengths, lengths_file)) = lengths else {
        return Ok(Table { names, sequences: vec![values] });
    };
    let sizes = parse_lengths(lengths, lengths_file)?;
    let sequences = cut(&values, &sizes).with_context(|| format!("{lengths_file} does not fit {file}"))?;
    Ok(Table { names, sequences })
}

/// Reads a file from the disk, with its lengths file by naming convention, if there is one.
pub fn read_path(path: &Path) -> Result<Table> {
    let contents =
        |path: &Path| std::fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    let (values, file) = (contents(path)?, path.display().to_string());
    let Some(lengths) = companion(path) else { return read((&values, &file), None) };
    read((&values, &file), Some((&contents(&lengths)?, &lengths.display().to_string())))
}

/// The lengths file of a values file by naming convention: `X.lengths.npy` next to `X.values.npy`, if it
/// exists.
pub fn companion(path: &Path) -> Option<PathBuf> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".values.npy")?;
    let lengths = path.with_file_name(format!("{stem}.lengths.npy"));
    lengths.is_file().then_some(lengths)
}

/// The values of an array, as rows. `file` names it in errors.
pub fn parse_values(bytes: &[u8], file: &str) -> Result<Rows> {
    let (header, data) = parse(bytes).with_context(|| file.to_string())?;
    let (rows, channels) = match header.shape[..] {
        [rows] => (rows, 1),
        [rows, channels] => (rows, channels),
        _ => bail!("{file}: {} dimensions; reshape the array to (rows, channels)", header.shape.len()),
    };
    ensure!(rows > 0 && channels > 0, "{file}: the array is empty: its shape is ({rows}, {channels})");
    let values: Vec<f32> =
        data.chunks_exact(header.element.size()).map(|b| header.element.to_f32(b)).collect();
    if let Some(at) = values.iter().position(|value| value.is_infinite()) {
        let (row, column) = (at / channels, at % channels);
        bail!(
            "{file}: row {row}, column c{column}: the value is infinite in 32 bits; \
             store NaN if it is missing"
        );
    }
    Ok(Rows { channels, values })
}

/// The lengths of sequences: a one-dimensional array of integers.
pub fn parse_lengths(bytes: &[u8], file: &str) -> Result<Vec<usize>> {
    let (header, data) = parse(bytes).with_context(|| file.to_string())?;
    ensure!(
        header.shape.len() == 1,
        "{file}: lengths must be a one-dimensional array, one number per sequence"
    );
    let length = |(index, bytes): (usize, &[u8])| match header.element.to_i64(bytes) {
        Some(length @ 1..) => Ok(length as usize),
        Some(length) => {
            bail!("{file}: sequence {index} has length {length}; every sequence needs at least one row")
        }
        None => bail!("{file}: lengths must be integers; store them as int32"),
    };
    data.chunks_exact(header.element.size()).enumerate().map(length).collect()
}

/// Splits rows into consecutive sequences of the given lengths.
fn cut(values: &Rows, lengths: &[usize]) -> Result<Vec<Rows>> {
    let total = lengths.iter().fold(0usize, |sum, &length| sum.saturating_add(length));
    ensure!(
        total == values.len(),
        "the {} lengths add up to {total}, but there are {} rows of values",
        lengths.len(),
        values.len()
    );
    let mut start = 0;
    let sequence = |&length: &usize| {
        start += length;
        values.slice(start - length..start)
    };
    Ok(lengths.iter().map(sequence).collect())
}

/// Splits a file into its header and exactly the bytes that the header announces.
fn parse(bytes: &[u8]) -> Result<(Header, &[u8])> {
    let (header, data) = header::parse(bytes)?;
    let expected = header.shape.iter().try_fold(header.element.size(), |product, &n| product.checked_mul(n));
    let Some(expected) = expected else { bail!("the shape {:?} is too large", header.shape) };
    let found = data.len();
    ensure!(
        found >= expected,
        "the file is cut short: shape {:?} takes {expected} bytes, but only {found} follow the header",
        header.shape
    );
    ensure!(
        found == expected,
        "{} bytes too many: shape {:?} takes {expected} bytes; save one array per file",
        found - expected,
        header.shape
    );
    Ok((header, data))
}

#[cfg(test)]
pub(super) mod tests;
