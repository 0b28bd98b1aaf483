//! Comma-separated values: one row per sample, named columns.
//!
//! The first line names the columns; a file read without a header has columns c0, c1, …. Cells are separated
//! by commas, or by semicolons or tabs if the first line has any. The decimal mark is the point, or the comma
//! if the first number with a mark has one. Text is UTF-8; a line that is not is taken for Latin-1. A line of
//! units below the names is skipped. An empty cell, `NaN`, `NA`, `N/A`, `null` or `None`, in any case, is a
//! missing value. A blank line starts a new sequence, and so does a change in the
//! column named `sequence`, which is not data. Columns that are not selected may contain any text. A row of
//! commas alone is a sample with all values missing, not a blank line; in a file with a single column a
//! missing value must be written `NaN`.

mod cell;
mod decimal;
mod header;
mod record;
mod row_reader;
mod separator;
pub mod spreadsheet;
mod units;

use std::io::BufRead;

use anyhow::{Context, Result, bail};

use super::row_classes::LabelCodes;
use super::rows::Rows;
use super::table::Table;

pub use cell::CellValue;
pub use row_reader::{RowReader, RowStart, ToleratedFaults};

/// Rows after which the number of all rows is guessed: a vector that grows by doubling is copied and leaves
/// its former self behind.
const SAMPLE_ROWS: usize = 1000;

/// Most rows that memory is taken for at once, whatever a file looks like at its beginning.
const MOST_RESERVED: usize = 1 << 28;

/// Reads all remaining rows of the selected columns.
pub fn read<R: BufRead>(reader: &mut RowReader<R>) -> Result<Table> {
    let names = reader.selected();
    read_rows(reader, names, |_, _| Ok(()))
}

/// Reads all remaining rows of the selected columns, and one more with labels, whose codes come last.
pub(super) fn read_with_labels<R: BufRead>(
    reader: &mut RowReader<R>,
    label: &str,
    codes: &mut LabelCodes,
) -> Result<Table> {
    let column = reader.column(label)?;
    let mut names = reader.selected();
    names.push(label.to_string());
    read_rows(reader, names, |reader, row| {
        let code = codes.code(reader.text(column)).with_context(|| reader.file().to_string())?;
        if let Some(last) = row.last_mut() {
            *last = code;
        }
        Ok(())
    })
}

/// Reads rows with a value for each of `names`, of which the selected columns are the first; `complete` adds
/// the others.
fn read_rows<R: BufRead>(
    reader: &mut RowReader<R>,
    names: Vec<String>,
    mut complete: impl FnMut(&RowReader<R>, &mut [f32]) -> Result<()>,
) -> Result<Table> {
    let mut sequences: Vec<Rows> = Vec::new();
    let mut row = vec![0.0; names.len()];
    let selected = reader.selected().len();
    let mut rows = 0;
    while let Some(start) = reader.next_row(&mut row[..selected])? {
        complete(reader, &mut row)?;
        rows += 1;
        if rows == SAMPLE_ROWS
            && let [only] = &mut sequences[..]
        {
            // Without as much memory, the vector grows as far as there is.
            let _ = only.values.try_reserve_exact(reader.rows_left(rows).min(MOST_RESERVED) * row.len());
        }
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
