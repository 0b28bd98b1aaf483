//! Value of `rows` in a data source: a range of rows, or a list of rows in another file.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::row_range::RowRange;

/// The rows to use: `"0..2502"`, or `{ file = "splits.csv", line = 3 }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RowSelection {
    /// A range of every sequence.
    Range(RowRange),
    /// Single rows, each a sequence of its own, because a list has no order in time.
    Listed(RowList),
}

/// Rows listed in a file: the form in which public benchmarks publish fixed splits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowList {
    /// A text file with a list of row numbers per line, counted from 0 and separated by commas.
    pub file: PathBuf,
    /// The line to use, counted from 0.
    #[serde(default)]
    pub line: usize,
}

impl RowSelection {
    /// Resolves relative paths against `folder`.
    pub(super) fn anchor(&mut self, folder: &Path) {
        if let RowSelection::Listed(list) = self {
            list.file = folder.join(&list.file);
        }
    }
}

struct RowSelectionVisitor;

impl<'de> Visitor<'de> for RowSelectionVisitor {
    type Value = RowSelection;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a range such as \"0..2502\", or a table { file = …, line = … } that lists rows")
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RowSelection, E> {
        RowRange::deserialize(StrDeserializer::new(text)).map(RowSelection::Range)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RowSelection, A::Error> {
        RowList::deserialize(MapAccessDeserializer::new(map)).map(RowSelection::Listed)
    }
}

impl<'de> Deserialize<'de> for RowSelection {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RowSelectionVisitor)
    }
}
