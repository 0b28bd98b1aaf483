//! Results on standard output, and notes on standard error.

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};
use serde::Serialize;

use crate::printable::{escaped, escaped_json};

/// Prints a result, with what would act on a terminal escaped.
///
/// Unlike `print!`, it returns an error rather than panicking if standard output cannot be written, and
/// ignores a closed pipe.
pub(super) fn print_text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(escaped(text).as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write the result to standard output"),
    }
}

/// Prints a result as one JSON object.
pub(super) fn print_json(result: &impl Serialize) -> Result<()> {
    print_text(&escaped_json(&(serde_json::to_string_pretty(result)? + "\n")))
}

/// Prints a line of progress to standard error.
pub(super) fn print_note(line: &str) {
    eprintln!("{}", escaped(line));
}
