//! Plain-text tables.

/// Columns separated by two spaces: the first aligned to the left, the others to the right.
pub(super) fn render(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| {
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        text += cells.collect::<Vec<_>>().join("  ").trim_end();
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn columns_line_up() {
        let cells = |row: &[&str]| row.iter().map(ToString::to_string).collect();
        let text = super::render(&[cells(&["σ", "nll"]), cells(&["force", "1.25"])]);
        assert_eq!(text, "σ       nll\nforce  1.25\n");
    }
}
