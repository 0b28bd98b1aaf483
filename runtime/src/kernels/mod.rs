//! Affine maps on moments: (m̃, ṽ) → (E[a], V[a]).
//!
//! E[a_j] = Σ_i m̃_i μ_ij + μ_bj  (Bayer 2015, thesis, eq. 17)
//!
//! V[a_j] = Σ_i ( ṽ_i μ_ij² + (m̃_i² + ṽ_i) τ_ij ) + τ_bj  (eq. 18, with a weight variance τ)
//!
//! How a row is summed is a kernel's own affair. An accelerated kernel
//! replaces a portable one file by file and must give the same bits.

#[cfg(feature = "packed")]
mod activations;
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

// Kernels for the core at hand; without any for it, the portable ones.
//
// Cores with DSP instructions are told by the hard-float ABI, which no other core without an operating system has, or by the cargo
// feature; Armv6-M by its lack of atomic instructions.
cfg_select! {
    not(feature = "packed") => {}
    feature = "portable" => {
        #[path = "any_core.rs"]
        mod core_kernels;
        mod portable_layers;
    }
    any(feature = "dsp", all(target_arch = "arm", target_os = "none", target_abi = "eabihf")) => {
        #[path = "dsp/mod.rs"]
        mod core_kernels;
        mod dot;
        mod layer_walk;
    }
    all(target_arch = "arm", target_os = "none", target_has_atomic = "32") => {
        #[path = "mainline/mod.rs"]
        mod core_kernels;
        mod dot;
        mod layer_walk;
    }
    all(target_arch = "arm", target_os = "none") => {
        #[path = "baseline.rs"]
        #[rustfmt::skip]
        mod core_kernels;
        mod dot;
        mod portable_layers;
    }
    _ => {
        #[path = "any_core.rs"]
        mod core_kernels;
        mod portable_layers;
    }
}

#[cfg(feature = "packed")]
pub(crate) use activations::{LEAST_CUT, NoiseScales, RAW_VARIANCE_BITS, pair};
#[cfg(feature = "packed")]
pub(crate) use arithmetic::{mul_high, mul_high_unsigned, mul_word, whole};
#[cfg(feature = "packed")]
pub(crate) use core_kernels::{dot, fill_pairs, lstm_units, shorten, tanh_units};
#[cfg(feature = "packed")]
pub(crate) use packed::dot_squared;
#[cfg(feature = "plain")]
pub(crate) use plain::{NoisyInput, means, moments};
