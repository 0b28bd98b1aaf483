//! The table `data.noise`: noise added to clean recordings.

use serde::{Deserialize, Serialize};

use crate::config::limits::{InvalidValue, Limits, Rule, check_rules, invalid, optional};

/// The table `data.noise`: noise added to the inputs of every split, `noise = { snr_db = 5.0 }` for real
/// values or `noise = { on = 0.05 }` for zeros and ones. The clean rows are kept for scoring and, with
/// `targets = "clean"`, as targets. Exactly one of `snr_db` and `on` is needed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AddedNoiseConfig {
    /// White Gaussian noise with this signal-to-noise ratio in every channel, in decibels: its variance is
    /// the channel's variance over the training split, times 10^(−snr_db/10).
    pub snr_db: Option<f64>,
    /// Probability with which each value is set to 1 (Bayer and Osendorfer 2014, 4.2).
    pub on: Option<f64>,
    /// Seed of the noise. It is independent of the config's `seed`, so that all runs get the same noise.
    #[serde(default = "first_seed")]
    pub seed: u64,
    /// Whether training rows get different noise in every epoch; validation and test rows never do. If not
    /// set, true with `targets = "clean"`, and false with `targets = "next"`, where a recording comes with
    /// one draw of noise.
    pub fresh: Option<bool>,
}

fn first_seed() -> u64 {
    1
}

impl AddedNoiseConfig {
    pub(in crate::config) const RULES: [Rule<Self>; 2] = [
        Rule::new("snr_db", Limits::FINITE, |noise| optional(noise.snr_db)),
        Rule::new("on", Limits::FRACTION, |noise| optional(noise.on)),
    ];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        check_rules("data.noise", self, &Self::RULES)?;
        if self.snr_db.is_some() == self.on.is_some() {
            let problem =
                "needs either `snr_db`, a signal-to-noise ratio in decibels, or `on`, a probability of ones";
            return Err(invalid("data.noise", problem));
        }
        Ok(())
    }
}
