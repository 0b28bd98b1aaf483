//! Affine maps on moments: (m̃, ṽ) → (E[a], V[a]).
//!
//! E[a_j] = Σ_i m̃_i μ_ij + μ_bj  (Bayer 2015, thesis, eq. 17)
//!
//! V[a_j] = Σ_i ( ṽ_i μ_ij² + (m̃_i² + ṽ_i) τ_ij ) + τ_bj  (eq. 18, with a weight variance τ)
//!
//! How a row is summed is a kernel's own affair. An accelerated kernel
//! replaces a portable one file by file and must give the same bits.

#[cfg(feature = "quantized")]
mod activations;
#[cfg(feature = "quantized")]
mod arithmetic;
#[cfg(feature = "float")]
mod plain;
#[cfg(feature = "float")]
mod portable;
#[cfg(feature = "quantized")]
mod quantized;
#[cfg(feature = "float")]
#[cfg_attr(not(all(feature = "std", target_arch = "x86_64")), path = "no_vectors.rs")]
pub(crate) mod vectors;
#[cfg(feature = "quantized")]
mod words;

// Kernels for the core at hand; without any for it, the portable ones.
//
// Cores with DSP instructions are told by the hard-float ABI, which no other core without an operating system has, or by the cargo
// feature; Armv6-M by its lack of atomic instructions.
cfg_select! {
    not(feature = "quantized") => {}
    feature = "portable" => {
        #[path = "generic.rs"]
        mod core_kernels;
        mod portable_layers;
    }
    any(feature = "dsp", all(target_arch = "arm", target_os = "none", target_abi = "eabihf")) => {
        #[path = "dsp/mod.rs"]
        mod core_kernels;
        mod dot;
        mod layer_args;
    }
    all(target_arch = "arm", target_os = "none", target_has_atomic = "32") => {
        #[path = "mainline/mod.rs"]
        mod core_kernels;
        mod dot;
        mod layer_args;
    }
    all(target_arch = "arm", target_os = "none") => {
        #[path = "baseline.rs"]
        #[rustfmt::skip]
        mod core_kernels;
        mod dot;
        mod portable_layers;
    }
    _ => {
        #[path = "generic.rs"]
        mod core_kernels;
        mod portable_layers;
    }
}

#[cfg(feature = "quantized")]
pub(crate) use activations::{MIN_VARIANCE_SHIFT, NoiseScales, RAW_VARIANCE_BITS, pair};
#[cfg(feature = "quantized")]
pub(crate) use arithmetic::{mul_high, mul_high_unsigned, mul_word, whole};
#[cfg(feature = "quantized")]
pub(crate) use core_kernels::{dot, fill_pairs, lstm_units, narrow, tanh_units};
#[cfg(feature = "float")]
pub(crate) use plain::{NoisyInput, means, moments};
#[cfg(feature = "quantized")]
pub(crate) use quantized::dot_squared;
