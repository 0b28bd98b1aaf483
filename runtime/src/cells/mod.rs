//! One step of each recurrence on moments.

#[cfg(feature = "packed")]
mod activations;
mod inputs;
#[cfg(feature = "plain")]
mod noise;
#[cfg(feature = "packed")]
mod packed;
#[cfg(feature = "plain")]
mod plain;

#[cfg(feature = "packed")]
pub(crate) use activations::{Activations, PackedInput, PackedUnit};
pub(crate) use inputs::InputPairs;
#[cfg(feature = "plain")]
pub(crate) use inputs::each_pair;
#[cfg(feature = "plain")]
pub(crate) use noise::with_noise;
#[cfg(feature = "packed")]
pub(crate) use packed::{
    CELL_LIMIT, GroupMoments, group_means, group_moments, packed_elman_step, packed_lstm_step,
};
#[cfg(all(feature = "std", feature = "plain", target_arch = "x86_64"))]
pub(crate) use plain::wide;
#[cfg(feature = "plain")]
pub(crate) use plain::{Layer, Units, elman_step, lstm_step, sigmoid};
#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
pub(crate) use plain::{portable_elman, portable_lstm};

/// Largest magnitude of a unit's mean, and root of its largest variance.
///
/// Saturating units never get there. It keeps an unstable net of rectifiers, or a cell that counts for weeks,
/// inside the finite range.
pub(crate) const UNIT_LIMIT: f32 = 1e6;
