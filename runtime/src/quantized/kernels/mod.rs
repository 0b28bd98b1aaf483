//! Sums over rows of bytes, and whole layers, in integers.
//!
//! Portable functions define the bits; a kernel for a core replaces them file by file and must give the same
//! bits.

use crate::spec::{Architecture, Uses};

mod fill;
mod input;
mod portable;
mod words;

// Kernels of the target core, chosen by the build script (`build.rs`, where the table is).
cfg_select! {
    quaver_kernel = "dsp" => {
        mod dot;
        mod dsp;
        mod gru_args;
        mod layer_args;
        mod list_args;
        mod weight_var_args;
        use dsp as core_kernels;
    }
    quaver_kernel = "mainline" => {
        mod dot;
        mod gru_args;
        mod layer_args;
        mod list_args;
        mod mainline;
        mod weight_var_args;
        use mainline as core_kernels;
    }
    quaver_kernel = "baseline" => {
        #[rustfmt::skip] // assembler keeps its own form
        mod baseline;
        mod dot;
        mod portable_layers;
        use baseline as core_kernels;
    }
    _ => {
        mod generic;
        mod portable_layers;
        use generic as core_kernels;
    }
}

/// Whether the target core has kernels in assembler. They need words at addresses that are multiples of four.
pub(super) const IS_ACCELERATED: bool = !cfg!(quaver_kernel = "portable");

/// Whether the target core has kernels of whole layers, and they run all layers of an architecture: nothing
/// is left to the portable walk over units.
pub(super) const fn run_all_units<A: Architecture>() -> bool {
    let whole_layers = cfg!(any(quaver_kernel = "dsp", quaver_kernel = "mainline"));
    let Uses { unaligned, unsquared, lists, odd_units, .. } = A::USES;
    whole_layers && !(unaligned | unsquared | lists | odd_units)
}

pub(super) use core_kernels::{
    dot, dot_listed, fill_pairs, gru_units, lstm_units, narrow, narrow_squares, squares_seen, tanh_units,
};
pub(super) use fill::{NoiseScales, narrow_limited_squares, pair};
pub(super) use input::{QuantizedInput, TermShifts};
pub(super) use portable::dot_squared;
pub(super) use words::integers;
