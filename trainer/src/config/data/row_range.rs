//! A range of rows or sequences, written `a..b`.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A half-open range `a..b`, in rows counted from 0 or in per cent of the whole.
///
/// Either end may be left out (`100..`, `..80%`), and a single number `2` means `2..3`. Percentages are
/// rounded down to whole rows, so that `..80%` and `80%..` share a boundary.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RowRange {
    from: RangeEnd,
    to: RangeEnd,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum RangeEnd {
    /// Left out.
    Open,
    Index(usize),
    Percent(f64),
}

impl RowRange {
    /// The range within a sequence of length `len`. The error explains why it is empty or out of bounds.
    pub fn within(&self, len: usize) -> Result<Range<usize>, String> {
        let from = self.from.place(len).unwrap_or(0);
        let to = self.to.place(len).unwrap_or(len);
        if to > len || from > len {
            return Err(format!("`{self}` reaches beyond the {len} there are"));
        }
        if from >= to {
            return Err(format!("`{self}` leaves nothing of the {len} there are"));
        }
        Ok(from..to)
    }
}

impl RangeEnd {
    fn place(self, len: usize) -> Option<usize> {
        match self {
            RangeEnd::Open => None,
            RangeEnd::Index(index) => Some(index),
            RangeEnd::Percent(percent) => Some((len as f64 * percent / 100.0) as usize),
        }
    }
}

impl FromStr for RowRange {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let malformed = || {
            format!("found `{text}`, expected a range such as `0..2502`, `100..`, `..80%` or a single number")
        };
        match text.split_once("..") {
            Some((from, to)) => Ok(RowRange {
                from: parse_bound(from).ok_or_else(malformed)?,
                to: parse_bound(to).ok_or_else(malformed)?,
            }),
            None => {
                let index: usize = text.trim().parse().map_err(|_| malformed())?;
                let next = index.checked_add(1).ok_or_else(malformed)?;
                Ok(RowRange { from: RangeEnd::Index(index), to: RangeEnd::Index(next) })
            }
        }
    }
}

fn parse_bound(text: &str) -> Option<RangeEnd> {
    let text = text.trim();
    if text.is_empty() {
        return Some(RangeEnd::Open);
    }
    match text.strip_suffix('%') {
        Some(percent) => {
            let percent = percent.trim().parse().ok()?;
            (0.0..=100.0).contains(&percent).then_some(RangeEnd::Percent(percent))
        }
        None => text.parse().ok().map(RangeEnd::Index),
    }
}

impl fmt::Display for RangeEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RangeEnd::Open => Ok(()),
            RangeEnd::Index(index) => write!(f, "{index}"),
            RangeEnd::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

impl fmt::Display for RowRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}..{}", self.from, self.to)
    }
}

impl TryFrom<String> for RowRange {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<RowRange> for String {
    fn from(range: RowRange) -> String {
        range.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(cut: &str, len: usize) -> Result<Range<usize>, String> {
        cut.parse::<RowRange>()?.within(len)
    }

    #[test]
    fn stretches() {
        assert_eq!(within("2..5", 10), Ok(2..5));
        assert_eq!(within("..", 10), Ok(0..10));
        assert_eq!(within("3..", 10), Ok(3..10));
        assert_eq!(within(" 0 .. 80% ", 3128), Ok(0..2502));
        assert_eq!(within("80%..", 3128), Ok(2502..3128));
        assert_eq!(within("2", 3), Ok(2..3));
    }

    #[test]
    fn what_is_not_there_is_refused() {
        assert_eq!(within("0..11", 10).unwrap_err(), "`0..11` reaches beyond the 10 there are");
        assert_eq!(within("3", 3).unwrap_err(), "`3..4` reaches beyond the 3 there are");
        assert_eq!(within("5..5", 10).unwrap_err(), "`5..5` leaves nothing of the 10 there are");
        assert_eq!(within("0%..5%", 10).unwrap_err(), "`0%..5%` leaves nothing of the 10 there are");
        for bad in ["", "a..b", "-1..2", "1..101%", "1...3", "NaN%..", "18446744073709551615"] {
            assert!(within(bad, 10).unwrap_err().starts_with(&format!("found `{bad}`, expected a range")));
        }
    }

    #[test]
    fn text_and_back() {
        for text in ["2..5", "..", "12.5%..", "..80%"] {
            assert_eq!(String::from(text.parse::<RowRange>().unwrap()), text);
        }
    }
}
