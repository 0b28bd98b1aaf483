//! Which rows of a file are used: a stretch of them, or those that another file lists.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::row_range::RowRange;

/// Which rows to use: `"0..2502"`, or `{ file = "splits.csv", line = 3 }`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum RowSelection {
    /// A stretch of every sequence.
    Range(RowRange),
    /// Single rows, each a sequence of its own: what is listed in any order has no course in time.
    Listed(RowList),
}

/// Rows listed in a file, as the fixed splits of public benchmarks come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RowList {
    /// A text file; every line is a list of row numbers, counted from 0, separated by commas.
    pub file: PathBuf,
    /// Which of its lines to use, counted from 0; the first unless given.
    #[serde(default)]
    pub line: usize,
}

impl RowSelection {
    /// Makes relative paths start at `folder`.
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
        f.write_str("a stretch such as \"0..2502\", or a table { file = …, line = … } that lists rows")
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
