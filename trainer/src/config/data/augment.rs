//! The section `[data.augment]`: data augmentation.

use serde::{Deserialize, Serialize};

use super::columns::ColumnPatterns;
use super::missing::Missing;
use crate::config::limits::{InvalidValue, Limits, Rule, check_rules};

/// The section `[data.augment]`: random transforms of the training rows, drawn independently for every chunk
/// in every epoch. They apply to the inputs, and to targets that are inputs (`"next"`, `"clean"`); targets in
/// other columns follow in time only.
///
/// ```toml
/// [data.augment]
/// rotate = ["c4..c7", "c7..c10", "c10..c13"]      # accelerometer, gyroscope and magnetometer of one board
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AugmentConfig {
    /// Sensors with three axes, each a list of three inputs or a range such as `"c4..c7"`. All are rotated by
    /// the same uniformly distributed rotation, as if the board had been mounted differently.
    pub rotate: Vec<ColumnPatterns>,
    /// Channels that a mirror image swaps, or whose sign it flips. Half of all chunks are mirrored.
    pub mirror: Option<MirrorConfig>,
    /// Channels on a ring, such as the electrodes of an armband: rotated by a random number of places.
    pub ring: Option<ColumnPatterns>,
    /// Most places that the ring is rotated by, either way, as a band that is put on with care; any number if
    /// not set.
    pub ring_places: Option<u16>,
    /// Standard deviation of the logarithm of a gain that all channels share, and of a further one per
    /// channel.
    pub gain: f64,
    /// Standard deviation of an offset per channel, in standard deviations of that channel.
    pub shift: f64,
    /// Time warping: speed factors between e^−speed and e^speed, with linear interpolation between rows.
    pub speed: f64,
    /// Mixing with another chunk around the means, cos φ · x ± sin φ · y, with φ up to `blend` right angles.
    /// Keeps the covariances, within a row and in time, and destroys what identifies a single recording.
    pub blend: f64,
    /// Gaps in the inputs, so that a model learns to do without a channel; targets are kept. If not set,
    /// predictors with at least two real-valued inputs learn with the default gaps in those; `"off"` switches
    /// them off. Latent models have `latent.max_gap` instead.
    pub missing: Option<Missing>,
    /// Seed of the transforms and gaps; 1 if not set.
    pub seed: Option<u64>,
}

/// The table `data.augment.mirror`. A channel that takes the place of another also takes over its mean and
/// standard deviation: its standardised value is kept.
///
/// ```toml
/// mirror = { swap = [["left", "right"]], flip = ["roll", "yaw"] }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MirrorConfig {
    /// Pairs of channels, or of equally long ranges of channels, that are swapped.
    pub swap: Vec<[String; 2]>,
    /// Channels whose sign is flipped about their mean.
    pub flip: Vec<String>,
}

/// Largest standard deviation of a logarithm: a factor of e² and more is not the same recording.
const MAX_LOG: f64 = 2.0;

impl AugmentConfig {
    pub(in crate::config) const RULES: [Rule<Self>; 4] = [
        Rule::new("gain", Limits::closed(0.0, MAX_LOG), |augment| vec![augment.gain]),
        Rule::new("shift", Limits::closed(0.0, MAX_LOG), |augment| vec![augment.shift]),
        Rule::new("speed", Limits::closed(0.0, MAX_LOG), |augment| vec![augment.speed]),
        Rule::new("blend", Limits::closed(0.0, 1.0), |augment| vec![augment.blend]),
    ];

    pub(super) fn check(&self) -> Result<(), InvalidValue> {
        check_rules("data.augment", self, &Self::RULES)?;
        self.missing.as_ref().map_or(Ok(()), Missing::check)
    }

    /// Whether rows are transformed: the section is empty or has more keys than those of gaps.
    pub(crate) fn transforms_rows(&self) -> bool {
        let others = AugmentConfig { missing: None, seed: None, ..self.clone() };
        self.missing.is_none() || others != AugmentConfig::default()
    }

    /// The first transform in use that turns zeros and ones into other numbers.
    pub(super) fn unfit_for_binary(&self, targets_are_inputs: bool) -> Option<&'static str> {
        let keys = [
            ("data.augment.speed", self.speed > 0.0, true),
            ("data.augment.blend", self.blend > 0.0, true),
            ("data.augment.gain", self.gain > 0.0, targets_are_inputs),
            ("data.augment.shift", self.shift > 0.0, targets_are_inputs),
            ("data.augment.rotate", !self.rotate.is_empty(), targets_are_inputs),
            ("data.augment.mirror", self.mirror.is_some(), targets_are_inputs),
            ("data.augment.ring", self.ring.is_some(), targets_are_inputs),
        ];
        keys.into_iter().find(|(_, used, unfit)| *used && *unfit).map(|(key, ..)| key)
    }
}
