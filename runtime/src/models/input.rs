//! From a raw row to the standardised moments that the first layer reads.

use super::implausible::ImplausibleChannels;
use super::input_density::ImputedRow;
use crate::moments::{Moments, at_most};

/// One channel of a sample in raw units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    value: f32,
    var: f32,
}

impl Reading {
    /// `None` for a value that is not finite: a missing channel. An invalid variance counts as zero.
    pub(super) fn new(value: f32, var: f32) -> Option<Self> {
        let var = if var > 0.0 { at_most(var, f32::MAX) } else { 0.0 };
        value.is_finite().then_some(Reading { value, var })
    }

    /// The raw value.
    pub(super) fn value(self) -> f32 {
        self.value
    }

    /// Moments in units of the training data's mean and standard deviation, kept inside the finite range.
    pub(super) fn standardised(self, mean: f32, std_dev: f32) -> Moments {
        // Nearly every reading is deterministic, and a division is expensive where it is emulated.
        let var = if self.var == 0.0 { 0.0 } else { self.var / std_dev / std_dev };
        Moments { mean: (self.value - mean) / std_dev, var }.limited()
    }
}

/// The row that residual outputs are added to.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResidualBase<'r> {
    /// In raw units, and standardised with gaps imputed where the model has an input density. Before the
    /// first row, the training mean and variance: nothing is known of it.
    Raw(Option<&'r RawRow<'r>>, ImputedRow<'r>),
    /// In standardised units, gaps imputed.
    Standardised { mean: &'r [f32], var: &'r [f32] },
}

/// Values of a row, with or without variances. Channels beyond its end are missing, and so are implausible
/// ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawRow<'r> {
    pub(super) values: &'r [f32],
    pub(super) vars: &'r [f32],
    /// Empty if all channels are plausible.
    pub(super) implausible: ImplausibleChannels<'r>,
    /// The channel that is 1 while all others are 0, for a row without values of its own.
    token: Option<usize>,
}

impl<'r> RawRow<'r> {
    pub(super) fn new(values: &'r [f32], vars: &'r [f32], implausible: ImplausibleChannels<'r>) -> Self {
        RawRow { values, vars, implausible, token: None }
    }

    /// A row that is not compared with plausible ranges.
    pub(super) fn unchecked(values: &'r [f32]) -> Self {
        RawRow::new(values, &[], ImplausibleChannels::default())
    }

    /// The one-hot row of a token, which is never built.
    pub(super) fn of_token(token: usize) -> Self {
        RawRow { token: Some(token), ..RawRow::unchecked(&[]) }
    }

    /// Whether it has values alone, neither variances nor implausible channels, as nearly all rows.
    #[inline(always)]
    pub(super) fn is_plain(&self) -> bool {
        self.vars.is_empty() && self.implausible.is_empty() && self.token.is_none()
    }

    // Once in flash, and no loop over channels with and without tokens.
    #[cfg_attr(feature = "small-code", inline(never))]
    pub(super) fn reading(&self, channel: usize) -> Option<Reading> {
        if let Some(token) = self.token {
            return Reading::new(if channel == token { 1.0 } else { 0.0 }, 0.0);
        }
        let value = self.values.get(channel).filter(|_| !self.implausible.contains(channel))?;
        Reading::new(*value, self.vars.get(channel).copied().unwrap_or(0.0))
    }
}
