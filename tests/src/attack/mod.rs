//! Crafted checkpoints: valid encodings at and just beyond every bound of the format, with a right checksum.
//!
//! Byte flips do not get past the checksum, and hardly ever past the checks behind it. These files are made
//! from the specification (`runtime/src/checkpoint/SPEC.md`), independently of the exporter: sizes, scales,
//! sums, exponents, draws, names and extensions lie at their limits. The runtime refuses such a file, or runs
//! it: whatever the rows, means stay finite, variances finite and not negative, a saved stream restores and
//! continues with the same bits, and writing down what was read gives the same bytes.
//!
//! Everything follows from a seed and a number. `cargo xtask attack --minutes N` runs them by the million,
//! and the test `attack` some thousand.
//!
//! - [`dice`]: choices and numbers at bounds. [`spec`], [`latent_spec`], [`reducer_spec`]:
//!   architectures.
//! - [`shape`], [`header`], [`network`], [`quantized`], [`frame`]: the format, from its specification.
//! - [`rows`], [`trial`], [`latent_trial`], [`adaptive_trial`], [`reducer_trial`]: what an accepted file has
//!   to stand.
//! - [`campaign`]: many files, and what is found.

pub mod adaptive_trial;
pub mod campaign;
pub mod dice;
pub mod frame;
pub mod header;
pub mod latent_spec;
pub mod latent_trial;
pub mod network;
pub mod pairs;
pub mod quantized;
pub mod reducer_spec;
pub mod reducer_trial;
pub mod rows;
pub mod shape;
pub mod spec;
pub mod trial;
