//! The table `data.bag`: rows from topics.

use serde::{Deserialize, Serialize};

use crate::config::limits::{InvalidValue, Limits, Rule, check_rules, invalid};

/// The table `data.bag`: how the topics of ROS 2 bags (`.mcap`) become rows. A row is a message of one topic,
/// the clock; other topics contribute their last message before it. Time is that of `header.stamp` where
/// there is one, and otherwise when a message was logged.
///
/// ```toml
/// bag = { clock = "/imu", max_age = 0.1 }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BagConfig {
    /// Topic whose messages are the rows. If not set, that of the first input.
    pub clock: Option<String>,
    /// Age in seconds from which on the last message of another topic counts as missing.
    pub max_age: f64,
}

impl Default for BagConfig {
    fn default() -> Self {
        BagConfig { clock: None, max_age: 0.5 }
    }
}

impl BagConfig {
    pub(in crate::config) const RULES: [Rule<Self>; 1] =
        [Rule::new("max_age", Limits::POSITIVE, |bag| vec![bag.max_age])];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        check_rules("data.bag", self, &Self::RULES)?;
        if self.clock.as_ref().is_some_and(|clock| clock.trim_start_matches('/').is_empty()) {
            return Err(invalid("data.bag.clock", "must be the name of a topic, such as \"/imu\""));
        }
        Ok(())
    }
}
