//! A cell as a number.

use std::str::FromStr;

use super::decimal::{plain_f32, plain_f64};
use crate::config::DecimalMark;

/// Spellings of a missing value, in lower case. An empty cell is one as well.
const MISSING: &[&str] = &["na", "n/a", "#n/a", "#na", "nan", "+nan", "-nan", "null", "none"];

/// Reads the cells of a file. The decimal mark is that of its first number with one, or as given.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct NumberReader {
    pub(super) mark: Option<DecimalMark>,
}

impl NumberReader {
    /// The number in a cell, with `NaN` for a missing one.
    ///
    /// The error describes the problem without its place.
    pub(super) fn number(&mut self, cell: &str) -> Result<f32, String> {
        let (value, mark) = match plain_f32(cell) {
            Some((value, has_point)) => (value, has_point.then_some(DecimalMark::Point)),
            None if is_missing(cell) => return Ok(f32::NAN),
            None => general(cell)?,
        };
        if value.is_infinite() {
            return Err(format!("found `{}`, which is too large for a 32-bit float", shortened(cell)));
        }
        if mark.is_some() && mark != self.mark {
            mark.map_or(Ok(()), |mark| self.decide(mark, cell))?;
        }
        Ok(value)
    }

    /// Settles on a mark, or finds a contradiction.
    fn decide(&mut self, mark: DecimalMark, cell: &str) -> Result<(), String> {
        match self.mark {
            None if mark == DecimalMark::Comma && may_be_thousands(cell) => Err(format!(
                "found `{cell}`, which may be a decimal comma or a separator of thousands; write \
                 `data.decimal = \"comma\"` (on the command line: --decimal-comma) for the first, and remove the second"
            )),
            Some(other) if other != mark => Err(format!(
                "found `{}`, but the decimal mark of this file is the {other}; use one of them",
                shortened(cell)
            )),
            _ => {
                self.mark = Some(mark);
                Ok(())
            }
        }
    }
}

/// A number in any form that is understood, and its decimal mark if it has one.
#[cold]
fn general(cell: &str) -> Result<(f32, Option<DecimalMark>), String> {
    match (cell.parse::<f32>(), with_point(cell)) {
        (Ok(value), _) => Ok((value, cell.contains('.').then_some(DecimalMark::Point))),
        (Err(_), Some(value)) => Ok((value, Some(DecimalMark::Comma))),
        (Err(_), None) => Err(format!(
            "found `{}`, expected a number; leave the cell empty if the value is missing",
            shortened(cell)
        )),
    }
}

/// What a cell of unknown meaning holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellValue {
    /// Nothing, or a spelling of a missing value.
    Missing,
    /// A number, whatever its decimal mark, in full precision: seconds since 1970 do not fit into f32.
    Number(f64),
    /// Anything else.
    Text,
}

impl CellValue {
    /// What a cell holds.
    pub fn of(cell: &str) -> Self {
        if let Some(number) = plain_f64(cell) {
            return CellValue::Number(number);
        }
        if is_missing(cell) {
            return CellValue::Missing;
        }
        let number = cell.parse::<f64>().ok().or_else(|| with_point(cell));
        number.filter(|number| number.is_finite()).map_or(CellValue::Text, CellValue::Number)
    }
}

/// Whether a cell has a number or is a missing value, whatever the decimal mark.
pub(super) fn is_number_or_missing(cell: &str) -> bool {
    is_missing(cell) || is_number(cell)
}

/// Whether a cell has a number, whatever the decimal mark.
pub(super) fn is_number(cell: &str) -> bool {
    !is_missing(cell) && (cell.parse::<f32>().is_ok() || with_point::<f32>(cell).is_some())
}

fn is_missing(cell: &str) -> bool {
    // The longest spelling has four letters, so that numbers are not compared with all of them.
    cell.is_empty() || (cell.len() <= 4 && MISSING.iter().any(|missing| cell.eq_ignore_ascii_case(missing)))
}

/// The number of a cell with one comma, read as its decimal mark.
fn with_point<T: FromStr>(cell: &str) -> Option<T> {
    let (whole, fraction) = cell.split_once(',')?;
    let is_plain = |text: &str| !text.contains(['.', ',']);
    (is_plain(whole) && is_plain(fraction)).then(|| format!("{whole}.{fraction}").parse().ok())?
}

/// Whether a comma may separate thousands: one to three digits before it, of which the first is not 0, and
/// three after it.
fn may_be_thousands(cell: &str) -> bool {
    let Some((whole, fraction)) = cell.trim_start_matches(['+', '-']).split_once(',') else { return false };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (1..=3).contains(&whole.len())
        && !whole.starts_with('0')
        && fraction.len() == 3
        && digits(whole)
        && digits(fraction)
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

    fn number(cell: &str) -> Result<f32, String> {
        NumberReader::default().number(cell)
    }

    #[test]
    fn numbers_are_read() {
        assert_eq!(number("-1.5e2"), Ok(-150.0));
        assert_eq!(number("7"), Ok(7.0));
        assert_eq!(number("-1,5e2"), Ok(-150.0));
        assert_eq!(number("0,125"), Ok(0.125));
    }

    #[test]
    fn missing_values_are_nan() {
        for cell in ["", "NaN", "nan", "NA", "-nan", "null", "NULL", "None", "n/a", "#N/A"] {
            assert!(number(cell).unwrap().is_nan(), "{cell:?}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(
            number("12 N").unwrap_err(),
            "found `12 N`, expected a number; leave the cell empty if the value is missing"
        );
        for cell in ["1,2,3", "1.234,5", "1,234.5", ",", "-", "nanny"] {
            assert!(number(cell).unwrap_err().contains("expected a number"), "{cell}");
        }
        for cell in ["1e99", "1,5e99", "inf"] {
            assert!(number(cell).unwrap_err().contains("too large"), "{cell}");
        }
        assert!(number(&"é".repeat(99)).unwrap_err().contains(&format!("`{}…`", "é".repeat(40))));
    }

    #[test]
    fn a_file_has_one_decimal_mark() {
        let mut reader = NumberReader::default();
        assert_eq!(reader.number("7"), Ok(7.0));
        assert_eq!(reader.mark, None);
        assert_eq!(reader.number("0,5"), Ok(0.5));
        assert_eq!(reader.number("1,234"), Ok(1.234), "decided by the number before");
        assert!(reader.number("1.5").unwrap_err().contains("the decimal mark of this file is the comma"));
        let mut reader = NumberReader { mark: Some(DecimalMark::Point) };
        assert!(reader.number("0,5").unwrap_err().contains("the decimal mark of this file is the point"));
    }

    #[test]
    fn a_comma_that_may_separate_thousands_is_refused() {
        for cell in ["1,234", "-12,345", "999,000"] {
            assert!(number(cell).unwrap_err().contains("separator of thousands"), "{cell}");
        }
        assert_eq!(NumberReader { mark: Some(DecimalMark::Comma) }.number("1,234"), Ok(1.234));
    }
}
