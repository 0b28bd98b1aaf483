//! Sums over rows of bytes, and whole layers, in integers.
//!
//! Portable functions define the bits; a kernel for a core replaces them file by file and must give the same
//! bits.

mod fill;
mod input;
mod portable;
mod words;

// Kernels of the target core, chosen by the build script (`build.rs`, where the table is).
cfg_select! {
    quaver_kernel = "helium" => {
        mod dot;
        #[allow(dead_code, unused_imports)] // only what has no vectors of its own
        mod dsp;
        mod gru_args;
        mod helium;
        mod layer_args;
        mod list_args;
        mod weight_var_args;
        use helium as core_kernels;
    }
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

// Layers without variances.
cfg_select! {
    quaver_kernel = "helium" => {
        pub(super) use helium::{fill_means, lstm_means, tanh_means};
    }
    _ => {
        mod portable_means;
        pub(super) use portable_means::{fill_means, lstm_means, tanh_means};
    }
}

/// Whether the target core has kernels in assembler. They need words at addresses that are multiples of four.
pub(super) const IS_ACCELERATED: bool = !cfg!(quaver_kernel = "portable");

pub(super) use core_kernels::{
    dot, dot_listed, fill_pairs, gru_units, lstm_units, narrow, narrow_squares, squares_seen, tanh_units,
};
pub(super) use fill::{NoiseScales, narrow_limited_squares, pair};
pub(super) use input::{QuantizedInput, TermShifts};
pub(super) use portable::dot_squared;
pub(super) use words::integers;
