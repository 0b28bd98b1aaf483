//! Sums over four rows of bytes for sixteen streams: those of `kernels::portable`, with an activation of
//! every stream where that has one. See there for blocks and for rows that share halfwords.

use super::super::pairs::{GroupPairs, PAIR_BYTES, SPAN_PAIRS};
use super::ints::{Ints, lanes};
use super::vector_unit::Vectors;
use crate::lanes::Lanes;

/// 256 × Σ w x for four rows over the pairs of columns that their blocks hold. `lower` is scratch of a word
/// for each of the blocks.
#[inline(always)]
pub(super) fn dot<V: Vectors>(
    pairs: GroupPairs<'_>,
    blocks: &[u8],
    input: &[Lanes],
    lower: &mut [f32],
) -> [Ints; 4] {
    // Once for all streams, and for all columns.
    for (lower, word) in lower.iter_mut().zip(blocks.as_chunks().0) {
        *lower = f32::from_bits(lower_bytes(u32::from_le_bytes(*word)));
    }
    let lower = lower.get(..blocks.len() / 4).unwrap_or_default();
    let (mut words, mut lower) = (blocks.as_chunks().0.as_chunks().0, lower.as_chunks().0);
    let mut sums = RowPairs::<V>::new();
    if pairs.is_all() {
        for ((words, lower), x) in words.iter().zip(lower).zip(input) {
            sums.add(words, lower, x);
        }
        return sums.rows();
    }
    let mut input = input;
    for list in pairs.lists() {
        for ((words, lower), index) in words.iter().zip(lower).zip(list) {
            // A pair that is not there counts as zero.
            if let Some(x) = input.get(usize::from(*index)) {
                sums.add(words, lower, x);
            }
        }
        words = words.get(list.len()..).unwrap_or_default();
        lower = lower.get(list.len()..).unwrap_or_default();
        input = input.get(SPAN_PAIRS..).unwrap_or_default();
    }
    sums.rows()
}

/// Σ w² v for four rows, where squares are not stored.
#[inline(always)]
pub(super) fn dot_squared<V: Vectors>(blocks: &[u8], vars: &[Lanes]) -> [Ints; 4] {
    let [mut first, mut second, mut third, mut fourth] = [V::zero(); 4];
    for (words, var) in blocks.as_chunks::<PAIR_BYTES>().0.iter().zip(vars) {
        let (var, [a, b, c, d]) = (V::load(var), squares(words));
        first = V::multiply_add(first, a, var);
        second = V::multiply_add(second, b, var);
        third = V::multiply_add(third, c, var);
        fourth = V::multiply_add(fourth, d, var);
    }
    [V::to_ints(first), V::to_ints(second), V::to_ints(third), V::to_ints(fourth)]
}

/// Sums of four rows: of both pairs of rows the lower ones, and the upper ones with the lower still in them.
struct RowPairs<V: Vectors> {
    mixed: [V::Words; 2],
    lower: [V::Words; 2],
}

impl<V: Vectors> RowPairs<V> {
    #[inline(always)]
    fn new() -> Self {
        RowPairs { mixed: [V::zero(); 2], lower: [V::zero(); 2] }
    }

    /// Adds two columns of all rows times a pair of activations of every stream.
    #[inline(always)]
    fn add(&mut self, words: &[[u8; 4]; 2], lower_words: &[f32; 2], x: &Lanes) {
        let x = V::load(x);
        let RowPairs { mixed, lower } = self;
        *mixed = [
            V::multiply_add(mixed[0], u32::from_le_bytes(words[0]), x),
            V::multiply_add(mixed[1], u32::from_le_bytes(words[1]), x),
        ];
        *lower = [
            V::multiply_add(lower[0], lower_words[0].to_bits(), x),
            V::multiply_add(lower[1], lower_words[1].to_bits(), x),
        ];
    }

    /// The sum of each row.
    #[inline(always)]
    fn rows(self) -> [Ints; 4] {
        let ([first, third], [second, fourth]) = (self.mixed, self.lower);
        let [first, second] = unmixed([V::to_ints(first), V::to_ints(second)]);
        let [third, fourth] = unmixed([V::to_ints(third), V::to_ints(fourth)]);
        [first, second, third, fourth]
    }
}

/// The sums of two rows that share halfwords.
#[inline(always)]
fn unmixed([mixed, lower]: [Ints; 2]) -> [Ints; 2] {
    [lanes(|lane| mixed[lane].wrapping_sub(lower[lane])), lanes(|lane| lower[lane] << 8)]
}

/// The lower bytes of both halfwords, with their signs.
#[inline(always)]
fn lower_bytes(word: u32) -> u32 {
    word as i8 as u32 & 0xFFFF | ((word >> 16) as i8 as u32) << 16
}

/// Squares of two columns of each row: at most 128², which is a halfword.
#[inline(always)]
fn squares(bytes: &[u8; PAIR_BYTES]) -> [u32; 4] {
    let words = bytes.as_chunks().0;
    let [[a, b], [c, d]] = [squares_of_two_rows(words[0]), squares_of_two_rows(words[1])];
    [a, b, c, d]
}

#[inline(always)]
fn squares_of_two_rows(bytes: [u8; 4]) -> [u32; 2] {
    let word = u32::from_le_bytes(bytes);
    let rows = |halfword: i16| {
        let lower = i32::from(halfword as i8);
        let upper = (i32::from(halfword) - lower) >> 8;
        [(upper * upper) as u32, (lower * lower) as u32]
    };
    let [[upper, lower], [next_upper, next_lower]] = [rows(word as i16), rows((word >> 16) as i16)];
    [upper | next_upper << 16, lower | next_lower << 16]
}
