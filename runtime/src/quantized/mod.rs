//! Backend of the layouts `fast`, `small`, `mean` and `sparse`: integer arithmetic on int8 weights.
//!
//! Lowest first: `fixed` (number formats) and `arithmetic`, `moments` (tanh by table), `format`, `sections`,
//! `pairs` and `weight_vars` (sections of the payload), `kernels` (sums over rows, whole layers), `cells`
//! (recurrences), `network` (the walk of a sample), `batch` (sixteen streams at a time, on hosts). Its
//! functions have the names of those of `float`; `backend` chooses between the two.

mod activations;
mod arithmetic;
#[cfg_attr(not(quaver_kernel = "portable"), path = "no_batch.rs")]
mod batch;
mod cells;
#[cfg(feature = "write")]
mod encode;
mod fixed;
mod format;
mod kernels;
mod moments;
mod network;
mod pairs;
mod sections;
mod state;
#[cfg(all(test, target_arch = "x86_64"))]
mod test_bytes;
mod validate;
mod validate_pairs;
#[cfg(feature = "write")]
mod weight_blocks;
mod weight_vars;

pub(crate) use batch::{batch_step, batch_words};
#[cfg(feature = "write")]
pub(crate) use encode::encode_affine;
pub(crate) use network::{layers, outputs};
#[cfg(feature = "write")]
pub(crate) use sections::stored_blocks;
pub(crate) use sections::{affine_bytes, dense_bytes, scratch_words};
pub(crate) use state::{read_units, restore_state, save_state, state_fault, unit_words};
pub(crate) use validate::{check_affine, check_spec};
#[cfg(feature = "write")]
pub(crate) use weight_blocks::blocks_of_weights;

use crate::format::Cursor;

/// Whether the kernels in assembler can run affine maps that lie at a position of the payload: all sections
/// are multiples of four bytes.
pub(crate) fn is_accelerated(weights: &Cursor<'_>) -> bool {
    kernels::IS_ACCELERATED && weights.is_word_aligned()
}
