//! Sixteen streams of one model at a time in integers, one in each lane of a vector.
//!
//! Each lane computes what a single step computes, by the same functions, hence the same bits. Only hosts do
//! so: on a microcontroller kernels in assembler step one stream after the other in less time.
//!
//! Lowest first: `ints` (an integer for every stream), `vector_unit` (what machines do better than loops),
//! `sums` (four rows of an affine map), `moments` (tanh by table), `activations` (the input of a map), `rows`
//! (pre-activations), `calls` (what is compiled once for each kind of vectors), `cells` (layers), `network`
//! (the walk of a row). `vectors` compiles the walk for the vectors that a machine has.

mod activations;
mod calls;
mod cells;
mod ints;
mod memory;
mod moments;
mod network;
mod rows;
mod sums;
mod vector_unit;
#[cfg_attr(not(all(feature = "vectors", target_arch = "x86_64")), path = "no_vectors.rs")]
mod vectors;

pub(crate) use memory::batch_words;
pub(crate) use vectors::batch_step;
