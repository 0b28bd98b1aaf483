//! Recurrences in floating point, for the plain layout.

mod elman;
mod lstm;
mod transfer;

pub(crate) use elman::elman_step;
pub(crate) use lstm::lstm_step;
pub(crate) use transfer::sigmoid;

use super::UNIT_LIMIT;
use crate::moments::Moments;

/// State of the units of one layer: means and variances side by side.
pub(crate) struct Units<'a> {
    pub(crate) mean: &'a mut [f32],
    pub(crate) var: &'a mut [f32],
}

/// Iterates over units as (mean, variance) places.
impl<'a> Units<'a> {
    /// The units of a block of words: first all means, then all variances.
    pub(crate) fn new(words: &'a mut [f32]) -> Self {
        let half = words.len() / 2;
        let (mean, var) = words.split_at_mut_checked(half).unwrap_or_default();
        Units { mean, var }
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&mut f32, &mut f32)> {
        self.mean.iter_mut().zip(self.var.iter_mut())
    }
}

/// Keeps a unit's moments inside the limits.
fn limited(unit: Moments) -> Moments {
    Moments { mean: unit.mean.clamp(-UNIT_LIMIT, UNIT_LIMIT), var: unit.var.min(UNIT_LIMIT * UNIT_LIMIT) }
}
