//! The section `[data.augment]`: how training rows are changed.

use serde::{Deserialize, Serialize};

use super::columns::ColumnPatterns;

/// The section `[data.augment]`: what is drawn anew for every chunk of training rows. Inputs change, and with them targets that are
/// inputs too (`"next"`, `"clean"`); targets that are other columns follow in time alone.
///
/// ```toml
/// [data.augment]
/// rotate = ["c4..c7", "c7..c10", "c10..c13"]      # an accelerometer, a gyroscope and a magnetometer on one board
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AugmentConfig {
    /// Sensors of three axes, each as three inputs in a list of its own or as a stretch such as `"c4..c7"`. All are turned by the
    /// same rotation, any one as likely as any other, as if the board had been mounted another way.
    pub rotate: Vec<ColumnPatterns>,
    /// Channels that change places, or signs, in a mirror. Half of all chunks are mirrored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<MirrorConfig>,
    /// Channels in a ring, such as the electrodes of an armband: turned by any number of places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<ColumnPatterns>,
    /// Deviation of the logarithm of a gain that all channels share, and of one that each has on top of it; 0 unless given.
    pub gain: f64,
    /// Deviation of an offset of each channel, in deviations of that channel; 0 unless given.
    pub shift: f64,
    /// How much faster or slower time may run: by a factor between e^−speed and e^speed; 0 unless given. Rows in between are
    /// on straight lines.
    pub speed: f64,
    /// How much of another chunk may be put on top, about the means: cos φ · x ± sin φ · y with φ up to so many right angles; 0 unless
    /// given. The covariances stay as they are, within a row and in time; what goes is what only a whole recording could tell.
    pub blend: f64,
    /// Where the draws start from; 1 unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// Value of `data.augment.mirror`. A channel that takes the place of another takes over its mean and deviation too: what counts is
/// how far it is from its own mean, in its own deviations.
///
/// ```toml
/// mirror = { swap = [["left", "right"]], flip = ["roll", "yaw"] }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MirrorConfig {
    /// Pairs of channels, or of equally long stretches of channels, that change places.
    pub swap: Vec<[String; 2]>,
    /// Channels that change sign, about their means.
    pub flip: Vec<String>,
}

impl AugmentConfig {
    /// Largest value of the keys that are deviations or logarithms: e² and more is not the same recording.
    const MOST: f64 = 2.0;

    /// The key at fault and what is wrong with it, if anything.
    pub(super) fn invalid(&self) -> Option<(&'static str, String)> {
        let sizes = [
            ("data.augment.gain", self.gain, Self::MOST),
            ("data.augment.shift", self.shift, Self::MOST),
            ("data.augment.speed", self.speed, Self::MOST),
            ("data.augment.blend", self.blend, 1.0),
        ];
        let wrong = sizes.into_iter().find(|(_, value, most)| !(0.0..=*most).contains(value));
        wrong.map(|(key, value, most)| (key, format!("must be between 0 and {most}, found {value}")))
    }

    /// The first key that makes other numbers of zeros and ones, given whether the targets are inputs.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_name_the_key() {
        let invalid = |asked: AugmentConfig| asked.invalid().map(|(key, problem)| format!("{key} {problem}"));
        assert_eq!(
            invalid(AugmentConfig { blend: 1.5, ..AugmentConfig::default() }).as_deref(),
            Some("data.augment.blend must be between 0 and 1, found 1.5")
        );
        assert!(invalid(AugmentConfig { gain: f64::NAN, ..AugmentConfig::default() }).is_some());
        assert_eq!(invalid(AugmentConfig { speed: 0.2, ..AugmentConfig::default() }), None);
    }
}
