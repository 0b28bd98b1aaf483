//! Numbered lines of a text file, read one at a time so that a live pipe works too.

use std::borrow::Cow;
use std::io::{BufRead, ErrorKind};

use anyhow::{Context, Result, anyhow};

/// What becomes of bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// An error.
    Utf8,
    /// Their line is taken for Latin-1, as older programs and spreadsheets write it.
    Utf8OrLatin1,
}

/// Reads and counts lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    file: String,
    number: u64,
    bytes: u64,
    buffer: Vec<u8>,
    encoding: Encoding,
    /// Whether a line was Latin-1.
    is_latin1: bool,
}

impl<R: BufRead> Lines<R> {
    /// Reads from `source`; `file` names it in errors.
    pub(super) fn new(source: R, file: &str, encoding: Encoding) -> Self {
        Lines {
            source,
            file: file.to_string(),
            number: 0,
            bytes: 0,
            buffer: Vec::new(),
            encoding,
            is_latin1: false,
        }
    }

    /// Whether a line read so far was taken for Latin-1.
    pub(super) fn is_latin1(&self) -> bool {
        self.is_latin1
    }

    /// The name of the file in errors.
    pub(super) fn file(&self) -> &str {
        &self.file
    }

    /// Number of the line read last, counted from 1.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Bytes of all lines read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// File and line, in the form that editors and terminals recognise.
    pub(super) fn place(&self) -> String {
        format!("{}:{}", self.file, self.number)
    }

    /// The next line without its ending and without a byte-order mark, or `None` at the end.
    pub(super) fn next_line(&mut self) -> Result<Option<Cow<'_, str>>> {
        self.buffer.clear();
        let read = self.source.read_until(b'\n', &mut self.buffer);
        if read.with_context(|| self.failure())? == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.bytes += self.buffer.len() as u64;
        if self.number == 1 && (self.buffer.starts_with(b"\xff\xfe") || self.buffer.starts_with(b"\xfe\xff"))
        {
            return Err(anyhow!("{}: UTF-16 text; save the file as UTF-8", self.file));
        }
        let bytes = self.buffer.strip_suffix(b"\n").unwrap_or(&self.buffer);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        match (std::str::from_utf8(bytes), self.encoding) {
            (Ok(line), _) if self.number == 1 => {
                Ok(Some(Cow::Borrowed(line.strip_prefix('\u{feff}').unwrap_or(line))))
            }
            (Ok(line), _) => Ok(Some(Cow::Borrowed(line))),
            (Err(_), Encoding::Utf8OrLatin1) => {
                self.is_latin1 = true;
                Ok(Some(Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect())))
            }
            (Err(_), Encoding::Utf8) => {
                Err(anyhow!("{}:{}: not UTF-8 text; save the file as UTF-8", self.file, self.number))
            }
        }
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
        let mut lines = Lines::new("\u{feff}a\r\n\nb".as_bytes(), "f", Encoding::Utf8);
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("a"));
        assert_eq!(lines.next_line().unwrap().as_deref(), Some(""));
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("b"));
        assert_eq!(lines.number(), 3);
        assert_eq!(lines.next_line().unwrap(), None);
    }

    #[test]
    fn text_that_is_not_utf8_is_located() {
        let mut lines = Lines::new(b"ok\n\xff\n".as_slice(), "f.csv", Encoding::Utf8);
        lines.next_line().unwrap();
        assert_eq!(
            lines.next_line().unwrap_err().to_string(),
            "f.csv:2: not UTF-8 text; save the file as UTF-8"
        );
    }

    #[test]
    fn other_text_is_latin1_where_that_is_allowed() {
        let mut lines =
            Lines::new(b"L\xe4nge;Kr\xc3\xa4fte\nKr\xc3\xa4fte\n".as_slice(), "f", Encoding::Utf8OrLatin1);
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("L\u{e4}nge;Kr\u{c3}\u{a4}fte"));
        assert_eq!(lines.next_line().unwrap().as_deref(), Some("Kr\u{e4}fte"));
        assert!(lines.is_latin1());
        let mut wide = Lines::new(b"\xff\xfea\0\n\0".as_slice(), "f.csv", Encoding::Utf8OrLatin1);
        assert_eq!(wide.next_line().unwrap_err().to_string(), "f.csv: UTF-16 text; save the file as UTF-8");
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
