//! Sums over rows of bytes, and whole layers, in integers.
//!
//! Portable functions define the bits; a kernel for a core replaces them file by file and must give the same bits.

mod fill;
mod input;
mod portable;
mod words;

// Kernels for the core at hand; without any for it, the portable ones.
//
// Cores with DSP instructions are told by the hard-float ABI, which no other core without an operating system has, or by the cargo
// feature; Armv6-M by its lack of atomic instructions.
cfg_select! {
    feature = "portable" => {
        #[path = "generic.rs"]
        mod core_kernels;
        mod portable_layers;
    }
    any(feature = "dsp", all(target_arch = "arm", target_os = "none", target_abi = "eabihf")) => {
        #[path = "dsp/mod.rs"]
        mod core_kernels;
        mod dot;
        mod gru_args;
        mod layer_args;
    }
    all(target_arch = "arm", target_os = "none", target_has_atomic = "32") => {
        #[path = "mainline/mod.rs"]
        mod core_kernels;
        mod dot;
        mod gru_args;
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

pub(super) use core_kernels::{dot, fill_pairs, gru_units, lstm_units, narrow, tanh_units};
pub(super) use fill::{NoiseScales, pair};
pub(super) use input::QuantizedInput;
pub(super) use portable::dot_squared;
