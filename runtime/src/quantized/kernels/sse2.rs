//! Sums of [`portable`](super::portable) in the vectors that every x86-64 has: `PMADDWD` multiplies halfwords
//! and adds them in pairs, as `SMLAD` does on a Cortex-M4, but four words at a time.
//!
//! A block, or two listed pairs of columns, fills a vector. Sums wrap around, so that their order is of no
//! consequence.

#![allow(unsafe_code)] // calling functions with instructions that not every machine has

use core::arch::x86_64::{
    __m128i, _mm_add_epi32, _mm_cvtsi64_si128, _mm_cvtsi128_si32, _mm_madd_epi16, _mm_mullo_epi16, _mm_set_epi64x,
    _mm_setzero_si128, _mm_shuffle_epi32, _mm_slli_epi16, _mm_srai_epi16, _mm_sub_epi16, _mm_sub_epi32, _mm_unpacklo_epi32,
};

use super::portable::Sums;
use crate::spec::Architecture;

pub(in crate::quantized) use super::fill::{fill_pairs, narrow, narrow_squares, squares_seen};
pub(in crate::quantized) use super::portable_layers::{gru_units, lstm_units, tanh_units};

/// [`portable::dot`](super::portable::dot).
pub(in crate::quantized) fn dot<A: Architecture>(blocks: &[u8], pairs: &[f32]) -> Sums {
    // SAFETY: this file is compiled for machines that have these instructions.
    unsafe { dot_sse2(blocks, pairs) }
}

#[target_feature(enable = "sse2")]
fn dot_sse2(blocks: &[u8], pairs: &[f32]) -> Sums {
    let mut sums = RowPairs::new();
    for (block, [first, second]) in blocks.as_chunks().0.iter().zip(pairs.as_chunks().0) {
        sums.add(vector(block), activations(*first, *second));
    }
    sums.rows()
}

/// [`portable::dot_listed`](super::portable::dot_listed).
pub(in crate::quantized) fn dot_listed(blocks: &[u8], list: &[u8], pairs: &[f32]) -> Sums {
    // SAFETY: this file is compiled for machines that have these instructions.
    unsafe { dot_listed_sse2(blocks, list, pairs) }
}

#[target_feature(enable = "sse2")]
fn dot_listed_sse2(blocks: &[u8], list: &[u8], pairs: &[f32]) -> Sums {
    let mut sums = RowPairs::new();
    let pair = |index: u8| pairs.get(usize::from(index)).copied().unwrap_or(0.0);
    // Of loaded models both are equally long.
    let count = list.len().min(blocks.len() / 8);
    let (blocks, list) = (blocks.get(..8 * count), list.get(..count));
    let (twice, last) = blocks.unwrap_or_default().as_chunks();
    let (twice_listed, last_listed) = list.unwrap_or_default().as_chunks();
    for (words, [first, second]) in twice.iter().zip(twice_listed) {
        sums.add(vector(words), activations(pair(*first), pair(*second)));
    }
    if let (Some(words), [index]) = (last.first_chunk(), last_listed) {
        sums.add(half_vector(words), activations(pair(*index), 0.0));
    }
    sums.rows()
}

/// [`portable::dot_squared`](super::portable::dot_squared).
pub(in crate::quantized) fn dot_squared(blocks: &[u8], pairs: &[f32]) -> Sums {
    // SAFETY: this file is compiled for machines that have these instructions.
    unsafe { dot_squared_sse2(blocks, pairs) }
}

#[target_feature(enable = "sse2")]
fn dot_squared_sse2(blocks: &[u8], pairs: &[f32]) -> Sums {
    let [mut upper_sums, mut lower_sums] = [_mm_setzero_si128(); 2];
    for (block, [first, second]) in blocks.as_chunks().0.iter().zip(pairs.as_chunks().0) {
        let (words, vars) = (vector(block), activations(*first, *second));
        let lower = lower_bytes(words);
        // 256·128 is not a halfword, but −256·128 has the same square.
        let upper = _mm_srai_epi16(_mm_sub_epi16(words, lower), 8);
        upper_sums = _mm_add_epi32(upper_sums, _mm_madd_epi16(_mm_mullo_epi16(upper, upper), vars));
        lower_sums = _mm_add_epi32(lower_sums, _mm_madd_epi16(_mm_mullo_epi16(lower, lower), vars));
    }
    let ([first, third], [second, fourth]) = (both_columns(upper_sums), both_columns(lower_sums));
    [first, second, third, fourth]
}

/// Sums of both pairs of rows for even and odd pairs of columns, as in [`portable`](super::portable).
struct RowPairs {
    mixed: __m128i,
    lower: __m128i,
}

impl RowPairs {
    #[inline]
    #[target_feature(enable = "sse2")]
    fn new() -> Self {
        RowPairs { mixed: _mm_setzero_si128(), lower: _mm_setzero_si128() }
    }

    /// Adds four columns of all rows times their activations.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn add(&mut self, words: __m128i, xs: __m128i) {
        self.mixed = _mm_add_epi32(self.mixed, _mm_madd_epi16(words, xs));
        self.lower = _mm_add_epi32(self.lower, _mm_madd_epi16(lower_bytes(words), xs));
    }

    /// The sum of each row.
    #[inline]
    #[target_feature(enable = "sse2")]
    fn rows(self) -> Sums {
        let [first, third] = both_columns(_mm_sub_epi32(self.mixed, self.lower));
        let [second, fourth] = both_columns(self.lower);
        [first, second << 8, third, fourth << 8]
    }
}

/// Four words of weights.
#[inline]
#[target_feature(enable = "sse2")]
fn vector(bytes: &[u8; 16]) -> __m128i {
    let bits = u128::from_le_bytes(*bytes);
    _mm_set_epi64x((bits >> 64) as i64, bits as i64)
}

/// Two words of weights, and zeros.
#[inline]
#[target_feature(enable = "sse2")]
fn half_vector(bytes: &[u8; 8]) -> __m128i {
    _mm_set_epi64x(0, i64::from_le_bytes(*bytes))
}

/// Two pairs of activations, each for both pairs of rows.
#[inline]
#[target_feature(enable = "sse2")]
fn activations(first: f32, second: f32) -> __m128i {
    let both = _mm_cvtsi64_si128((u64::from(second.to_bits()) << 32 | u64::from(first.to_bits())) as i64);
    _mm_unpacklo_epi32(both, both)
}

/// The lower bytes of all halfwords, with their signs.
#[inline]
#[target_feature(enable = "sse2")]
fn lower_bytes(words: __m128i) -> __m128i {
    _mm_srai_epi16(_mm_slli_epi16(words, 8), 8)
}

/// Sums of both pairs of rows over even and odd pairs of columns.
#[inline]
#[target_feature(enable = "sse2")]
fn both_columns(sums: __m128i) -> [i32; 2] {
    let sums = _mm_add_epi32(sums, _mm_shuffle_epi32(sums, 0b00_00_11_10));
    [_mm_cvtsi128_si32(sums), _mm_cvtsi128_si32(_mm_shuffle_epi32(sums, 1))]
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::super::super::test_bytes::bytes;
    use super::super::portable;
    use super::*;
    use crate::spec::AnyArchitecture;

    fn pairs(count: usize, seed: u32) -> Vec<f32> {
        let words = bytes(4 * count, seed);
        words.as_chunks().0.iter().map(|word| f32::from_bits(u32::from_le_bytes(*word))).collect()
    }

    #[test]
    fn sums_have_the_bits_of_the_portable_ones_whatever_the_bytes() {
        for blocks in 0..70 {
            let (weights, xs) = (bytes(16 * blocks, 3 + blocks as u32), pairs(2 * blocks, 7));
            let expected = portable::dot::<AnyArchitecture>(&weights, &xs);
            assert_eq!(dot::<AnyArchitecture>(&weights, &xs), expected, "{blocks} blocks");
            assert_eq!(dot_squared(&weights, &xs), portable::dot_squared(&weights, &xs), "{blocks} blocks");
        }
        let extremes = [0x80, 0x7F, 0xFF, 0x80, 0x00, 0x80, 0x80, 0x80, 0x7F, 0x7F, 0x80, 0x7F, 0xFF, 0x7F, 0, 1];
        for x in [0x8000_8000, 0x7FFF_7FFF, 0x8000_7FFF] {
            let xs = [f32::from_bits(x); 2];
            assert_eq!(dot::<AnyArchitecture>(&extremes, &xs), portable::dot::<AnyArchitecture>(&extremes, &xs));
            assert_eq!(dot_squared(&extremes, &xs), portable::dot_squared(&extremes, &xs));
        }
    }

    #[test]
    fn listed_sums_have_the_bits_of_the_portable_ones_whatever_the_list() {
        for listed in 0..40 {
            // Some indices lie beyond the last pair.
            let (weights, list, xs) = (bytes(8 * listed, 5), bytes(listed, 11), pairs(200, 7));
            assert_eq!(
                dot_listed(&weights, &list, &xs),
                portable::dot_listed(&weights, &list, &xs),
                "{listed} pairs"
            );
            // A list that is longer than its weights, or shorter.
            let shorter = &weights[..weights.len() / 16 * 8];
            assert_eq!(dot_listed(shorter, &list, &xs), portable::dot_listed(shorter, &list, &xs));
            let fewer = &list[..listed / 2];
            assert_eq!(dot_listed(&weights, fewer, &xs), portable::dot_listed(&weights, fewer, &xs));
        }
    }
}
