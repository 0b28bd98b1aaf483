//! A line of units below the names, as data loggers write it.

use super::cell;
use super::record::Record;

/// Units that sensors have, without their prefixes.
const UNITS: &[&str] = &[
    "s", "sec", "min", "h", "hz", "v", "volt", "a", "n", "nm", "n·m", "n m", "m", "m/s", "m/s2", "m/s^2",
    "m/s²", "g", "deg", "°", "°c", "degc", "c", "k", "rad", "rad/s", "deg/s", "°/s", "dps", "t", "gauss",
    "pa", "bar", "%", "-", "1", "count", "counts", "rpm", "w", "ohm", "db", "a.u.", "au", "arb", "kg",
    "text",
];

/// Prefixes of units.
const PREFIXES: &[char] = &['k', 'M', 'm', 'c', 'u', 'µ', 'μ', 'n'];

/// Whether the line below the header contains units: no cell has a number, most have text, and some text is a
/// unit or stands in brackets.
pub(super) fn are_units(record: &Record) -> bool {
    let texts: Vec<&str> = record.cells().filter(|cell| !cell.is_empty()).collect();
    let is_value = |text: &&str| cell::is_number_or_missing(text);
    2 * texts.len() > record.len() && !texts.iter().any(is_value) && texts.iter().any(|text| is_unit(text))
}

fn is_unit(text: &str) -> bool {
    let bracketed = [('[', ']'), ('(', ')')];
    if bracketed.iter().any(|(open, close)| text.starts_with(*open) && text.ends_with(*close)) {
        return true;
    }
    let is_known = |text: &str| UNITS.contains(&text.to_lowercase().as_str());
    is_known(text) || text.strip_prefix(PREFIXES).is_some_and(is_known)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::csv::separator::Separator;

    fn found(line: &str) -> bool {
        let mut record = Record::default();
        record.parse(line, Separator::Comma).unwrap();
        are_units(&record)
    }

    #[test]
    fn units_are_recognised() {
        for line in ["s,mV,mV,N", "[s],[V],[V]", "(ms),m/s²", "s,,µV", "ms"] {
            assert!(found(line), "{line}");
        }
    }

    #[test]
    fn rows_are_not_units() {
        // Numbers, missing values, and text that is no unit stay rows.
        for line in ["1,mV", "NaN,V", ",,s", "rest,bob,left", "", ",,"] {
            assert!(!found(line), "{line}");
        }
    }
}
