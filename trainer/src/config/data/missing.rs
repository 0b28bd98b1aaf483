//! The key `data.augment.missing`: gaps in the inputs of training rows.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::config::limits::{InvalidValue, Limits, Rule, check_rules, invalid};

/// Value of `data.augment.missing`: a table, `"on"` (or `true`) for a table of defaults, or `"off"` (or
/// `false`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Missing {
    /// Training rows are left as they are.
    Off,
    /// Training rows get gaps.
    On(MissingConfig),
}

/// The table `data.augment.missing`: inputs that are removed from training rows, so that a model learns to do
/// without them. Targets are kept. Gaps differ between chunks and epochs.
///
/// ```toml
/// missing = { chunks = 0.5, channels = 0.75, whole = 0.5, rows = [5, 0] }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MissingConfig {
    /// Fraction of the chunks that have gaps.
    pub chunks: f64,
    /// Largest fraction of the channels that have gaps in one chunk. Their number is uniform, from one
    /// channel up to this fraction, rounded.
    pub channels: f64,
    /// Fraction of the chunks with gaps in which the gaps are as long as the chunk: a channel that stays away
    /// for long. In the others, every such channel has one gap of its own.
    pub whole: f64,
    /// Shortest and longest gap in rows, 0 for the length of the chunk. The logarithm of a length is uniform
    /// between them.
    pub rows: [usize; 2],
}

impl Default for MissingConfig {
    fn default() -> Self {
        MissingConfig { chunks: 0.5, channels: 0.75, whole: 0.5, rows: [5, 0] }
    }
}

impl MissingConfig {
    pub(in crate::config) const RULES: [Rule<Self>; 3] = [
        Rule::new("chunks", Limits::KEEP, |missing| vec![missing.chunks]),
        Rule::new("channels", Limits::KEEP, |missing| vec![missing.channels]),
        Rule::new("whole", Limits::closed(0.0, 1.0), |missing| vec![missing.whole]),
    ];
}

impl Missing {
    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        let Missing::On(config) = self else { return Ok(()) };
        check_rules("data.augment.missing", config, &MissingConfig::RULES)?;
        let [shortest, longest] = config.rows;
        if shortest == 0 || (longest != 0 && longest < shortest) {
            let problem = format!(
                "must be a shortest gap of 1 or above and a longest one that is not shorter (0 for the \
                 length of a chunk), found [{shortest}, {longest}]"
            );
            return Err(invalid("data.augment.missing.rows", problem));
        }
        Ok(())
    }
}

impl Serialize for Missing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Missing::Off => serializer.serialize_str("off"),
            Missing::On(config) => config.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Missing {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(MissingVisitor)
    }
}

struct MissingVisitor;

impl<'de> Visitor<'de> for MissingVisitor {
    type Value = Missing;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"off\", \"on\", or a table such as { chunks = 0.5, channels = 0.75 }")
    }

    fn visit_bool<E>(self, on: bool) -> Result<Missing, E> {
        Ok(if on { Missing::On(MissingConfig::default()) } else { Missing::Off })
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Missing, E> {
        match name {
            "on" => self.visit_bool(true),
            "off" => self.visit_bool(false),
            _ => Err(E::invalid_value(serde::de::Unexpected::Str(name), &self)),
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<Missing, A::Error> {
        MissingConfig::deserialize(MapAccessDeserializer::new(table)).map(Missing::On)
    }
}
