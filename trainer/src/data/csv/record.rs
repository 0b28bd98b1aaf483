//! One line of CSV, split into cells.

use std::fmt;
use std::ops::Range;

use memchr::{memchr, memchr_iter};

use super::separator::Separator;

/// The cells of one line. Its buffers are reused from line to line.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// The line, or, where it has quotes, its cells without them, one after another.
    text: String,
    /// Where the cells are, without surrounding white space.
    cells: Vec<Range<usize>>,
}

/// A line whose quotes do not balance.
#[derive(Debug, PartialEq)]
pub(super) struct BadQuotes {
    /// The cell, counted from 0.
    pub(super) cell: usize,
}

impl fmt::Display for BadQuotes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "cell {}: unbalanced double quotes; a quoted cell must begin and end with `\"` on the same line, \
             with any quote inside it doubled",
            self.cell + 1
        )
    }
}

impl Record {
    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.cells.len()
    }

    /// Cell `index`, counted from 0, without surrounding white space.
    pub(super) fn cell(&self, index: usize) -> &str {
        &self.text[self.cells[index].clone()]
    }

    /// The cells in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        self.cells.iter().map(|place| &self.text[place.clone()])
    }

    /// Splits a line at its separators; quotes protect separators and quotes (RFC 4180, section 2, rules 5 to
    /// 7).
    pub(super) fn parse(&mut self, line: &str, separator: Separator) -> Result<(), BadQuotes> {
        self.text.clear();
        self.cells.clear();
        if memchr(b'"', line.as_bytes()).is_some() {
            return self.parse_quoted(line, separator.character());
        }
        self.text.push_str(line);
        let separator = separator.character() as u8;
        let mut start = 0;
        for end in memchr_iter(separator, line.as_bytes()) {
            self.cells.push(trimmed(line, start..end));
            start = end + 1;
        }
        self.cells.push(trimmed(line, start..line.len()));
        Ok(())
    }

    fn parse_quoted(&mut self, line: &str, separator: char) -> Result<(), BadQuotes> {
        let mut rest = line;
        loop {
            let start = self.text.len();
            let after = match rest.strip_prefix('"') {
                Some(quoted) => self.push_quoted(quoted, separator).ok_or(BadQuotes { cell: self.len() })?,
                None => self.push_plain(rest, separator),
            };
            self.cells.push(trimmed(&self.text, start..self.text.len()));
            match after.strip_prefix(separator) {
                Some(next) => rest = next,
                None => return Ok(()),
            }
        }
    }

    /// Appends a cell up to the next separator and returns the remaining text.
    fn push_plain<'a>(&mut self, rest: &'a str, separator: char) -> &'a str {
        let (cell, after) = rest.split_at(rest.find(separator).unwrap_or(rest.len()));
        self.text.push_str(cell);
        after
    }

    /// Appends a cell whose opening quote has been consumed, and returns the text after its closing quote: a
    /// separator or nothing. `None` if the quotes do not balance.
    fn push_quoted<'a>(&mut self, mut rest: &'a str, separator: char) -> Option<&'a str> {
        loop {
            let (cell, after) = rest.split_once('"')?;
            self.text.push_str(cell);
            match after.strip_prefix('"') {
                Some(doubled) => {
                    self.text.push('"');
                    rest = doubled;
                }
                None => return (after.is_empty() || after.starts_with(separator)).then_some(after),
            }
        }
    }
}

/// The part of a cell without white space around it.
#[inline]
fn trimmed(text: &str, cell: Range<usize>) -> Range<usize> {
    // Most cells have none, and are ASCII at both ends.
    let is_plain = |byte: u8| byte > b' ' && byte < 0x80;
    match text.as_bytes()[cell.clone()] {
        [only] if is_plain(only) => cell,
        [first, .., last] if is_plain(first) && is_plain(last) => cell,
        _ => {
            let inner = text[cell.clone()].trim();
            let start = cell.start + (text[cell.clone()].len() - text[cell].trim_start().len());
            start..start + inner.len()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str) -> Vec<String> {
        let mut record = Record::default();
        record.parse(line, Separator::Comma).unwrap();
        record.cells().map(str::to_string).collect()
    }

    #[test]
    fn commas_separate_and_blanks_are_trimmed() {
        assert_eq!(cells("a, b ,,c"), ["a", "b", "", "c"]);
        assert_eq!(cells(""), [""]);
        assert_eq!(cells(","), ["", ""]);
    }

    #[test]
    fn quotes_protect_commas_and_quotes() {
        assert_eq!(cells(r#""a,b","say ""hi""","",x"#), ["a,b", r#"say "hi""#, "", "x"]);
    }

    #[test]
    fn other_separators_leave_commas_alone() {
        let mut record = Record::default();
        record.parse("1,5;\"a;b\";", Separator::Semicolon).unwrap();
        assert_eq!(record.cells().collect::<Vec<_>>(), ["1,5", "a;b", ""]);
        record.parse("a\t\tb;c", Separator::Tab).unwrap();
        assert_eq!(record.cells().collect::<Vec<_>>(), ["a", "", "b;c"]);
    }

    #[test]
    fn unbalanced_quotes_are_located() {
        let mut record = Record::default();
        assert_eq!(record.parse(r#"a,"b"#, Separator::Comma), Err(BadQuotes { cell: 1 }));
        assert_eq!(record.parse(r#""a"b,c"#, Separator::Comma), Err(BadQuotes { cell: 0 }));
    }
}
