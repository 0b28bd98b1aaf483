//! What a machine's vectors of integers do, and the portable definition of it.

use super::super::arithmetic::mul_high;
use super::super::moments::{cell, root_word};
use super::ints::{Ints, lanes, to_ints};
use crate::lanes::{LANES, Lanes};

/// What vectors of a machine do better than loops over lanes.
///
/// Words of sixteen streams are two halfwords each, or a sum of products of such.
pub(super) trait Vectors {
    type Words: Copy;

    /// Zero for all streams.
    fn zero() -> Self::Words;

    /// The words of all streams.
    fn load(words: &Lanes) -> Self::Words;

    /// Adds the products of both halfwords of a weight and of `x` to `sums`; wraps around.
    fn multiply_add(sums: Self::Words, weights: u32, x: Self::Words) -> Self::Words;

    /// The words as integers.
    fn to_ints(words: Self::Words) -> Ints;

    /// ⌊a·b / 2³²⌋.
    #[inline(always)]
    fn mul_high(a: &Ints, b: i32) -> Ints {
        lanes(|lane| mul_high(a[lane], b))
    }

    /// Entries of the table of roots.
    #[inline(always)]
    fn root_words(places: &Ints) -> Ints {
        lanes(|lane| root_word(places[lane] as u32))
    }

    /// Cells of the table of moments: the first words of all streams, then the second ones, and so on.
    #[inline(always)]
    fn cells(places: &Ints) -> [Ints; 4] {
        let mut words = [[0; LANES]; 4];
        for lane in 0..LANES {
            for (words, word) in words.iter_mut().zip(cell(places[lane] as u32)) {
                words[lane] = word;
            }
        }
        words
    }
}

/// In safe, portable Rust.
pub(super) struct PortableVectors;

impl Vectors for PortableVectors {
    type Words = Ints;

    #[inline(always)]
    fn zero() -> Ints {
        [0; LANES]
    }

    #[inline(always)]
    fn load(words: &Lanes) -> Ints {
        to_ints(words)
    }

    #[inline(always)]
    fn multiply_add(sums: Ints, weights: u32, x: Ints) -> Ints {
        let [v, w] = halves(weights as i32);
        lanes(|lane| {
            let [x, y] = halves(x[lane]);
            sums[lane].wrapping_add(v * x).wrapping_add(w * y)
        })
    }

    #[inline(always)]
    fn to_ints(words: Ints) -> Ints {
        words
    }
}

/// The signed halfwords of a word.
#[inline(always)]
fn halves(word: i32) -> [i32; 2] {
    [i32::from(word as i16), word >> 16]
}
