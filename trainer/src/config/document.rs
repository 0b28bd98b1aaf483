//! The text of a config with the overrides of the command line, and where each value came from.
//!
//! Overrides are parsed as if they followed the end of the file. A position therefore identifies both the
//! source of a value and its place there, and the positions in TOML's own errors keep working.

use std::ops::Range;

use anyhow::{Context, Result, anyhow, bail, ensure};
use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use super::renamed;

/// A value set on the command line, such as `training.epochs=5`.
pub(super) struct Override<'a> {
    assignment: &'a str,
    keys: Vec<&'a str>,
    value: &'a str,
    /// The value as a document of its own, preceded by enough blanks to place it at `span`.
    padded: String,
    span: Range<usize>,
}

impl<'a> Override<'a> {
    /// Parses assignments as if they followed a file of `length` bytes.
    pub(super) fn list(assignments: &'a [String], length: usize) -> Result<Vec<Self>> {
        let mut end = length;
        let mut parse = |assignment: &'a String| {
            let parsed = Self::new(assignment, end + 1).with_context(|| format!("--set {assignment}"))?;
            end = parsed.span.end;
            Ok(parsed)
        };
        assignments.iter().map(&mut parse).collect()
    }

    fn new(assignment: &'a str, start: usize) -> Result<Self> {
        let (key, value) =
            assignment.split_once('=').context("expected key=value, such as training.epochs=5")?;
        let keys: Vec<&str> = key.split('.').map(str::trim).collect();
        ensure!(keys.iter().all(|key| !key.is_empty()), "the key `{key}` has an empty part");
        let keys = renamed::present(&keys.join(".")).map_or(keys, |key| key.split('.').collect());
        let value = value.trim();
        let padded = format!("{}value = {value}", " ".repeat(start));
        let span = start..padded.len() + 1;
        Ok(Override { assignment, keys, value, padded, span })
    }

    /// The value as TOML, or as a bare string if it is not TOML.
    fn value(&'a self) -> Spanned<DeValue<'a>> {
        let parsed = DeTable::parse(&self.padded).ok().filter(|table| table.get_ref().len() == 1);
        match parsed.and_then(|table| table.into_inner().remove("value")) {
            Some(value) => value,
            None => Spanned::new(self.span.clone(), DeValue::String(self.value.into())),
        }
    }
}

/// A parsed config file with overrides applied.
pub(super) struct Document<'a> {
    file: &'a str,
    text: &'a str,
    table: Spanned<DeTable<'a>>,
    overrides: &'a [Override<'a>],
}

impl<'a> Document<'a> {
    /// Parses the text of `file` and applies the overrides in order. Old names of keys and values are
    /// replaced.
    pub(super) fn new(file: &'a str, text: &'a str, overrides: &'a [Override<'a>]) -> Result<Self> {
        let mut table = DeTable::parse(text).map_err(|error| {
            let position = error.span().map_or(0, |span| span.start);
            anyhow!("{file}:{}: {}", line_and_column(text, position), error.message())
        })?;
        renamed::replace(table.get_mut()).with_context(|| file.to_string())?;
        for set in overrides {
            insert(table.get_mut(), &set.keys, &set.span, set.value())
                .and_then(|()| renamed::replace(table.get_mut()))
                .with_context(|| format!("--set {}", set.assignment))?;
        }
        Ok(Document { file, text, table, overrides })
    }

    /// Deserialises the document. Errors name the place and the key.
    pub(super) fn read<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(Deserializer::from(self.table.clone())).map_err(|error| self.explain(&error))
    }

    /// The keys at the top level.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.table.get_ref().keys().map(|key| key.get_ref().as_ref())
    }

    /// Whether the file or an override sets a dotted key.
    pub(super) fn sets(&self, key: &str) -> bool {
        let mut keys = key.split('.');
        let mut value = keys.next().and_then(|key| self.table.get_ref().get(key));
        for key in keys {
            value = match value.map(Spanned::get_ref) {
                Some(DeValue::Table(table)) => table.get(key),
                _ => None,
            };
        }
        value.is_some()
    }

    /// Where the value of a dotted key came from: file and line, an override, or the file alone for a
    /// default.
    pub(super) fn origin(&self, key: &str) -> String {
        let mut table = self.table.get_ref();
        let mut keys = key.split('.').peekable();
        while let Some(value) = keys.next().and_then(|key| table.get(key)) {
            match value.get_ref() {
                DeValue::Table(inner) if keys.peek().is_some() => table = inner,
                _ => return self.place(value.span().start),
            }
        }
        self.file.to_string()
    }

    fn explain(&self, error: &Error) -> anyhow::Error {
        let message = error.message();
        let Some(Range { start, .. }) = error.span() else { return anyhow!("{}: {message}", self.file) };
        match key_at(self.table.get_ref(), start) {
            Some(key) => anyhow!("{}: `{key}`: {message}", self.place(start)),
            None => anyhow!("{}: {message}", self.place(start)),
        }
    }

    /// A position as file, line and column, or as the override at that position.
    fn place(&self, position: usize) -> String {
        match self.overrides.iter().find(|set| set.span.contains(&position)) {
            Some(set) => format!("--set {}", set.assignment),
            None => format!("{}:{}", self.file, line_and_column(self.text, position)),
        }
    }
}

/// Inserts a value at a path of keys, creating missing tables.
fn insert<'a>(
    table: &mut DeTable<'a>,
    keys: &[&'a str],
    span: &Range<usize>,
    value: Spanned<DeValue<'a>>,
) -> Result<()> {
    let [first, rest @ ..] = keys else { bail!("the key is empty") };
    let key = Spanned::new(span.clone(), (*first).into());
    if rest.is_empty() {
        table.insert(key, value);
        return Ok(());
    }
    if !table.contains_key(*first) {
        table.insert(key, Spanned::new(span.clone(), DeValue::Table(DeTable::new())));
    }
    match table.get_mut(*first).map(Spanned::get_mut) {
        Some(DeValue::Table(inner)) => insert(inner, rest, span, value),
        _ => bail!("`{first}` is a value, not a table: it has no `{}`", rest.join(".")),
    }
}

/// The dotted key whose name or value is at a position.
fn key_at(table: &DeTable<'_>, position: usize) -> Option<String> {
    table.iter().find_map(|(key, value)| {
        if let DeValue::Table(inner) = value.get_ref()
            && let Some(rest) = key_at(inner, position)
        {
            return Some(format!("{}.{rest}", key.get_ref()));
        }
        let here = key.span().contains(&position) || value.span().contains(&position);
        here.then(|| key.get_ref().to_string())
    })
}

/// Line and column of a position, both counted from 1.
fn line_and_column(text: &str, position: usize) -> String {
    let before = &text.as_bytes()[..position.min(text.len())];
    let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
    let start = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    let column = String::from_utf8_lossy(&before[start..]).chars().count() + 1;
    format!("{line}:{column}")
}
