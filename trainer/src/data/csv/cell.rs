//! A cell as a number.

/// The number in a cell, with `NaN` for a missing one (empty, `NA`, or a spelling of not-a-number).
///
/// The error describes the problem without its place.
pub(super) fn number(cell: &str) -> Result<f32, String> {
    if cell.is_empty() || cell == "NA" {
        return Ok(f32::NAN);
    }
    match cell.parse::<f32>() {
        Ok(value) if !value.is_infinite() => Ok(value),
        Ok(_) => Err(format!("found `{}`, which is too large for a 32-bit float", shortened(cell))),
        Err(_) => Err(format!(
            "found `{}`, expected a number; leave the cell empty if the value is missing",
            shortened(cell)
        )),
    }
}

/// A cell for an error message, truncated if it is long.
fn shortened(cell: &str) -> String {
    const SHOWN: usize = 40;
    match cell.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &cell[..end]),
        None => cell.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read() {
        assert_eq!(number("-1.5e2"), Ok(-150.0));
        assert_eq!(number("7"), Ok(7.0));
    }

    #[test]
    fn missing_values_are_nan() {
        for cell in ["", "NaN", "nan", "NA", "-nan"] {
            assert!(number(cell).unwrap().is_nan(), "{cell:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(
            number("12,5").unwrap_err(),
            "found `12,5`, expected a number; leave the cell empty if the value is missing"
        );
        assert!(number("1e99").unwrap_err().contains("too large"));
        assert!(number("inf").unwrap_err().contains("too large"));
        assert!(number(&"é".repeat(99)).unwrap_err().contains(&format!("`{}…`", "é".repeat(40))));
    }
}
