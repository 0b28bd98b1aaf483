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

use super::rows::{Rows, Sequence};
use super::scaler::Scaler;
use crate::config::Augment;
use crate::random::{Purpose, stream, uniform};
use change::Change;
use channels::Channels;
use stretches::{Stretch, cut};

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
