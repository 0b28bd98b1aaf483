//! Sums over four rows of bytes at once, in integers: the definition that accelerated kernels must equal bit
//! for bit.
//!
//! A block is four rows by four columns in four words. A halfword holds two rows of one column as 256·w_A +
//! w_B; a word holds two columns, the first in its lower half; words follow as (columns 0 1, rows 0 1),
//! (columns 0 1, rows 2 3), (columns 2 3, rows 0 1), (columns 2 3, rows 2 3). A core that multiplies two
//! halfwords and adds in one instruction gets 256·S_A + S_B from the words as they are, and S_B from their
//! lower bytes.
//!
//! Activations lie two to a word, the first in the lower half; words are bit patterns in the caller's `f32`
//! memory.

use super::words::{Word, words};
use crate::spec::Architecture;

/// What a kernel returns for four rows.
pub(in crate::quantized) type Sums = [i32; 4];

/// 256 × Σ w x for four rows: blocks of weights, pairs of activations.
#[inline(never)] // rare where a core has a kernel of its own
pub(in crate::quantized) fn dot<A: Architecture>(blocks: &[u8], pairs: &[f32]) -> Sums {
    match words(blocks) {
        Some(blocks) => dot_words(blocks.as_chunks().0, pairs),
        None if !A::USES.unaligned => [0; 4],
        None => dot_words(blocks.as_chunks().0.as_chunks().0, pairs),
    }
}

/// Σ w² v for four rows: blocks of weights, pairs of variances.
#[inline(never)] // its registers are no concern of those who need none of it
pub(in crate::quantized) fn dot_squared(blocks: &[u8], pairs: &[f32]) -> Sums {
    match words(blocks) {
        Some(blocks) => dot_squared_words(blocks.as_chunks().0, pairs),
        None => dot_squared_words(blocks.as_chunks().0.as_chunks().0, pairs),
    }
}

/// 256 × Σ w x for four rows: two words of weights for each listed pair of activations. A pair that is not
/// there counts as zero.
#[inline(never)] // as `dot`
pub(in crate::quantized) fn dot_listed(blocks: &[u8], list: &[u8], pairs: &[f32]) -> Sums {
    match words(blocks) {
        Some(blocks) => dot_listed_words(blocks.as_chunks().0, list, pairs),
        None => dot_listed_words(blocks.as_chunks().0.as_chunks().0, list, pairs),
    }
}

fn dot_words<W: Word>(blocks: &[[W; 4]], pairs: &[f32]) -> Sums {
    let mut sums = RowPairs::default();
    for (block, [first, second]) in blocks.iter().zip(pairs.as_chunks().0) {
        for (words, pair) in block.as_chunks().0.iter().zip([first, second]) {
            sums.add(words, *pair);
        }
    }
    sums.rows()
}

fn dot_listed_words<W: Word>(words: &[[W; 2]], list: &[u8], pairs: &[f32]) -> Sums {
    let mut sums = RowPairs::default();
    for (words, index) in words.iter().zip(list) {
        sums.add(words, pairs.get(usize::from(*index)).copied().unwrap_or(0.0));
    }
    sums.rows()
}

/// Sums of both pairs of rows: their lower rows, and their upper rows with the lower ones still in them.
#[derive(Default)]
struct RowPairs {
    mixed: [i32; 2],
    lower: [i32; 2],
}

impl RowPairs {
    /// Adds two columns of all rows times a pair of activations.
    #[inline(always)]
    fn add<W: Word>(&mut self, words: &[W; 2], pair: f32) {
        let [x, y] = halves(pair.to_bits());
        for (rows, word) in words.iter().enumerate() {
            let word = word.value();
            let [v, w] = halves(word);
            self.mixed[rows] = self.mixed[rows].wrapping_add(v * x).wrapping_add(w * y);
            let [v, w] = lower_bytes(word);
            self.lower[rows] = self.lower[rows].wrapping_add(v * x).wrapping_add(w * y);
        }
    }

    /// The sum of each row.
    #[inline(always)]
    fn rows(self) -> Sums {
        let RowPairs { mixed, lower } = self;
        let upper = |rows: usize| mixed[rows].wrapping_sub(lower[rows]);
        [upper(0), lower[0] << 8, upper(1), lower[1] << 8]
    }
}

fn dot_squared_words<W: Word>(blocks: &[[W; 4]], pairs: &[f32]) -> Sums {
    let mut sums = [0_i32; 4];
    for (block, [first, second]) in blocks.iter().zip(pairs.as_chunks().0) {
        for (words, pair) in block.as_chunks::<2>().0.iter().zip([first, second]) {
            let vars = halves(pair.to_bits());
            for (word, sums) in words.iter().zip(sums.as_chunks_mut::<2>().0) {
                let word = word.value();
                for ((mixed, lower), var) in halves(word).into_iter().zip(lower_bytes(word)).zip(vars) {
                    let upper = (mixed - lower) >> 8;
                    sums[0] = sums[0].wrapping_add((upper * upper).wrapping_mul(var));
                    sums[1] = sums[1].wrapping_add((lower * lower).wrapping_mul(var));
                }
            }
        }
    }
    sums
}

/// The signed halfwords of a word.
#[inline(always)]
fn halves(word: u32) -> [i32; 2] {
    [i32::from(word as i16), word as i32 >> 16]
}

/// The lower bytes of a word's halfwords, with their signs.
#[inline(always)]
fn lower_bytes(word: u32) -> [i32; 2] {
    [i32::from(word as i8), i32::from((word >> 16) as i8)]
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;
    use crate::spec::AnyArchitecture;

    /// Four rows of codes and one row of activations that differ everywhere and reach the ends of their
    /// ranges.
    fn example(columns: usize) -> (Vec<[i32; 4]>, Vec<i32>) {
        let code = |index: usize| (index * 89 + 31) as i32 % 255 - 127;
        let weights = (0..columns).map(|column| [0, 1, 2, 3].map(|row| code(7 * column + 3 * row))).collect();
        let activations = (0..columns).map(|column| (column * 547 + 100) as i32 % 1601 - 800).collect();
        (weights, activations)
    }

    fn blocks(weights: &[[i32; 4]]) -> Vec<u8> {
        let halfword = |upper: i32, lower: i32| ((256 * upper + lower) as i16).to_le_bytes();
        let mut bytes = Vec::new();
        for columns in weights.chunks(2) {
            for rows in [0, 2] {
                columns.iter().for_each(|column| bytes.extend(halfword(column[rows], column[rows + 1])));
            }
        }
        bytes
    }

    fn pairs(values: &[i32]) -> Vec<f32> {
        let pair = |pair: &[i32]| f32::from_bits(pair[0] as u16 as u32 | (pair[1] as u16 as u32) << 16);
        values.chunks(2).map(pair).collect()
    }

    #[test]
    fn sums_are_those_of_each_row() {
        for columns in [4, 8, 12, 40, 80] {
            let (weights, activations) = example(columns);
            let sum = |row: usize| weights.iter().zip(&activations).map(|(w, x)| w[row] * x).sum::<i32>();
            let expected = [0, 1, 2, 3].map(|row| sum(row) * 256);
            assert_eq!(
                dot::<AnyArchitecture>(&blocks(&weights), &pairs(&activations)),
                expected,
                "{columns} columns"
            );
        }
    }

    #[test]
    fn listed_pairs_give_the_sums_of_rows_that_are_zero_elsewhere() {
        let (mut weights, activations) = example(40);
        let listed: Vec<u8> = std::vec![0, 3, 4, 11, 19];
        let kept = |column: usize| listed.contains(&(column as u8 / 2));
        let zeros = weights.iter_mut().enumerate().filter(|(column, _)| !kept(*column));
        zeros.for_each(|(_, codes)| *codes = [0; 4]);
        let expected = dot::<AnyArchitecture>(&blocks(&weights), &pairs(&activations));
        weights = (0..40).filter(|column| kept(*column)).map(|column| weights[column]).collect();
        assert_eq!(dot_listed(&blocks(&weights), &listed, &pairs(&activations)), expected);
        // An index beyond the last pair, as only flash that has changed can hold, adds nothing.
        let list = [&listed[..], &[20]].concat();
        weights.extend([[9; 4]; 2]);
        assert_eq!(dot_listed(&blocks(&weights), &list, &pairs(&activations)), expected);
    }

    #[test]
    fn squares_are_those_of_each_row() {
        let (weights, activations) = example(24);
        let vars: Vec<i32> = activations.iter().map(|x| x.abs()).collect();
        let sum = |row: usize| weights.iter().zip(&vars).map(|(w, v)| w[row] * w[row] * v).sum::<i32>();
        assert_eq!(dot_squared(&blocks(&weights), &pairs(&vars)), [0, 1, 2, 3].map(sum));
    }

    #[test]
    fn bytes_at_an_odd_address_give_the_same_sums() {
        let (weights, activations) = example(16);
        let aligned = blocks(&weights);
        let expected = dot::<AnyArchitecture>(&aligned, &pairs(&activations));
        for offset in 0..4 {
            let mut shifted = std::vec![0; offset];
            shifted.extend(&aligned);
            assert_eq!(dot::<AnyArchitecture>(&shifted[offset..], &pairs(&activations)), expected);
        }
    }
}
