//! Plain tables on standard output.

/// Prints rows with every column as wide as its widest cell; the first column to the left, others to the
/// right.
pub(crate) fn print(rows: &[Vec<String>]) {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let cell = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| cell.chars().count());
    let widths: Vec<usize> =
        (0..columns).map(|column| rows.iter().map(|row| cell(row, column)).max().unwrap_or(0)).collect();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        println!("{}", cells.collect::<Vec<_>>().join("  ").trim_end());
    }
}
