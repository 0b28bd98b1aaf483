//! Sixteen streams of one model at a time, one in each lane of a vector.
//!
//! A single step fills its vectors with units of one stream; here a lane is a stream, so that every layer
//! fills them, whatever its size, and a weight is loaded once for all. Each lane computes what a single step
//! computes, in the same order, hence the same bits.
//!
//! Lowest first: `sums` (a few rows of an affine map), `cells` (layers and the output map), `network` (the
//! walk of a row). `vectors` compiles the walk for the vectors that a machine has.

mod cells;
mod memory;
mod network;
mod sums;
#[cfg_attr(not(all(feature = "vectors", target_arch = "x86_64")), path = "no_vectors.rs")]
mod vectors;

pub(crate) use memory::batch_words;
pub(crate) use vectors::batch_step;
