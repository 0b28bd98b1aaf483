//! Random transform of the channels of one segment.

use rand_core::Rng;

use super::channels::AugmentedChannels;
use crate::config::AugmentConfig;
use crate::data::rows::Rows;
use crate::data::scaler::Scaler;
use crate::random::{normal, uniform};

/// One draw: a rotation of axes, a permutation with signs, then a gain and an offset per channel.
#[derive(Debug)]
pub(super) struct ChannelTransform<'a> {
    sensors: &'a [[usize; 3]],
    rotation: [[f32; 3]; 3],
    scaler: &'a Scaler,
    /// For every channel, the channel it is taken from and the sign.
    places: Vec<(usize, f32)>,
    gains: Vec<f32>,
    shifts: Vec<f32>,
}

impl<'a> ChannelTransform<'a> {
    pub(super) fn random(
        config: &AugmentConfig,
        channels: &'a AugmentedChannels,
        scaler: &'a Scaler,
        rng: &mut impl Rng,
    ) -> Self {
        let rotation = if channels.rotate.is_empty() { [[0.0; 3]; 3] } else { random_rotation(rng) };
        let shared = if config.gain > 0.0 { config.gain * normal(rng) } else { 0.0 };
        let gain =
            |_| if config.gain > 0.0 { libm::exp(shared + config.gain * normal(rng)) as f32 } else { 1.0 };
        let gains = (0..scaler.channels()).map(gain).collect();
        let shift = |std_dev: &f32| {
            if config.shift > 0.0 { (config.shift * normal(rng)) as f32 * std_dev } else { 0.0 }
        };
        let shifts = scaler.std_dev.iter().map(shift).collect();
        ChannelTransform {
            sensors: &channels.rotate,
            rotation,
            scaler,
            places: places(channels, config.ring_places, scaler, rng),
            gains,
            shifts,
        }
    }

    /// The transformed rows. A missing value stays missing; if one axis of a rotated sensor is missing, all
    /// three are.
    pub(super) fn on(&self, rows: &Rows) -> Rows {
        let mut changed = Rows::new(rows.channels);
        changed.values.reserve_exact(rows.values.len());
        let mut row = vec![0.0; rows.channels];
        for from in rows.iter() {
            row.copy_from_slice(from);
            for &axes in self.sensors {
                let old = axes.map(|axis| from[axis]);
                for (axis, weights) in axes.into_iter().zip(&self.rotation) {
                    row[axis] = weights.iter().zip(old).map(|(weight, value)| weight * value).sum();
                }
            }
            changed.values.extend((0..rows.channels).map(|channel| self.value(&row, channel)));
        }
        changed
    }

    fn value(&self, row: &[f32], channel: usize) -> f32 {
        let (place, sign) = self.places[channel];
        let value = match (place == channel, sign > 0.0) {
            (true, true) => row[channel],
            _ => self.scaler.unstandardise(channel, sign * self.scaler.standardise(place, row[place])),
        };
        self.gains[channel] * value + self.shifts[channel]
    }
}

/// The mirror image with probability ½, then the ring rotated by a random number of places, at most `most`
/// either way.
fn places(
    channels: &AugmentedChannels,
    most: Option<u16>,
    scaler: &Scaler,
    rng: &mut impl Rng,
) -> Vec<(usize, f32)> {
    let plain = || (0..scaler.channels()).map(|channel| (channel, 1.0)).collect::<Vec<_>>();
    let mut places = match &channels.mirror {
        Some(mirror) if uniform(rng) < 0.5 => mirror.clone(),
        _ => plain(),
    };
    let ring = &channels.ring;
    if !ring.is_empty() {
        // All places once, or those from −most to most, counted from −most.
        let (turns, first) = match most.map(usize::from) {
            Some(most) if 2 * most + 1 < ring.len() => (2 * most + 1, ring.len() - most),
            _ => (ring.len(), 0),
        };
        let turn = first + (uniform(rng) * turns as f64) as usize;
        let before = places.clone();
        for (index, &channel) in ring.iter().enumerate() {
            places[channel] = before[ring[(index + turn) % ring.len()]];
        }
    }
    places
}

/// A uniformly distributed rotation: that of a normalised quaternion of four normal variates (Muller 1959).
fn random_rotation(rng: &mut impl Rng) -> [[f32; 3]; 3] {
    let quaternion = [(); 4].map(|()| normal(rng));
    let norm = quaternion.iter().map(|part| part * part).sum::<f64>().sqrt();
    let [w, x, y, z] = quaternion.map(|part| part / norm);
    [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - w * z), 2.0 * (x * z + w * y)],
        [2.0 * (x * y + w * z), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - w * x)],
        [2.0 * (x * z - w * y), 2.0 * (y * z + w * x), 1.0 - 2.0 * (x * x + y * y)],
    ]
    .map(|row| row.map(|weight| weight as f32))
}
