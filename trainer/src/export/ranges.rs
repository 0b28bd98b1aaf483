//! Plausible ranges of the inputs: those of the training rows with a margin, or as the user says.

use anyhow::{Result, ensure};
use quaver::checkpoint::Contents;

use crate::data::{Dataset, Sequence};

/// Margin on each side of the training range, as a multiple of its width.
pub const DEFAULT_MARGIN: f32 = 0.5;

/// Rows per transform where training rows are augmented: short, so that there are many.
const AUGMENTED_ROWS: usize = 100;

/// How ranges are chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeOptions {
    /// Margin on each side of the training range, as a multiple of its width; infinite for no limits but
    /// those given.
    pub margin: f32,
    /// Ranges of single channels, in place of those of the training rows.
    pub given: Vec<RangeOverride>,
}

impl Default for RangeOptions {
    fn default() -> Self {
        RangeOptions { margin: DEFAULT_MARGIN, given: Vec::new() }
    }
}

/// The range of a channel as the user says.
#[derive(Clone, Debug, PartialEq)]
pub struct RangeOverride {
    /// Name of the channel.
    pub channel: String,
    /// Lower and upper limit, infinite where there is none.
    pub range: [f32; 2],
}

/// The plausible range of each input in raw units: lower and upper limit, infinite where there is none.
#[derive(Clone, Debug, PartialEq)]
pub struct InputRanges(pub Vec<[f32; 2]>);

impl InputRanges {
    /// Puts the ranges into the contents of a network that reads these inputs.
    pub(super) fn add_to(&self, contents: &mut Contents) {
        contents.spec.extensions.ranges = true;
        contents.input_range = self.0.as_flattened().to_vec();
    }
}

impl RangeOptions {
    /// The ranges of the inputs; nothing if none of them has a limit.
    ///
    /// Those of the training rows cover the rows as they are and as the first epoch met them: augmented, and
    /// with fresh noise. A channel that is constant in training, never present, or binary gets no limits.
    ///
    /// # Errors
    /// Names a channel that does not exist or is given twice.
    pub fn fit(&self, data: &Dataset) -> Result<Option<InputRanges>> {
        let names = &data.input_names;
        for (index, RangeOverride { channel, .. }) in self.given.iter().enumerate() {
            ensure!(
                names.contains(channel),
                "--range: there is no input `{channel}`; the inputs are {}",
                names.join(", ")
            );
            let again = self.given[..index].iter().any(|other| other.channel == *channel);
            ensure!(!again, "--range: `{channel}` is given twice; give each channel once");
        }
        let met = data.train_in(1, AUGMENTED_ROWS);
        let range = |(index, name): (usize, &String)| {
            let given = self.given.iter().find(|given| given.channel == *name);
            given.map_or_else(|| self.of_training(index, &[&data.train, &met]), |given| given.range)
        };
        let ranges: Vec<[f32; 2]> = names.iter().enumerate().map(range).collect();
        let limited = ranges.iter().flatten().any(|limit| limit.is_finite());
        Ok(limited.then_some(InputRanges(ranges)))
    }

    /// The range of a channel in training, with the margin on each side.
    fn of_training(&self, channel: usize, splits: &[&[Sequence]]) -> [f32; 2] {
        let rows = splits.iter().flat_map(|split| split.iter()).flat_map(|sequence| sequence.inputs.iter());
        let (mut low, mut high, mut binary) = (f32::INFINITY, f32::NEG_INFINITY, true);
        for value in rows.map(|row| row[channel]).filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
            binary &= value == 0.0 || value == 1.0;
        }
        if binary || low >= high {
            return [f32::NEG_INFINITY, f32::INFINITY];
        }
        let beyond = f64::from(self.margin) * (f64::from(high) - f64::from(low));
        // Beyond the range of f32 there is no limit, and −0 is 0: equal models are equal files.
        [f64::from(low) - beyond, f64::from(high) + beyond].map(|limit| limit as f32 + 0.0)
    }
}

#[cfg(test)]
mod tests;
