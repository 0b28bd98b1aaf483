//! The first line of a CSV file.

use std::collections::HashMap;

use anyhow::{Result, bail};

use super::record::Record;
use super::{cell, spreadsheet};
use crate::printable::unprintable_in;

/// Checks the names of the columns. `place` is file and line.
pub(super) fn names(record: &Record, place: &str) -> Result<Vec<String>> {
    if record.cells().all(cell::is_number) {
        bail!(
            "{place}: the first line contains numbers instead of column names; \
             add a header, or set `header = false` to call the columns c0, c1, …"
        );
    }
    let names: Vec<String> = record.cells().map(|cell| spreadsheet::unguarded(cell).to_string()).collect();
    let mut before = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        check(name, index + 1, place)?;
        if let Some(twin) = before.insert(name, index + 1) {
            let number = index + 1;
            bail!("{place}: columns {twin} and {number} are both named `{name}`; rename one of them");
        }
    }
    Ok(names)
}

/// Checks one name, that of the column `number`.
fn check(name: &str, number: usize, place: &str) -> Result<()> {
    if name.is_empty() {
        bail!("{place}: column {number} has no name; give every column a unique name");
    }
    if let Some(character) = unprintable_in(name) {
        bail!(
            "{place}: column {number}: the control character {character} in the name `{}`; rename the column",
            name.escape_default()
        );
    }
    Ok(())
}
