//! Filling the input of an affine map with units after noise: the definition that accelerated kernels must
//! equal bit for bit.

use super::super::arithmetic::{Products, Scalar};
use super::super::fixed::{QuantizedUnit, WIDE_VAR_BITS};

/// Noise on units, in integers: m̃ = a·m, ṽ = b·m² + c·v + d.
#[derive(Clone, Copy, Debug)]
#[repr(C)] // for kernels in assembler
pub(in crate::quantized) struct NoiseScales {
    /// a, times twice the codes per unit: at most 15 bits.
    pub(in crate::quantized) mean: i32,
    /// b with 14 fractional bits, 15 in all.
    pub(in crate::quantized) mean_square: i32,
    /// c with 12 fractional bits, 14 in all.
    pub(in crate::quantized) var: i32,
    /// d, with [`WIDE_VAR_BITS`].
    pub(in crate::quantized) summand: i32,
}

impl NoiseScales {
    /// The code of a unit's mean.
    #[inline(always)]
    pub(in crate::quantized) fn mean_code(&self, unit: QuantizedUnit) -> i32 {
        (unit.mean * self.mean + (1 << 15)) >> 16
    }

    /// The wide variance of a unit.
    #[inline(always)]
    pub(in crate::quantized) fn wide_var(&self, unit: QuantizedUnit) -> u32 {
        self.wide_var_by::<Scalar>(unit)
    }

    /// The same by given products.
    #[inline(always)]
    pub(in crate::quantized) fn wide_var_by<P: Products>(&self, unit: QuantizedUnit) -> u32 {
        let QuantizedUnit { mean, var } = unit;
        // Both terms have 28 fractional bits.
        let sum = P::mul_word(mean * mean, self.mean_square) as u32 + var as u32 * self.var as u32;
        (sum >> (28 - WIDE_VAR_BITS)) + self.summand as u32
    }

    /// Largest wide variance of a unit.
    pub(in crate::quantized) fn largest_wide_var(&self) -> u32 {
        self.wide_var(QuantizedUnit { mean: -0x8000, var: 0xFFFF })
    }
}

/// Two numbers of 16 bits in one word.
#[inline(always)]
pub(in crate::quantized) fn pair(first: i32, second: i32) -> f32 {
    f32::from_bits(first as u16 as u32 | (second as u16 as u32) << 16)
}

/// Writes codes of means, two to a word, and wide variances of pairs of units; returns the bitwise or of all
/// variances.
#[cfg_attr(not(test), allow(dead_code))] // on a core with a kernel of its own this is only the definition
pub(in crate::quantized) fn fill_pairs(
    noise: &NoiseScales,
    units: &[[f32; 2]],
    means: &mut [f32],
    vars: &mut [[f32; 2]],
) -> u32 {
    let mut seen = 0;
    for ((units, mean), vars) in units.iter().zip(means).zip(vars) {
        let [first, second] = units.map(QuantizedUnit::from_word);
        *mean = pair(noise.mean_code(first), noise.mean_code(second));
        let wide = [noise.wide_var(first), noise.wide_var(second)];
        *vars = wide.map(f32::from_bits);
        seen |= wide[0] | wide[1];
    }
    seen
}

/// Narrows wide variances to codes by a rounding shift of at least `MIN_NARROWING`: two to a word, in the
/// first half of the words.
#[cfg_attr(not(test), allow(dead_code))]
#[inline(never)] // rare where a core has a kernel of its own, whose caller would spill registers
pub(in crate::quantized) fn narrow(words: &mut [f32], shift: u32) {
    let half = (1 << shift) >> 1;
    let words = core::cell::Cell::from_mut(words).as_slice_of_cells();
    // Each word is written after the two that it is made from were read.
    for (target, [first, second]) in words.iter().zip(words.as_chunks().0) {
        let code = |wide: &core::cell::Cell<f32>| (wide.get().to_bits() + half) >> shift;
        target.set(f32::from_bits(code(first) | code(second) << 16));
    }
}

/// Bitwise or of the squares of codes of means, two to a word: has as many bits as the largest.
#[cfg_attr(not(test), allow(dead_code))]
pub(in crate::quantized) fn squares_seen(means: &[f32]) -> u32 {
    means.iter().fold(0, |seen, pair| {
        let [first, second] = squares(*pair);
        seen | first | second
    })
}

/// Writes squares of the codes of means, narrowed to codes by a rounding shift of at least `MIN_NARROWING`,
/// two to a word like the means.
#[cfg_attr(not(test), allow(dead_code))]
pub(in crate::quantized) fn narrow_squares(means: &[f32], codes: &mut [f32], shift: u32) {
    narrow_limited_squares(means, codes, shift, u32::MAX);
}

/// The same with squares of at most `limit`.
#[inline(never)] // once for both, and rare where a core has a kernel of its own
pub(in crate::quantized) fn narrow_limited_squares(means: &[f32], codes: &mut [f32], shift: u32, limit: u32) {
    let half = (1 << shift) >> 1;
    for (mean, code) in means.iter().zip(codes) {
        let [first, second] = squares(*mean).map(|square| (square.min(limit) + half) >> shift);
        *code = f32::from_bits(first | second << 16);
    }
}

/// Squares of the two halves of a word.
#[inline(always)]
fn squares(pair: f32) -> [u32; 2] {
    let bits = pair.to_bits();
    [i32::from(bits as i16), bits as i32 >> 16].map(|code| (code * code) as u32)
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn narrowing_rounds_to_nearest() {
        let wide = [0, 7, 8, 23, 24, 1000, 65_535, 262_143];
        let mut words: Vec<f32> = wide.map(f32::from_bits).into();
        narrow(&mut words, 4);
        let codes: Vec<u32> =
            words[..4].iter().flat_map(|word| [word.to_bits() & 0xFFFF, word.to_bits() >> 16]).collect();
        assert_eq!(codes, [0, 0, 1, 1, 2, 63, 4096, 16_384]);
    }

    #[test]
    fn squares_of_means_are_narrowed_like_variances_and_saturate() {
        let means = [pair(-300, 7), pair(0, 32_767), pair(-32_767, 1000)];
        let seen = squares_seen(&means);
        assert_eq!(u32::BITS - seen.leading_zeros(), 30);
        let mut codes = [0.0; 3];
        let halves = |codes: [f32; 3]| codes.map(|word| [word.to_bits() & 0xFFFF, word.to_bits() >> 16]);
        narrow_squares(&means, &mut codes, 16);
        // 90,000 / 2¹⁶ = 1.4, 32,767² / 2¹⁶ = 16,383.0 and 10⁶ / 2¹⁶ = 15.3.
        assert_eq!(halves(codes), [[1, 0], [0, 16_383], [16_383, 15]]);
        narrow_limited_squares(&means, &mut codes, 16, (1 << 20) - 1);
        assert_eq!(halves(codes), [[1, 0], [0, 16], [16, 15]]);
    }

    #[test]
    fn units_get_their_noise() {
        // Dropout that keeps 3/4, at 1,000 codes per unit.
        let noise = NoiseScales { mean: 1500, mean_square: 3072, var: 3072, summand: 0 };
        let unit = QuantizedUnit { mean: -16_384, var: 6554 };
        let (mut means, mut vars) = ([0.0], [[0.0; 2]]);
        let seen = fill_pairs(&noise, &[[unit.to_word(), 0.0]], &mut means, &mut vars);
        assert_eq!(means[0].to_bits() as i16, -375);
        // 3/16 · 1/4 + 3/4 · 1/10, to the last of 18 fractional bits.
        let wide = vars[0][0].to_bits();
        assert!(wide.abs_diff((0.121_878 * 262_144.0) as u32) <= 2, "{wide}");
        assert_eq!(seen, wide);
        assert!(noise.largest_wide_var() <= 1 << WIDE_VAR_BITS);
    }
}
