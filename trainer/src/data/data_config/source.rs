//! One file of a split, and the part of it that is used.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::columns::Choice;
use super::row_range::RowRange;
use super::row_selection::RowSelection;
use crate::data::csv::{self, RowReader};
use crate::data::format::Format;
use crate::data::rows::Rows;
use crate::data::table::Table;
use crate::data::{lines, npy, piano_roll};

/// One file of a split: `"a.csv"`, `{ file = "b.npy", sequences = "2", rows = "0..2502" }`, or
/// `{ file = "c.csv", rows = { file = "splits.csv", line = 3 } }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Source {
    /// Path of the file.
    pub file: PathBuf,
    /// Which sequences of the file to use; all of them unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequences: Option<RowRange>,
    /// Which rows to use of these sequences; all of them unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rows: Option<RowSelection>,
    /// For test data: how many rows before these a model reads first. What it says of them is not scored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub burn_in: Option<usize>,
    /// For npy: the file with the lengths of the sequences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lengths: Option<PathBuf>,
}

/// How to read files that do not say so themselves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading<'a> {
    pub(super) format: Option<Format>,
    pub(super) header: bool,
    pub(super) lengths: Option<&'a Path>,
}

impl Source {
    /// A whole file.
    pub fn whole(file: impl Into<PathBuf>) -> Self {
        Source { file: file.into(), sequences: None, rows: None, burn_in: None, lengths: None }
    }

    /// Reads the columns that `choose` picks from the names there are, and the rows asked for.
    pub(super) fn read(
        &self,
        reading: Reading<'_>,
        choose: impl FnOnce(&[String]) -> Result<Choice, String>,
    ) -> Result<(Choice, Table)> {
        let file = self.file.display().to_string();
        let choose = |names: &[String]| choose(names).map_err(|problem| anyhow!("{file}: {problem}"));
        let (choice, mut table) = self.read_columns(reading, &file, choose)?;
        table.sequences = self.cut(table.sequences).with_context(|| file.clone())?;
        Ok((choice, table))
    }

    fn read_columns(
        &self,
        reading: Reading<'_>,
        file: &str,
        choose: impl FnOnce(&[String]) -> Result<Choice>,
    ) -> Result<(Choice, Table)> {
        let table = match reading.format.map_or_else(|| self.infer_format(), Ok)? {
            Format::Csv => {
                let mut reader = RowReader::new(lines::open(&self.file)?, file, reading.header)?;
                let choice = choose(&reader.names())?;
                reader.select(&choice.all())?;
                return Ok((choice, csv::read(reader)?));
            }
            Format::Npy => {
                let named = self.lengths.as_deref().or(reading.lengths).map(Path::to_path_buf);
                npy::read(&self.file, named.or_else(|| npy::companion(&self.file)).as_deref())?
            }
            Format::PianoRoll => piano_roll::read(lines::open(&self.file)?, file)?,
        };
        let choice = choose(&table.names)?;
        let table = table.select(file, &choice.all())?;
        Ok((choice, table))
    }

    fn infer_format(&self) -> Result<Format> {
        let mut head = Vec::new();
        let mut start = lines::open(&self.file)?.take(Format::HEAD as u64);
        start.read_to_end(&mut head).map_err(|error| lines::cannot_read(&self.file, &error))?;
        Ok(Format::infer(&self.file, &head))
    }

    /// Keeps the sequences and rows asked for.
    fn cut(&self, mut sequences: Vec<Rows>) -> Result<Vec<Rows>> {
        let mut first = 0;
        if let Some(cut) = self.sequences {
            let range = cut.within(sequences.len()).map_err(|problem| anyhow!("sequences {problem}"))?;
            first = range.start;
            sequences = sequences.drain(range).collect();
        }
        let cut = match &self.rows {
            None | Some(RowSelection::Listed(_)) if self.burn_in.is_some() => {
                bail!("lead needs a stretch of rows that it leads up to, such as rows = \"2502..\"");
            }
            None => return Ok(sequences),
            Some(RowSelection::Listed(list)) => return list.pick(&sequences),
            Some(RowSelection::Stretch(cut)) => cut,
        };
        let keep = |(index, rows): (usize, Rows)| match cut.within(rows.len()) {
            Ok(range) => match range.start.checked_sub(self.burn_in.unwrap_or(0)) {
                Some(start) => Ok(rows.slice(start..range.end)),
                None => Err(anyhow!(
                    "lead is {}, but sequence {} has {} rows before those asked for",
                    self.burn_in.unwrap_or(0),
                    first + index,
                    range.start
                )),
            },
            Err(problem) => Err(anyhow!("rows {problem} in sequence {}", first + index)),
        };
        sequences.into_iter().enumerate().map(keep).collect()
    }

    /// Makes relative paths start at `folder`.
    pub(super) fn anchor(&mut self, folder: &Path) {
        self.file = folder.join(&self.file);
        self.lengths = self.lengths.take().map(|lengths| folder.join(lengths));
        if let Some(rows) = &mut self.rows {
            rows.anchor(folder);
        }
    }
}

/// The table form of a source.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceTable {
    file: PathBuf,
    sequences: Option<RowRange>,
    rows: Option<RowSelection>,
    #[serde(alias = "lead")]
    burn_in: Option<usize>,
    lengths: Option<PathBuf>,
}

struct SourceVisitor;

impl<'de> Visitor<'de> for SourceVisitor {
    type Value = Source;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the path of a file, or a table { file = …, sequences = …, rows = …, burn_in = …, lengths = … }",
        )
    }

    fn visit_str<E>(self, path: &str) -> Result<Source, E> {
        Ok(Source::whole(path))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Source, A::Error> {
        let SourceTable { file, sequences, rows, burn_in, lengths } =
            SourceTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Source { file, sequences, rows, burn_in, lengths })
    }
}

impl<'de> Deserialize<'de> for Source {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SourceVisitor)
    }
}

/// Reads one source or a list of them.
struct SourcesVisitor;

impl<'de> Visitor<'de> for SourcesVisitor {
    type Value = Vec<Source>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        SourceVisitor.expecting(f)?;
        f.write_str(", or a list of these")
    }

    fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Vec<Source>, E> {
        SourceVisitor.visit_str(path).map(|source| vec![source])
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<Source>, A::Error> {
        SourceVisitor.visit_map(map).map(|source| vec![source])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<Source>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list))
    }
}

/// For serde: a source or a list of them.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Source>, D::Error> {
    deserializer.deserialize_any(SourcesVisitor)
}
