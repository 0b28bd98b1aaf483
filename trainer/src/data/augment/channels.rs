//! Channels that each transform of the augmentation applies to.

use crate::config::{AugmentConfig, ColumnPatterns, MirrorConfig};
use crate::data::table::listed;

/// Channels by index.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AugmentedChannels {
    /// Sensors with three axes.
    pub(super) rotate: Vec<[usize; 3]>,
    /// For every channel, the channel that a mirror image takes it from, and the sign.
    pub(super) mirror: Option<Vec<(usize, f32)>>,
    /// Channels in the order of the ring.
    pub(super) ring: Vec<usize>,
}

impl AugmentedChannels {
    /// Resolves names. The error names the invalid key and how to fix it.
    pub(super) fn find(config: &AugmentConfig, names: &[String]) -> Result<Self, String> {
        let ring = config.ring.as_ref().map(|ring| ring.places("data.augment.ring", names)).transpose()?;
        Ok(AugmentedChannels {
            rotate: rotated(&config.rotate, names)?,
            mirror: config.mirror.as_ref().map(|mirror| mirrored(mirror, names)).transpose()?,
            ring: ring.unwrap_or_default(),
        })
    }
}

fn rotated(sensors: &[ColumnPatterns], names: &[String]) -> Result<Vec<[usize; 3]>, String> {
    const KEY: &str = "data.augment.rotate";
    let mut all: Vec<[usize; 3]> = Vec::new();
    for sensor in sensors {
        let places = sensor.places(KEY, names)?;
        let axes: [usize; 3] = places.as_slice().try_into().map_err(|_| {
            let found = listed(&places.iter().map(|&place| names[place].clone()).collect::<Vec<_>>());
            format!(
                "{KEY}: a sensor has three axes, found {} ({found}); name each sensor on its own",
                places.len()
            )
        })?;
        if let Some(twice) = axes.iter().find(|axis| all.as_flattened().contains(axis)) {
            return Err(format!("{KEY}: input `{}` is named twice", names[*twice]));
        }
        all.push(axes);
    }
    Ok(all)
}

fn mirrored(mirror: &MirrorConfig, names: &[String]) -> Result<Vec<(usize, f32)>, String> {
    const SWAP: &str = "data.augment.mirror.swap";
    let mut takes: Vec<(usize, f32)> = (0..names.len()).map(|channel| (channel, 1.0)).collect();
    for pair in &mirror.swap {
        let [left, right] = [0, 1].map(|side| ColumnPatterns::one(&pair[side]).places(SWAP, names));
        let (left, right) = (left?, right?);
        if left.len() != right.len() {
            let [one, other] = pair;
            return Err(format!(
                "{SWAP}: `{one}` has {} inputs, but `{other}` has {}; both ranges must be equally long",
                left.len(),
                right.len()
            ));
        }
        for (one, other) in left.into_iter().zip(right) {
            for channel in [one, other] {
                if takes[channel].0 != channel || one == other {
                    return Err(format!("{SWAP}: input `{}` is named twice", names[channel]));
                }
            }
            (takes[one].0, takes[other].0) = (other, one);
        }
    }
    if !mirror.flip.is_empty() {
        for channel in ColumnPatterns::many(&mirror.flip).places("data.augment.mirror.flip", names)? {
            takes[channel].1 = -1.0;
        }
    }
    Ok(takes)
}
