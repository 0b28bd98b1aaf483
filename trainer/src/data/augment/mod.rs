//! Data augmentation: training rows rotated, mirrored, warped in time, scaled, shifted and mixed.
//!
//! A network memorises what never varies in its training data, such as how a sensor was mounted or that every
//! walk turned left. Such properties are drawn at random for every chunk of every epoch. Validation and test
//! rows are never changed.

mod channels;
mod segments;
#[cfg(test)]
mod tests;
mod transform;

use rand_core::Rng;

use super::rows::{Rows, Sequence};
use super::scaler::Scaler;
use crate::config::AugmentConfig;
use crate::random::{Purpose, stream, uniform};
use channels::AugmentedChannels;
use segments::{Segment, cut};
use transform::ChannelTransform;

/// The augmentation of an experiment: its config, and statistics of the training rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmentation {
    config: AugmentConfig,
    channels: AugmentedChannels,
    inputs: Scaler,
    targets: Scaler,
    /// Whether the targets are inputs, and are transformed with them.
    targets_are_inputs: bool,
}

impl Augmentation {
    /// Resolves channel names and measures the training rows, of which there must be some. The error names
    /// the invalid key.
    pub(crate) fn new(
        config: &AugmentConfig,
        names: &[String],
        train: &[Sequence],
        targets_are_inputs: bool,
    ) -> Result<Self, String> {
        let clean = train.iter().map(|sequence| sequence.truth.as_ref().unwrap_or(&sequence.inputs).as_ref());
        let targets = train.iter().map(|sequence| sequence.targets.as_ref());
        Ok(Augmentation {
            config: config.clone(),
            channels: AugmentedChannels::find(config, names)?,
            inputs: Scaler::fit(names.len(), clean),
            targets: Scaler::fit(train.first().map_or(0, |first| first.targets.channels), targets),
            targets_are_inputs,
        })
    }

    /// The training sequences of an epoch, counted from 1, in segments of `rows` rows (0 for whole
    /// sequences), each with its own transform. Transforms depend only on the seed and the epoch, so that a
    /// resumed run gets the same ones.
    pub fn on_epoch(&self, train: &[Sequence], epoch: u64, rows: usize) -> Vec<Sequence> {
        let mut segments = Vec::new();
        for (index, sequence) in (0..).zip(train) {
            let seed = self.config.seed.unwrap_or(1);
            let mut rng = stream(seed, Purpose::Augmentation { epoch, sequence: index });
            for segment in cut(sequence.len(), rows, self.config.speed, &mut rng) {
                let drawn = self.changed(sequence, segment, &mut rng);
                segments.push(self.blended(drawn, train, &mut rng));
            }
        }
        segments
    }

    /// A segment with a random transform.
    fn changed(&self, sequence: &Sequence, segment: Segment, rng: &mut impl Rng) -> Sequence {
        let transform = ChannelTransform::random(&self.config, &self.channels, &self.inputs, rng);
        let input = |rows: &Rows| transform.on(&segment.resample(rows));
        let target = |rows: &Rows| if self.targets_are_inputs { input(rows) } else { segment.resample(rows) };
        sequence.map(input, target)
    }

    /// The sequence mixed with a segment of equal length from a random sequence, if one is long enough.
    fn blended(&self, below: Sequence, train: &[Sequence], rng: &mut impl Rng) -> Sequence {
        if self.config.blend == 0.0 {
            return below;
        }
        let angle = uniform(rng) * self.config.blend * std::f64::consts::FRAC_PI_2;
        let sign = if uniform(rng) < 0.5 { -1.0 } else { 1.0 };
        let other = &train[(uniform(rng) * train.len() as f64) as usize];
        let Some(segment) = Segment::anywhere(other.len(), below.len(), self.config.speed, rng) else {
            return below;
        };
        let above = self.changed(other, segment, rng);
        let shares = [libm::cos(angle) as f32, (sign * libm::sin(angle)) as f32];
        below.with(
            &above,
            |one, other| mixed(shares, &self.inputs, one, other),
            |one, other| {
                mixed(shares, if self.targets_are_inputs { &self.inputs } else { &self.targets }, one, other)
            },
        )
    }
}

/// m + a (x − m) + b (y − m), with the mean m of every channel.
fn mixed([a, b]: [f32; 2], scaler: &Scaler, one: &Rows, other: &Rows) -> Rows {
    let mix = |(place, (x, y)): (usize, (&f32, &f32))| {
        let mean = scaler.mean[place % one.channels];
        mean + a * (x - mean) + b * (y - mean)
    };
    Rows {
        channels: one.channels,
        values: one.values.iter().zip(&other.values).enumerate().map(mix).collect(),
    }
}
