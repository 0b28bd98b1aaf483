//! The map of a model as it is written: which fields of which topics are its channels.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Deserialize;

/// A map, as in its file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Map {
    /// Steps per second.
    pub(crate) rate: Option<f64>,
    /// The topic whose messages are steps, instead of a rate.
    pub(crate) on: Option<String>,
    /// Channels that have no source.
    #[serde(default)]
    pub(crate) missing: Vec<String>,
    /// What is read.
    #[serde(default, rename = "topic")]
    pub(crate) topics: Vec<Topic>,
    /// What is published besides the predictions.
    #[serde(default, rename = "publish")]
    pub(crate) publications: Vec<Publication>,
}

/// A topic that is read.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Topic {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    /// Seconds after which a value is missing.
    pub(crate) timeout: Option<f64>,
    /// Whether lost messages are sent again; does not fit publishers of sensor data.
    #[serde(default)]
    pub(crate) reliable: bool,
    /// Field of every channel.
    pub(crate) channels: Option<BTreeMap<String, String>>,
    /// Factors from the unit of a message to that of the model, by channel.
    #[serde(default)]
    pub(crate) scale: BTreeMap<String, f64>,
}

/// A message of a standard type made of outputs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Publication {
    pub(crate) topic: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) frame_id: Option<String>,
    /// The topic whose last message has what the model does not estimate.
    pub(crate) copy: Option<String>,
    /// Field of every output.
    pub(crate) outputs: BTreeMap<String, String>,
    /// Factors from the unit of the model to that of the message, by output.
    #[serde(default)]
    pub(crate) scale: BTreeMap<String, f64>,
}

impl Map {
    /// Reads a map.
    ///
    /// # Errors
    /// If it is not TOML, or has other keys.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        toml::from_str(text).context("it is no map of topics to channels")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_and_forgotten_keys_are_named() {
        let error = |text| format!("{:#}", Map::parse(text).expect_err("no map"));
        assert!(error("rat = 100").contains("rat"));
        assert!(error("[[topic]]\nname = \"/imu\"").contains("type"));
        assert!(error("rate = \"fast\"").contains("rate"));
        assert!(error("[[topic]]\nname = \"/a\"\ntype = \"b\"\nchannels = { x = 1 }").contains("channels"));
    }
}
