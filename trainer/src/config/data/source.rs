//! Values of `data.train`, `data.valid` and `data.test`: files, and the part of each that is used.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::row_range::RowRange;
use super::row_selection::RowSelection;

/// One file of a split: `"a.csv"`, `{ file = "b.npy", sequences = "2", rows = "0..2502" }`, or
/// `{ file = "c.csv", rows = { file = "splits.csv", line = 3 } }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DataSource {
    /// Path of the file.
    pub file: PathBuf,
    /// Sequences of the file to use: a range such as `"2"`, `"0..5"` or `"..80%"`; all of them if not set.
    pub sequences: Option<RowRange>,
    /// Rows of these sequences to use: a range such as `"0..2502"` or `"80%.."`, or a table `{ file, line }`
    /// that names a list of rows; all of them if not set.
    pub rows: Option<RowSelection>,
    /// Test data only: rows before these that the model reads first, without being scored on them.
    pub burn_in: Option<usize>,
    /// NumPy: file with the lengths of the sequences.
    pub lengths: Option<PathBuf>,
}

impl DataSource {
    /// A whole file.
    pub fn whole(file: impl Into<PathBuf>) -> Self {
        DataSource { file: file.into(), sequences: None, rows: None, burn_in: None, lengths: None }
    }

    /// The paths of all files that are read for it.
    pub(super) fn paths(&self) -> impl Iterator<Item = &Path> {
        let list = self.rows.as_ref().and_then(|rows| match rows {
            RowSelection::Listed(list) => Some(&list.file),
            RowSelection::Range(_) => None,
        });
        [Some(&self.file), self.lengths.as_ref(), list].into_iter().flatten().map(PathBuf::as_path)
    }

    /// Resolves relative paths against `folder`.
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
struct DataSourceTable {
    file: PathBuf,
    sequences: Option<RowRange>,
    rows: Option<RowSelection>,
    #[serde(alias = "lead")]
    burn_in: Option<usize>,
    lengths: Option<PathBuf>,
}

struct DataSourceVisitor;

impl<'de> Visitor<'de> for DataSourceVisitor {
    type Value = DataSource;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "the path of a file, or a table { file = …, sequences = …, rows = …, burn_in = …, lengths = … }",
        )
    }

    fn visit_str<E>(self, path: &str) -> Result<DataSource, E> {
        Ok(DataSource::whole(path))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<DataSource, A::Error> {
        let DataSourceTable { file, sequences, rows, burn_in, lengths } =
            DataSourceTable::deserialize(MapAccessDeserializer::new(map))?;
        Ok(DataSource { file, sequences, rows, burn_in, lengths })
    }
}

impl<'de> Deserialize<'de> for DataSource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DataSourceVisitor)
    }
}

/// Reads one source or a list of them.
struct DataSourcesVisitor;

impl<'de> Visitor<'de> for DataSourcesVisitor {
    type Value = Vec<DataSource>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        DataSourceVisitor.expecting(f)?;
        f.write_str(", or a list of these")
    }

    fn visit_str<E: serde::de::Error>(self, path: &str) -> Result<Vec<DataSource>, E> {
        DataSourceVisitor.visit_str(path).map(|source| vec![source])
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Vec<DataSource>, A::Error> {
        DataSourceVisitor.visit_map(map).map(|source| vec![source])
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Vec<DataSource>, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list))
    }
}

/// For serde: a source or a list of them.
pub(super) fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<DataSource>, D::Error> {
    deserializer.deserialize_any(DataSourcesVisitor)
}
