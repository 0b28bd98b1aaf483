//! Sums over rows of bytes, and whole layers, in integers.
//!
//! Portable functions define the bits; a kernel for a core replaces them file by file and must give the same
//! bits.

use crate::spec::{Architecture, Uses};

mod fill;
mod input;
#[cfg_attr(target_arch = "x86_64", allow(dead_code))] // tests compare with it
mod portable;
#[cfg_attr(target_arch = "x86_64", allow(dead_code))]
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
    any(quaver_kernel = "baseline", quaver_kernel = "riscv") => {
        mod dot;
        #[allow(dead_code, unused_imports, unused_macros)] // frames of other cores
        mod layer_args;
        #[allow(dead_code)]
        mod list_args;
        #[allow(dead_code)] // for a GRU alone
        mod portable_layers;
        #[allow(dead_code, unused_imports, unused_macros)]
        mod weight_var_args;
        mod zeros;
        cfg_select! {
            quaver_kernel = "baseline" => {
                mod baseline;
                use baseline as core_kernels;
            }
            _ => {
                mod riscv;
                use riscv as core_kernels;
            }
        }
    }
    // Miri looks at the definition.
    all(target_arch = "x86_64", target_feature = "sse2", not(miri)) => {
        mod portable_layers;
        mod sse2;
        use sse2 as core_kernels;
    }
    _ => {
        mod generic;
        mod portable_layers;
        use generic as core_kernels;
    }
}

// Squares of weights that are computed on the way.
cfg_select! {
    all(target_arch = "x86_64", target_feature = "sse2", not(miri)) => {
        pub(super) use sse2::dot_squared;
    }
    _ => {
        pub(super) use portable::dot_squared;
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

/// Whether the target core has kernels in assembler, as no host has. They need words at addresses that are
/// multiples of four.
pub(super) const IS_ACCELERATED: bool = !cfg!(quaver_kernel = "portable");

/// Whether the target core has kernels of whole layers, and they run all layers of an architecture: nothing
/// is left to the portable walk over units.
pub(super) const fn run_all_units<A: Architecture>() -> bool {
    let whole_layers = cfg!(any(quaver_kernel = "dsp", quaver_kernel = "helium", quaver_kernel = "mainline"));
    let Uses { unaligned, unsquared, lists, odd_units, .. } = A::USES;
    whole_layers && !(unaligned | unsquared | lists | odd_units)
}

pub(super) use core_kernels::{
    dot, dot_listed, fill_pairs, gru_units, lstm_units, narrow, narrow_squares, squares_seen, tanh_units,
};
pub(super) use fill::{NoiseScales, narrow_limited_squares, pair};
pub(super) use input::{QuantizedInput, TermShifts};
pub(super) use words::integers;
