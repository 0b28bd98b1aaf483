//! Results on standard output.

use std::io::{self, ErrorKind, Write};

use anyhow::{Context, Result};
use serde::Serialize;

/// Prints a result.
///
/// Unlike `print!`, it returns an error rather than panicking if standard output cannot be written, and
/// ignores a closed pipe.
pub(super) fn print_text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        result => result.context("cannot write the result to standard output"),
    }
}

/// Prints a result as one JSON object.
pub(super) fn print_json(result: &impl Serialize) -> Result<()> {
    print_text(&(serde_json::to_string_pretty(result)? + "\n"))
}
