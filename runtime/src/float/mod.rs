//! Backend of the layout `float`: f32 arithmetic, with f32 weights or int8 ones and an f32 scale.
//!
//! Lowest first: `format` (sections of the payload), `kernels` (sums over rows), `cells` (recurrences),
//! `network` (the walk of a sample). Its functions have the names of those of `quantized`; `backend` chooses
//! between the two.

mod batch;
mod cells;
#[cfg(feature = "write")]
mod encode;
mod format;
mod kernels;
mod network;
mod scratch;
mod state;
mod validate;

pub(crate) use batch::{batch_step, batch_words};
#[cfg(feature = "write")]
pub(crate) use encode::encode_affine;
pub(crate) use format::affine_bytes;
pub(crate) use network::{layers, outputs};
pub(crate) use state::{read_units, restore_state, save_state, scratch_words, state_fault, unit_words};
pub(crate) use validate::{check_affine, check_spec};

/// Floating point has no kernels in assembler.
pub(crate) fn is_accelerated(_: &crate::format::Cursor<'_>) -> bool {
    false
}
