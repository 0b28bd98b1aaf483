//! Training rows as they might have been: turned, mirrored, faster, louder, elsewhere, on top of each other.
//!
//! A net learns by heart what never changes in its training data: which way up a sensor was mounted, that a walk turned left. What
//! could as well have been otherwise is drawn anew for every chunk of every epoch, so that there is nothing to remember. Rows to
//! validate on and to be judged by are never touched.

mod change;
mod channels;
mod stretches;
#[cfg(test)]
mod tests;

use rand_core::Rng;
use serde::{Deserialize, Serialize};

use super::data_config::Patterns;
use super::rows::{Rows, Sequence};
use super::scaler::Scaler;
use crate::nn::random::{Purpose, stream, uniform};
use change::Change;
use channels::Channels;
use stretches::{Stretch, cut};

/// The section `[data.augment]`: what is drawn anew for every chunk of training rows. Inputs change, and with them targets that are
/// inputs too (`"next"`, `"clean"`); targets that are other columns follow in time alone.
///
/// ```toml
/// [data.augment]
/// rotate = ["c4..c7", "c7..c10", "c10..c13"]      # an accelerometer, a gyroscope and a magnetometer on one board
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Augment {
    /// Sensors of three axes, each as three inputs in a list of its own or as a stretch such as `"c4..c7"`. All are turned by the
    /// same rotation, any one as likely as any other, as if the board had been mounted another way.
    pub rotate: Vec<Patterns>,
    /// Channels that change places, or signs, in a mirror. Half of all chunks are mirrored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
    /// Channels in a ring, such as the electrodes of an armband: turned by any number of places.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ring: Option<Patterns>,
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
pub struct Mirror {
    /// Pairs of channels, or of equally long stretches of channels, that change places.
    pub swap: Vec<[String; 2]>,
    /// Channels that change sign, about their means.
    pub flip: Vec<String>,
}

impl Augment {
    /// Largest value of the keys that are deviations or logarithms: e² and more is not the same recording.
    const MOST: f64 = 2.0;

    /// The key at fault and what is wrong with it, if anything.
    pub(crate) fn fault(&self) -> Option<(&'static str, String)> {
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
    pub(crate) fn unfit_for_binary(&self, targets_are_inputs: bool) -> Option<&'static str> {
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

/// What is done to the training rows of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Augmentation {
    asked: Augment,
    channels: Channels,
    inputs: Scaler,
    targets: Scaler,
    /// Whether the targets are inputs, and change with them.
    targets_are_inputs: bool,
}

impl Augmentation {
    /// Looks up the channels and measures the training rows, of which there must be some. The error names the key at fault.
    pub(crate) fn new(
        asked: &Augment,
        names: &[String],
        train: &[Sequence],
        targets_are_inputs: bool,
    ) -> Result<Self, String> {
        let clean = train.iter().map(|sequence| sequence.truth.as_ref().unwrap_or(&sequence.inputs).as_ref());
        let targets = train.iter().map(|sequence| sequence.targets.as_ref());
        Ok(Augmentation {
            asked: asked.clone(),
            channels: Channels::find(asked, names)?,
            inputs: Scaler::fit(names.len(), clean),
            targets: Scaler::fit(train.first().map_or(0, |first| first.targets.channels), targets),
            targets_are_inputs,
        })
    }

    /// Training sequences as an epoch meets them, counted from 1, in stretches of `rows` rows (0 for whole sequences), each with
    /// draws of its own. They depend on the seed and that number alone, so that a resumed run needs to know nothing else.
    pub fn on_epoch(&self, train: &[Sequence], epoch: u64, rows: usize) -> Vec<Sequence> {
        let mut stretches = Vec::new();
        for (index, sequence) in (0..).zip(train) {
            let seed = self.asked.seed.unwrap_or(1);
            let mut rng = stream(seed, Purpose::Augmentation { epoch, sequence: index });
            for stretch in cut(sequence.len(), rows, self.asked.speed, &mut rng) {
                let drawn = self.changed(sequence, stretch, &mut rng);
                stretches.push(self.blended(drawn, train, &mut rng));
            }
        }
        stretches
    }

    /// A stretch with changes of its own.
    fn changed(&self, sequence: &Sequence, stretch: Stretch, rng: &mut impl Rng) -> Sequence {
        let change = Change::draw(&self.asked, &self.channels, &self.inputs, rng);
        let input = |rows: &Rows| change.on(&stretch.of_rows(rows));
        let target = |rows: &Rows| if self.targets_are_inputs { input(rows) } else { stretch.of_rows(rows) };
        sequence.map(input, target)
    }

    /// With a stretch of any sequence on top that is as long, if there is one.
    fn blended(&self, below: Sequence, train: &[Sequence], rng: &mut impl Rng) -> Sequence {
        if self.asked.blend == 0.0 {
            return below;
        }
        let angle = uniform(rng) * self.asked.blend * std::f64::consts::FRAC_PI_2;
        let sign = if uniform(rng) < 0.5 { -1.0 } else { 1.0 };
        let other = &train[(uniform(rng) * train.len() as f64) as usize];
        let Some(stretch) = Stretch::anywhere(other.len(), below.len(), self.asked.speed, rng) else {
            return below;
        };
        let above = self.changed(other, stretch, rng);
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
