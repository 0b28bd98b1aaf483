//! From a raw row to the standardised moments that the first layer reads.

use crate::cells::UNIT_LIMIT;
use crate::checkpoint::F32s;
use crate::moments::{Moments, at_most};

/// What is known of one channel of the sample: raw value and raw variance, or nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    value: f32,
    var: f32,
}

impl Reading {
    /// A value that is not a finite number counts as missing; a variance that makes no sense as none.
    pub(super) fn new(value: f32, var: f32) -> Option<Self> {
        let var = if var > 0.0 { at_most(var, f32::MAX) } else { 0.0 };
        value.is_finite().then_some(Reading { value, var })
    }

    /// The raw value.
    pub(super) fn value(self) -> f32 {
        self.value
    }

    /// Moments in units of the training data's mean and deviation.
    #[inline(always)]
    fn standardised(self, mean: f32, std: f32) -> Moments {
        // Nearly every reading is certain, and a division is dear where it is emulated.
        let var = if self.var == 0.0 { 0.0 } else { self.var / std / std };
        Moments { mean: (self.value - mean) / std, var }
    }
}

/// A source of readings: row values, with or without variances. Channels beyond its end are missing.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawRow<'r> {
    pub(super) values: &'r [f32],
    pub(super) vars: &'r [f32],
}

impl RawRow<'_> {
    pub(super) fn reading(&self, channel: usize) -> Option<Reading> {
        let value = self.values.get(channel)?;
        Reading::new(*value, self.vars.get(channel).copied().unwrap_or(0.0))
    }
}

/// The inputs of one step: what the row says, and what stands in where it says nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepInputs<'a> {
    /// Nothing before the first sample: then each input is its training mean with no doubt about it, as in training.
    pub(super) row: Option<RawRow<'a>>,
    /// What was predicted of the inputs, as mean and both parts of the variance; empty if the model predicts something else.
    pub(super) predicted: [&'a [f32]; 3],
    /// The training data's mean and deviation.
    pub(super) mean: F32s<'a>,
    pub(super) std: F32s<'a>,
}

impl StepInputs<'_> {
    /// The first `channels` inputs, standardised and kept inside the finite range.
    pub(super) fn limited(&self, channels: u16) -> impl Iterator<Item = Moments> {
        (0..channels.into()).map(|channel| {
            let input = self.at(channel);
            let mean = input.mean.clamp(-UNIT_LIMIT, UNIT_LIMIT);
            Moments { mean, var: at_most(input.var, UNIT_LIMIT * UNIT_LIMIT) }
        })
    }

    /// The first `channels` inputs, standardised, two at a time; what stands beside the last of an odd number means nothing.
    #[inline(always)]
    pub(super) fn pairs(&self, channels: u16) -> impl Iterator<Item = [Moments; 2]> {
        // Nearly all are there and certain; any doubt is for the slow path.
        let values = self.row.filter(|row| row.vars.is_empty()).map_or(&[][..], |row| row.values);
        let mut simple = values.as_chunks::<2>().0.iter().zip(self.mean.pairs()).zip(self.std.pairs());
        let pairs = 0..usize::from(channels.div_ceil(2));
        pairs.map(move |index| match simple.next() {
            Some(((values, mean), std)) if values[0].is_finite() && values[1].is_finite() => {
                [0, 1].map(|place| {
                    Reading { value: values[place], var: 0.0 }.standardised(mean[place], std[place])
                })
            }
            _ => self.any_pair(index),
        })
    }

    #[inline(never)] // rare, and the common case is short of registers
    fn any_pair(&self, index: usize) -> [Moments; 2] {
        [self.at(2 * index), self.at(2 * index + 1)]
    }

    fn at(&self, channel: usize) -> Moments {
        let Some(row) = self.row else { return Moments::default() };
        match row.reading(channel).or_else(|| self.stand_in(channel)) {
            Some(reading) => reading.standardised(self.mean.at(channel), self.std.at(channel)),
            // The training mean and variance.
            None => Moments { mean: 0.0, var: 1.0 },
        }
    }

    fn stand_in(&self, channel: usize) -> Option<Reading> {
        let [mean, epistemic, aleatoric] = self.predicted.map(|values| values.get(channel).copied());
        Reading::new(mean?, at_most(epistemic? + aleatoric?, f32::MAX))
    }
}
