//! One step of each recurrence on moments.

#[cfg(feature = "quantized")]
mod activations;
mod inputs;
#[cfg(feature = "float")]
mod noise;
#[cfg(feature = "float")]
mod plain;
#[cfg(feature = "quantized")]
mod quantized;

#[cfg(feature = "quantized")]
pub(crate) use activations::{Activations, QuantizedInput, QuantizedUnit};
pub(crate) use inputs::InputPairs;
#[cfg(feature = "float")]
pub(crate) use inputs::each_pair;
#[cfg(feature = "float")]
pub(crate) use noise::with_noise;
#[cfg(all(feature = "std", feature = "float", target_arch = "x86_64"))]
pub(crate) use plain::wide;
#[cfg(feature = "float")]
pub(crate) use plain::{Layer, Units, elman_step, lstm_step, sigmoid};
#[cfg(all(test, feature = "std", target_arch = "x86_64"))]
pub(crate) use plain::{portable_elman, portable_lstm};
#[cfg(feature = "quantized")]
pub(crate) use quantized::{
    CELL_LIMIT, GroupMoments, group_means, group_moments, packed_elman_step, packed_lstm_step,
};

/// Largest magnitude of a unit's mean, and root of its largest variance.
///
/// Saturating units never get there. It keeps an unstable net of rectifiers, or a cell that counts for weeks,
/// inside the finite range.
pub(crate) const UNIT_LIMIT: f32 = 1e6;
