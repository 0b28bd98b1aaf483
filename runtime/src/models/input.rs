//! From a raw row to the standardised moments that the first layer reads.

use super::latent::DecoderInput;
use crate::cells::UNIT_LIMIT;
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

    /// Moments in units of the training data's mean and deviation, kept inside the finite range.
    pub(super) fn standardised(self, mean: f32, std_dev: f32) -> Moments {
        // Nearly every reading is certain, and a division is dear where it is emulated.
        let var = if self.var == 0.0 { 0.0 } else { self.var / std_dev / std_dev };
        limited(Moments { mean: (self.value - mean) / std_dev, var })
    }
}

/// A standardised input, kept inside the finite range.
pub(super) fn limited(input: Moments) -> Moments {
    let mean = input.mean.clamp(-UNIT_LIMIT, UNIT_LIMIT);
    Moments { mean, var: at_most(input.var, UNIT_LIMIT * UNIT_LIMIT) }
}

/// The row that outputs are added to, if they are changes.
#[derive(Clone, Copy, Debug)]
pub(super) enum LastRow<'r> {
    /// In raw units; before the first one, the training mean.
    Raw(Option<&'r RawRow<'r>>),
    /// In units of the training data, gaps filled in: the first of what is fed.
    Standardised(&'r DecoderInput<'r>),
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
