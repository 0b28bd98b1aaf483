//! One step of each recurrence on moments.

mod activations;
mod elman;
mod lstm;
mod noise;
mod packed;
mod transfer;

pub(crate) use activations::{Activations, PackedInput, PackedUnit};
pub(crate) use elman::elman_step;
pub(crate) use lstm::lstm_step;
pub(crate) use noise::with_noise;
pub(crate) use packed::{
    CELL_LIMIT, PreActivation, group_means, group_moments, packed_elman_step, packed_lstm_step,
};
pub(crate) use transfer::{sigmoid, transfer};

use crate::moments::Moments;

/// Largest magnitude of a unit's mean, and root of its largest variance.
///
/// Saturating units never get there. It keeps an unstable net of rectifiers, or a cell that counts for weeks,
/// inside the finite range.
pub(crate) const UNIT_LIMIT: f32 = 1e6;

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
