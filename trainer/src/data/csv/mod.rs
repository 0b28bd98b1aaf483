//! Comma-separated values: UTF-8, one row per sample, named columns.
//!
//! The first line names the columns, unless the file is read without a header; columns are then called c0,
//! c1, …. An empty cell, `NaN`, `nan` or `NA` is a missing value. A blank line starts a new sequence, and so
//! does a change in the column named `sequence`, if there is one; that column is not data. Columns nobody
//! asks for may hold any text. (A row of commas alone is a sample in which everything is missing, not a blank
//! line. In a file with a single column a missing value has to be written `NaN`.)

mod cell;
mod header;
mod record;
mod row_reader;

use std::io::BufRead;

use anyhow::{Result, bail};

use super::rows::Rows;
use super::table::Table;

pub use row_reader::{RowReader, RowStart};

/// Reads all rows that are left, in the columns selected.
pub fn read<R: BufRead>(mut reader: RowReader<R>) -> Result<Table> {
    let names = reader.selected();
    let mut sequences: Vec<Rows> = Vec::new();
    let mut row = vec![0.0; names.len()];
    while let Some(start) = reader.next_row(&mut row)? {
        match sequences.last_mut() {
            Some(sequence) if start == RowStart::Continues => sequence.values.extend_from_slice(&row),
            _ => sequences.push(Rows { channels: row.len(), values: row.clone() }),
        }
    }
    if sequences.is_empty() {
        bail!("{}: no rows below the header; write one row per sample", reader.file());
    }
    Ok(Table { names, sequences })
}

#[cfg(test)]
mod tests;
