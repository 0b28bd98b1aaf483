//! Values of `data.inputs` and other lists of columns.

use std::fmt;

use serde::de::value::SeqAccessDeserializer;
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Value of `data.inputs`: `"all"`, one pattern, or a list of patterns.
///
/// A pattern is the name of a column or a range of neighbouring columns: `c0..c8` ends before c8,
/// `emg1..=emg8` includes its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Columns {
    /// Every column that is not a target.
    #[default]
    All,
    /// The columns that match these patterns, in this order.
    Matching(Vec<String>),
}

/// Some of the input columns: one pattern as in [`Columns`], or a list of patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnPatterns(Vec<String>);

impl ColumnPatterns {
    /// One pattern.
    pub(crate) fn one(pattern: &str) -> Self {
        ColumnPatterns(vec![pattern.to_string()])
    }

    /// A list of patterns.
    pub(crate) fn many(patterns: &[String]) -> Self {
        ColumnPatterns(patterns.to_vec())
    }

    /// The patterns.
    pub(crate) fn as_slice(&self) -> &[String] {
        &self.0
    }
}

impl<'de> Deserialize<'de> for ColumnPatterns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(OneOrManyVisitor("a range of columns"))? {
            OneOrMany::One(pattern) => ColumnPatterns(vec![pattern]),
            OneOrMany::Many(patterns) => ColumnPatterns(patterns),
        })
    }
}

impl Serialize for ColumnPatterns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A string or a list of strings. A list of one names a column that is called like a keyword.
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

/// Reads a string or a list of strings; the field names the keywords that the string may be, for errors.
struct OneOrManyVisitor(&'static str);

impl<'de> Visitor<'de> for OneOrManyVisitor {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, the name of a column, or a list of names", self.0)
    }

    fn visit_str<E>(self, name: &str) -> Result<OneOrMany, E> {
        Ok(OneOrMany::One(name.to_string()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OneOrMany, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMany::Many)
    }
}

impl<'de> Deserialize<'de> for Columns {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match deserializer.deserialize_any(OneOrManyVisitor("\"all\""))? {
            OneOrMany::One(name) if name == "all" => Columns::All,
            OneOrMany::One(pattern) => Columns::Matching(vec![pattern]),
            OneOrMany::Many(patterns) => Columns::Matching(patterns),
        })
    }
}

impl Serialize for Columns {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Columns::All => serializer.serialize_str("all"),
            Columns::Matching(patterns) => patterns.serialize(serializer),
        }
    }
}
