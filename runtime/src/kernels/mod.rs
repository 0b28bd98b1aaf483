//! Affine maps on moments: (m̃, ṽ) → (E[a], V[a]).
//!
//! E[a_j] = Σ_i m̃_i μ_ij + μ_bj  (Bayer 2015, thesis, eq. 17)
//!
//! V[a_j] = Σ_i ( ṽ_i μ_ij² + (m̃_i² + ṽ_i) τ_ij ) + τ_bj  (eq. 18, with a weight variance τ)
//!
//! Cells see [`rows`] and [`mean_rows`] alone; how a row is summed is a kernel's own affair. An accelerated kernel
//! replaces a portable one file by file and must give the same bits.

mod activations;
mod arithmetic;
mod packed;
mod portable;
mod words;

// Kernels for the core at hand; without any for it, the portable ones.
//
// Cores with DSP instructions are told by the hard-float ABI, which no other core without an operating system has, or by the cargo
// feature; Armv6-M by its lack of atomic instructions.
cfg_select! {
    feature = "portable" => {
        #[path = "any_core.rs"]
        mod core_kernels;
        mod portable_layers;
    }
    any(feature = "dsp", all(target_arch = "arm", target_os = "none", target_abi = "eabihf")) => {
        #[path = "dsp/mod.rs"]
        mod core_kernels;
    }
    all(target_arch = "arm", target_os = "none", target_has_atomic = "32") => {
        #[path = "mainline.rs"]
        #[rustfmt::skip]
        mod core_kernels;
        mod portable_layers;
    }
    all(target_arch = "arm", target_os = "none") => {
        #[path = "baseline.rs"]
        #[rustfmt::skip]
        mod core_kernels;
        mod portable_layers;
    }
    _ => {
        #[path = "any_core.rs"]
        mod core_kernels;
        mod portable_layers;
    }
}

pub(crate) use activations::{LEAST_CUT, NoiseScales, RAW_VARIANCE_BITS, pair};
pub(crate) use arithmetic::{mul_high, mul_high_unsigned, mul_word};
pub(crate) use core_kernels::{dot, fill_pairs, lstm_units, shorten, tanh_units};
pub(crate) use packed::dot_squared;

use crate::checkpoint::{AffineView, Row, WeightRow};
use crate::moments::Moments;

/// The input of an affine map after its noise: means and variances side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoisyInput<'a> {
    pub(crate) mean: &'a [f32],
    pub(crate) var: &'a [f32],
}

/// Moments of each row's pre-activation, in order of rows.
pub(crate) fn rows<'m, 'a: 'm>(
    affine: AffineView<'m>,
    input: NoisyInput<'a>,
) -> impl Iterator<Item = Moments> + 'm {
    affine.iter().map(move |row| row_moments(row, input))
}

/// Means of each row's pre-activation alone, in order of rows.
pub(crate) fn mean_rows<'m, 'a: 'm>(
    affine: AffineView<'m>,
    mean: &'a [f32],
) -> impl Iterator<Item = f32> + 'm {
    affine.iter().map(move |row| row_mean(row, mean))
}

fn row_moments(row: Row<'_>, input: NoisyInput<'_>) -> Moments {
    let (mean, var) = match row.weights {
        WeightRow::F32 { mean, var } => {
            let sums = portable::sums_f32(mean.words(), input);
            (sums.mean, sums.var + portable::weight_variance_f32(var.words(), input))
        }
        WeightRow::Int8 { codes, scale, deviations, deviation_scale } => {
            let sums = portable::sums_int8(codes, input);
            let from_weights = portable::weight_variance_int8(deviations, input);
            let from_units = sums.var * (scale * scale);
            (sums.mean * scale, from_units + from_weights * (deviation_scale * deviation_scale))
        }
    };
    Moments { mean: mean + row.bias, var: var + row.bias_var }
}

fn row_mean(row: Row<'_>, mean: &[f32]) -> f32 {
    let sum = match row.weights {
        WeightRow::F32 { mean: weights, .. } => portable::mean_f32(weights.words(), mean),
        WeightRow::Int8 { codes, scale, .. } => portable::mean_int8(codes, mean) * scale,
    };
    sum + row.bias
}
