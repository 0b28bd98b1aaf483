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

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    /// Values with short mantissas: every product and sum below is exact, so any order gives the same answer.
    fn exact_values(count: usize) -> Vec<f32> {
        (0..count).map(|index| ((index * 37) % 64) as f32 / 8.0 - 4.0).collect()
    }

    #[test]
    fn sums_cover_every_element_whatever_the_length() {
        for count in 0..40 {
            let weights = exact_values(count);
            let bytes: Vec<[u8; 4]> = weights.iter().map(|weight| weight.to_le_bytes()).collect();
            let means: Vec<f32> = exact_values(count + 3).split_off(3);
            let vars: Vec<f32> = means.iter().map(|mean| mean.abs()).collect();
            let sums = sums_f32(&bytes, NoisyInput { mean: &means, var: &vars });
            let mean: f32 = weights.iter().zip(&means).map(|(w, m)| w * m).sum();
            let var: f32 = weights.iter().zip(&vars).map(|(w, v)| w * w * v).sum();
            assert_eq!((sums.mean, sums.var), (mean, var), "{count} elements");
        }
    }

    #[test]
    fn int8_codes_are_signed() {
        let input = NoisyInput { mean: &[1.0, 2.0, 4.0], var: &[1.0, 0.5, 0.25] };
        let codes = [-127_i8 as u8, 5, -1_i8 as u8];
        let sums = sums_int8(&codes, input);
        assert_eq!(sums.mean, -127.0 + 10.0 - 4.0);
        assert_eq!(sums.var, 16129.0 + 12.5 + 0.25);
    }

    #[test]
    fn weight_variance_multiplies_the_second_moment() {
        // (m² + v) τ summed: (9 + 1) · 0.5 + (4 + 2) · 0.25.
        let input = NoisyInput { mean: &[3.0, -2.0], var: &[1.0, 2.0] };
        let variances = [0.5_f32.to_le_bytes(), 0.25_f32.to_le_bytes()];
        assert_eq!(weight_variance_f32(&variances, input), 6.5);
        // Deviations 4 and 200, squared: exact in f32.
        assert_eq!(weight_variance_int8(&[4, 200], input), 10.0 * 16.0 + 6.0 * 40000.0);
    }

    #[test]
    fn the_order_of_summation_is_the_documented_one() {
        // One large value in lane 0 swallows what is added to it, so the result depends on the order.
        let weights: Vec<[u8; 4]> = core::iter::repeat_n(1.0_f32.to_le_bytes(), 16).collect();
        let mut inputs = [1.0_f32; 16];
        inputs[0] = 2.0_f32.powi(25);
        // Lane 0 holds 2²⁵ + 1 → 2²⁵; the others hold 2; (a + e) → 2²⁵ (ties to even), and so on pairwise.
        let lanes = [2.0_f32.powi(25), 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0];
        let [a, b, c, d, e, f, g, h] = lanes;
        assert_eq!(mean_f32(&weights, &inputs), ((a + e) + (c + g)) + ((b + f) + (d + h)));
    }
}
