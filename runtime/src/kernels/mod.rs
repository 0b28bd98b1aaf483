//! Affine maps on moments: (m̃, ṽ) → (E[a], V[a]).
//!
//! E[a_j] = Σ_i m̃_i μ_ij + μ_bj  (Bayer 2015, thesis, eq. 17)
//!
//! V[a_j] = Σ_i ( ṽ_i μ_ij² + (m̃_i² + ṽ_i) τ_ij ) + τ_bj  (eq. 18, with a weight variance τ)
//!
//! How a row is summed is a kernel's own affair. An accelerated kernel
//! replaces a portable one file by file and must give the same bits.

#[cfg(feature = "packed")]
mod arithmetic;
#[cfg(feature = "packed")]
mod packed;
#[cfg(feature = "plain")]
mod plain;
#[cfg(feature = "plain")]
mod portable;
#[cfg(feature = "plain")]
#[cfg_attr(not(all(feature = "std", target_arch = "x86_64")), path = "no_vectors.rs")]
pub(crate) mod vectors;
#[cfg(feature = "packed")]
mod words;

/// Kernels for the core at hand; without any for it, the portable ones.
///
/// Cores with DSP instructions are told by the hard-float ABI, which no other core without an operating system has, or by
/// the cargo feature.
#[cfg(feature = "packed")]
#[cfg(any(feature = "dsp", all(target_arch = "arm", target_os = "none", target_abi = "eabihf")))]
#[path = "dsp.rs"]
mod core_kernels;
#[cfg(feature = "packed")]
#[cfg(not(any(feature = "dsp", all(target_arch = "arm", target_os = "none", target_abi = "eabihf"))))]
#[path = "any_core.rs"]
mod core_kernels;

#[cfg(feature = "packed")]
pub(crate) use arithmetic::{mul_high, mul_word, with_sign_of};
#[cfg(feature = "packed")]
pub(crate) use core_kernels::{TanhRows, cell_step, dot};
#[cfg(feature = "packed")]
pub(crate) use packed::dot_squared;
#[cfg(feature = "plain")]
pub(crate) use plain::{NoisyInput, means, moments};
