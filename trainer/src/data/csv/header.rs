//! The first line of a CSV file.

use anyhow::{Result, bail};

use super::cell;
use super::record::Record;

/// Checks the names of the columns. `place` is file and line.
pub(super) fn names(record: &Record, place: &str) -> Result<Vec<String>> {
    if record.cells().all(|cell| !cell.is_empty() && cell::number(cell).is_ok()) {
        bail!(
            "{place}: the first line contains numbers instead of column names; \
             add a header, or set `header = false` to call the columns c0, c1, …"
        );
    }
    let names: Vec<String> = record.cells().map(str::to_string).collect();
    for (index, name) in names.iter().enumerate() {
        check(name, &names[..index], place)?;
    }
    Ok(names)
}

/// Checks one name against those before it.
fn check(name: &str, before: &[String], place: &str) -> Result<()> {
    let number = before.len() + 1;
    if name.is_empty() {
        bail!("{place}: column {number} has no name; give every column a unique name");
    }
    if let Some(twin) = before.iter().position(|other| other == name) {
        bail!("{place}: columns {} and {number} are both named `{name}`; rename one of them", twin + 1);
    }
    if let Some(separator) = [';', '\t'].into_iter().find(|&c| name.contains(c)) {
        bail!("{place}: found {separator:?} in the column name {name:?}; separate cells by commas");
    }
    Ok(())
}
