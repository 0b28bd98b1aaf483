//! Numbered lines of a text file, read one at a time so that a live pipe works too.

use std::io::{BufRead, ErrorKind};

use anyhow::{Context, Result, anyhow};

/// Reads and counts UTF-8 lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    file: String,
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// Reads from `source`; `file` names it in errors.
    pub(super) fn new(source: R, file: &str) -> Self {
        Lines { source, file: file.to_string(), number: 0, buffer: Vec::new() }
    }

    /// The name of the file in errors.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Number of the line read last, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// File and line, in the form that editors and terminals recognise.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file, self.number)
    }

    /// The next line without its ending and without a byte-order mark, or `None` at the end.
    pub(super) fn next_line(&mut self) -> Result<Option<&str>> {
        self.buffer.clear();
        let read = self.source.read_until(b'\n', &mut self.buffer);
        if read.with_context(|| self.failure())? == 0 {
            return Ok(None);
        }
        self.number += 1;
        let line = std::str::from_utf8(&self.buffer)
            .map_err(|_| anyhow!("{}:{}: not UTF-8 text; save the file as UTF-8", self.file, self.number))?;
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        Ok(Some(if self.number == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line }))
    }

    fn failure(&self) -> String {
        format!("{}: cannot read line {}", self.file, self.number + 1)
    }
}

/// Opens a file; the error names it.
pub(super) fn open(path: &std::path::Path) -> Result<std::io::BufReader<std::fs::File>> {
    let file = std::fs::File::open(path).map_err(|error| cannot_read(path, &error))?;
    Ok(std::io::BufReader::new(file))
}

/// An error that names the file and suggests a remedy.
pub(super) fn cannot_read(path: &std::path::Path, error: &std::io::Error) -> anyhow::Error {
    let path = path.display();
    match error.kind() {
        ErrorKind::NotFound => {
            anyhow!("{path}: no such file; paths are relative to the config file, or to --data-dir")
        }
        ErrorKind::IsADirectory => anyhow!("{path}: this is a directory; name a file in it"),
        _ => anyhow!("{path}: cannot read: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_and_the_byte_order_mark_are_removed() {
        let mut lines = Lines::new("\u{feff}a\r\n\nb".as_bytes(), "f");
        assert_eq!(lines.next_line().unwrap(), Some("a"));
        assert_eq!(lines.next_line().unwrap(), Some(""));
        assert_eq!(lines.next_line().unwrap(), Some("b"));
        assert_eq!(lines.number(), 3);
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn text_that_is_not_utf8_is_located() {
        let mut lines = Lines::new(b"ok\n\xff\n".as_slice(), "f.csv");
        lines.next_line().unwrap();
        assert_eq!(
            lines.next_line().unwrap_err().to_string(),
            "f.csv:2: not UTF-8 text; save the file as UTF-8"
        );
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = open(std::path::Path::new("no/such.csv")).unwrap_err().to_string();
        assert_eq!(
            error,
            "no/such.csv: no such file; paths are relative to the config file, or to --data-dir"
        );
    }
}
