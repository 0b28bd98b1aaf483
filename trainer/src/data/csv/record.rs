//! One line of CSV, split into cells.

use std::fmt;

use super::separator::Separator;

/// The cells of one line. Its buffers are reused from line to line.
#[derive(Debug, Default)]
pub(super) struct Record {
    text: String,
    ends: Vec<usize>,
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
        self.ends.len()
    }

    /// Cell `index`, counted from 0, without surrounding white space.
    pub(super) fn cell(&self, index: usize) -> &str {
        let start = if index == 0 { 0 } else { self.ends[index - 1] };
        self.text[start..self.ends[index]].trim()
    }

    /// The cells in order.
    pub(super) fn cells(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).map(|index| self.cell(index))
    }

    /// Splits a line at its separators; quotes protect separators and quotes (RFC 4180, section 2, rules 5 to
    /// 7).
    pub(super) fn parse(&mut self, line: &str, separator: Separator) -> Result<(), BadQuotes> {
        let separator = separator.character();
        self.text.clear();
        self.ends.clear();
        let mut rest = line;
        loop {
            let after = match rest.strip_prefix('"') {
                Some(quoted) => self.push_quoted(quoted, separator).ok_or(BadQuotes { cell: self.len() })?,
                None => self.push_plain(rest, separator),
            };
            self.ends.push(self.text.len());
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
