//! Value of `data.noise`: noise added to clean recordings.

use serde::{Deserialize, Serialize};

/// Noise that is added to the inputs of every split: `noise = { db = 5.0 }`, or `noise = { on = 0.05 }` for rows of zeros and
/// ones. The clean rows are kept for scoring and, with `targets = "clean"`, for learning.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedNoiseConfig {
    /// White normal noise with this ratio of signal to noise in every channel, in decibels: its variance is that of the
    /// channel over the training split, times 10^(−db/10).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub db: Option<f64>,
    /// The probability with which each value becomes 1, whatever it was (Bayer and Osendorfer 2014, 4.2).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<f64>,
    /// Where the noise starts from; 1 unless given. It does not change with the seed of the config: all runs are to meet the
    /// same noise.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Whether training rows get other noise in every epoch; validation and test rows never do. Unless given, they do with
    /// `targets = "clean"`, where truth and noise are known apart, and do not with `targets = "next"`: a recording that comes
    /// with its noise has one draw of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fresh: Option<bool>,
}

fn first_seed() -> u64 {
    1
}

impl AddedNoiseConfig {
    /// What is wrong with the values, if anything.
    pub(super) fn invalid(&self) -> Option<&'static str> {
        match (self.db, self.on) {
            (Some(db), None) if !db.is_finite() => Some("needs a finite `db`"),
            (None, Some(p)) if !(p > 0.0 && p < 1.0) => Some("needs an `on` above 0 and below 1"),
            (Some(_), None) | (None, Some(_)) => None,
            _ => Some(
                "needs either `db`, a ratio of signal to noise in decibels, or `on`, a probability of ones",
            ),
        }
    }
}
