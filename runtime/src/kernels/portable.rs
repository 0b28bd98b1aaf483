//! Sums over one row in safe, portable Rust: the definition that accelerated kernels must equal bit for bit.
//!
//! The order of summation is part of the definition: `LANES` interleaved partial sums, added pairwise at the end.
//! It gives a compiler with vector units something to use, and every target the same rounding.

use super::NoisyInput;
use crate::moments::Moments;

/// Interleaved partial sums: one AVX register, and few enough for the single-precision registers of a Cortex-M4F.
const LANES: usize = 8;

/// Sums `term(element)` over lists of equal length in the fixed order.
///
/// `W` is a stored weight, four bytes or one. Elements beyond the shortest list are not seen.
fn lane_sum<W: Copy>(weights: &[W], input: &[f32], term: impl Fn(W, f32) -> f32) -> f32 {
    let (weight_blocks, weight_rest) = weights.as_chunks::<LANES>();
    let (input_blocks, input_rest) = input.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for (weights, inputs) in weight_blocks.iter().zip(input_blocks) {
        accumulate(&mut sums, weights, inputs, &term);
    }
    accumulate(&mut sums, weight_rest, input_rest, &term);
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

fn accumulate<W: Copy>(
    sums: &mut [f32; LANES],
    weights: &[W],
    inputs: &[f32],
    term: &impl Fn(W, f32) -> f32,
) {
    for ((sum, weight), input) in sums.iter_mut().zip(weights).zip(inputs) {
        *sum += term(*weight, *input);
    }
}

/// Σ μ m̃ and Σ μ² ṽ for f32 weights.
pub(super) fn sums_f32(weights: &[[u8; 4]], input: NoisyInput<'_>) -> Moments {
    Moments { mean: mean_f32(weights, input.mean), var: lane_sum(weights, input.var, squared_f32) }
}

/// Σ q m̃ and Σ q² ṽ for int8 codes.
pub(super) fn sums_int8(codes: &[u8], input: NoisyInput<'_>) -> Moments {
    Moments { mean: mean_int8(codes, input.mean), var: lane_sum(codes, input.var, squared_int8) }
}

/// Σ μ m̃ for f32 weights.
pub(super) fn mean_f32(weights: &[[u8; 4]], mean: &[f32]) -> f32 {
    lane_sum(weights, mean, |weight, mean| f32::from_le_bytes(weight) * mean)
}

/// Σ q m̃ for int8 codes.
pub(super) fn mean_int8(codes: &[u8], mean: &[f32]) -> f32 {
    lane_sum(codes, mean, |code, mean| f32::from(code as i8) * mean)
}

fn squared_f32(weight: [u8; 4], var: f32) -> f32 {
    let weight = f32::from_le_bytes(weight);
    weight * weight * var
}

fn squared_int8(code: u8, var: f32) -> f32 {
    let code = f32::from(code as i8);
    code * code * var
}

/// Σ (m̃² + ṽ) τ for f32 weight variances; 0 when there are none.
pub(super) fn weight_variance_f32(variances: &[[u8; 4]], input: NoisyInput<'_>) -> f32 {
    let by_mean = lane_sum(variances, input.mean, |var, mean| f32::from_le_bytes(var) * (mean * mean));
    by_mean + lane_sum(variances, input.var, |var, unit_var| f32::from_le_bytes(var) * unit_var)
}

/// Σ (m̃² + ṽ) d² for codes d of standard deviations; 0 when there are none.
pub(super) fn weight_variance_int8(deviations: &[u8], input: NoisyInput<'_>) -> f32 {
    let squared = |code: u8| f32::from(code) * f32::from(code);
    let by_mean = lane_sum(deviations, input.mean, |code, mean| squared(code) * (mean * mean));
    by_mean + lane_sum(deviations, input.var, |code, unit_var| squared(code) * unit_var)
}
