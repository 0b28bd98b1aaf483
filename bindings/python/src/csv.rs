//! Rows as text that the trainer reads.

use std::fmt::Write;

use pyo3::prelude::*;

use crate::floats::from_bytes;

/// Sequences as lines of CSV below a header: the shortest digits that give the same f32, `NaN` for a missing
/// value, a blank line between sequences.
#[pyfunction]
pub(crate) fn csv(py: Python<'_>, header: &str, rows: &[u8], columns: usize, lengths: Vec<usize>) -> String {
    py.detach(|| text(header, &from_bytes(rows), columns, &lengths))
}

fn text(header: &str, values: &[f32], columns: usize, lengths: &[usize]) -> String {
    let mut text = header.to_string();
    let mut rows = values.chunks_exact(columns.max(1));
    for (index, length) in lengths.iter().enumerate() {
        text.push_str(if index == 0 { "" } else { "\n" });
        for row in rows.by_ref().take(*length) {
            for (column, value) in row.iter().enumerate() {
                let comma = if column == 0 { "" } else { "," };
                write!(text, "{comma}{value}").expect("a string takes every number");
            }
            text.push('\n');
        }
    }
    text
}
