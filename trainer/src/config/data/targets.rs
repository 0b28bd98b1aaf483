//! Value of `data.targets`: what a model predicts.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Error, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::DataConfig;
use super::columns::ColumnPatterns;
use crate::config::limits::{InvalidValue, Limits, invalid};

/// Most rows that a model may look ahead: more is a typing error.
const MAX_HORIZON: usize = 1_000_000;

/// Value of `data.targets`: `"next"`, `"clean"`, `"labels"`, one pattern or a list of patterns as for
/// [`Columns`](super::Columns), or a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Targets {
    /// The inputs, one step ahead.
    Next,
    /// The inputs at the same step, without the noise added to them.
    Clean,
    /// The class of the whole sequence.
    Labels,
    /// The columns that match these patterns, in this order.
    Matching(Vec<String>),
    /// Columns some rows ahead.
    Ahead(AheadTargets),
    /// The class of every row.
    Class(ClassTarget),
}

/// Columns some rows ahead; an output per column and horizon.
#[derive(Clone, Debug, PartialEq)]
pub struct AheadTargets {
    /// The columns; all inputs if not set.
    pub next: Option<ColumnPatterns>,
    /// How many rows ahead.
    pub horizon: Horizons,
}

/// A column with the class of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassTarget {
    /// The column.
    pub column: String,
    /// Names of classes by their labels.
    pub names: BTreeMap<String, String>,
}

/// Numbers of rows, each once and in ascending order.
#[derive(Clone, Debug, PartialEq)]
pub struct Horizons(Vec<usize>);

/// A table as the value of `data.targets`: columns some rows ahead, `{ next = "y", horizon = [1, 5] }`, or
/// the class of every row, `{ class = "gesture" }`.
///
/// Looking ahead, all columns are inputs unless `data.inputs` names some, and the outputs are called `y+1`,
/// `y+5`, …. The last rows of a recording, and of a split, have no target: none is ever taken from the rows
/// of another split.
///
/// The outputs of a classifier of rows are the probabilities of the classes, in the order of the numbers if
/// all labels are integers, and of the alphabet otherwise. An empty cell is a row without a label: it is
/// read, but neither learned nor scored. Every class must be in the training data. `model.likelihood` is
/// `"categorical"`.
#[derive(Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct TargetsTable {
    /// Columns to predict ahead, in the form of `data.inputs`; all inputs if only `horizon` is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<ColumnPatterns>,
    /// How many rows ahead: a number, or a list of them for as many outputs per column; 1 if not set.
    #[serde(skip_serializing_if = "Option::is_none")]
    horizon: Option<Horizons>,
    /// Column with the class of every row: text or integers in a CSV file, integers in a NumPy file.
    #[serde(skip_serializing_if = "Option::is_none")]
    class: Option<String>,
    /// Names of classes by their labels, such as `{ 0 = "rest", 1 = "fist" }`; a label that is not listed is
    /// its own name.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    names: BTreeMap<String, String>,
}

impl TargetsTable {
    fn targets(self) -> Result<Targets, &'static str> {
        let TargetsTable { next, horizon, class, names } = self;
        match (class, next.is_some() || horizon.is_some()) {
            (Some(_), true) => Err("`class` excludes `next` and `horizon`: set one of them"),
            (Some(column), false) => Ok(Targets::Class(ClassTarget { column, names })),
            (None, true) if !names.is_empty() => Err("`names` is for `class`"),
            (None, true) => {
                Ok(Targets::Ahead(AheadTargets { next, horizon: horizon.unwrap_or(Horizons(vec![1])) }))
            }
            (None, false) => Err("set `next` or `horizon` to predict columns ahead, or `class`"),
        }
    }
}

impl Horizons {
    /// The numbers of rows.
    pub fn rows(&self) -> &[usize] {
        &self.0
    }

    fn check(&self) -> Result<(), InvalidValue> {
        let limits = Limits::closed(1.0, MAX_HORIZON as f64);
        self.0.iter().try_for_each(|rows| limits.check("data.targets.horizon", *rows as f64))?;
        if self.0.is_empty() || !self.0.is_sorted_by(|before, after| before < after) {
            let problem = "must list numbers of rows in ascending order, each once, such as [1, 5, 10]";
            return Err(invalid("data.targets.horizon", problem));
        }
        Ok(())
    }
}

impl DataConfig {
    /// The columns that are predicted some rows ahead, if that is what is predicted.
    pub fn ahead(&self) -> Option<&AheadTargets> {
        match &self.targets {
            Targets::Ahead(ahead) => Some(ahead),
            _ => None,
        }
    }

    /// The column with the class of every row, if that is what is predicted.
    pub fn row_class(&self) -> Option<&ClassTarget> {
        match &self.targets {
            Targets::Class(class) => Some(class),
            _ => None,
        }
    }

    /// Checks targets ahead, and refuses keys that would have to change them as well.
    pub(super) fn check_ahead(&self) -> Result<(), InvalidValue> {
        let Some(ahead) = self.ahead() else { return Ok(()) };
        ahead.horizon.check()?;
        let transforms = self.augment.as_ref().filter(|augment| augment.transforms_rows());
        let keys = [("data.noise", self.noise.is_some()), ("data.augment", transforms.is_some())];
        match keys.into_iter().find(|(_, set)| *set) {
            Some((key, _)) => {
                let problem =
                    "does not go with targets some rows ahead, which would stay as they are; remove it";
                Err(invalid(key, problem))
            }
            None => Ok(()),
        }
    }
}

struct TargetsVisitor;

impl<'de> Visitor<'de> for TargetsVisitor {
    type Value = Targets;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(
            "\"next\", \"clean\", \"labels\", the name of a column, a list of names, or a table { next = …, horizon = … } \
             or { class = … }",
        )
    }

    fn visit_str<E>(self, name: &str) -> Result<Targets, E> {
        Ok(match name {
            "next" => Targets::Next,
            "clean" => Targets::Clean,
            "labels" => Targets::Labels,
            pattern => Targets::Matching(vec![pattern.to_string()]),
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Targets, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Targets::Matching)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Targets, A::Error> {
        let table = TargetsTable::deserialize(MapAccessDeserializer::new(map))?;
        table.targets().map_err(A::Error::custom)
    }
}

impl<'de> Deserialize<'de> for Targets {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TargetsVisitor)
    }
}

impl Serialize for Targets {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let table = match self {
            Targets::Next => return serializer.serialize_str("next"),
            Targets::Clean => return serializer.serialize_str("clean"),
            Targets::Labels => return serializer.serialize_str("labels"),
            Targets::Matching(patterns) => return patterns.serialize(serializer),
            Targets::Ahead(AheadTargets { next, horizon }) => {
                TargetsTable { next: next.clone(), horizon: Some(horizon.clone()), ..TargetsTable::default() }
            }
            Targets::Class(ClassTarget { column, names }) => {
                TargetsTable { class: Some(column.clone()), names: names.clone(), ..TargetsTable::default() }
            }
        };
        table.serialize(serializer)
    }
}

struct HorizonsVisitor;

impl<'de> Visitor<'de> for HorizonsVisitor {
    type Value = Horizons;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of rows such as 1, or a list of them such as [1, 5, 10]")
    }

    fn visit_i64<E: Error>(self, rows: i64) -> Result<Horizons, E> {
        match usize::try_from(rows) {
            Ok(rows) => Ok(Horizons(vec![rows])),
            Err(_) => Err(E::invalid_value(Unexpected::Signed(rows), &self)),
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Horizons, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Horizons)
    }
}

impl<'de> Deserialize<'de> for Horizons {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(HorizonsVisitor)
    }
}

impl Serialize for Horizons {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [rows] => rows.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}
