//! An integer for each of sixteen streams.

use super::super::fixed::{BlockFloat, FixedMoments, QuantizedUnit};
use crate::lanes::{LANES, Lanes};

/// An integer for each stream.
pub(super) type Ints = [i32; LANES];

/// The value of a function in every lane: a loop over plain arrays, of which a compiler makes vectors. It
/// does not inline what `map` of a long array calls.
#[inline(always)]
pub(super) fn lanes(each: impl Fn(usize) -> i32) -> Ints {
    let mut result = [0; LANES];
    for (lane, result) in result.iter_mut().enumerate() {
        *result = each(lane);
    }
    result
}

/// Integers as words of memory.
#[inline(always)]
pub(super) fn to_words(ints: &Ints) -> Lanes {
    let mut words = [0.0; LANES];
    for (word, int) in words.iter_mut().zip(ints) {
        *word = f32::from_bits(*int as u32);
    }
    words
}

/// Words of memory as integers.
#[inline(always)]
pub(super) fn to_ints(words: &Lanes) -> Ints {
    lanes(|lane| words[lane].to_bits() as i32)
}

/// Moments of an activation or of a cell.
#[derive(Clone, Copy)]
pub(super) struct LaneMoments {
    pub(super) mean: Ints,
    pub(super) var: Ints,
}

impl LaneMoments {
    #[inline(always)]
    pub(super) fn at(&self, lane: usize) -> FixedMoments {
        FixedMoments { mean: self.mean[lane], var: self.var[lane] }
    }

    /// The moments that a function has in every lane.
    #[inline(always)]
    pub(super) fn of(each: impl Fn(usize) -> FixedMoments) -> Self {
        let mut result = LaneMoments { mean: [0; LANES], var: [0; LANES] };
        for lane in 0..LANES {
            let FixedMoments { mean, var } = each(lane);
            (result.mean[lane], result.var[lane]) = (mean, var);
        }
        result
    }
}

/// Moments of a row's pre-activation, in block floating point with a shift of each stream.
#[derive(Clone, Copy)]
pub(super) struct LaneRow {
    pub(super) mean: Ints,
    pub(super) mantissa: Ints,
    pub(super) shift: Ints,
}

impl LaneRow {
    #[inline(always)]
    pub(super) fn var(&self, lane: usize) -> BlockFloat {
        BlockFloat { mantissa: self.mantissa[lane], shift: self.shift[lane] as u32 }
    }
}

/// The units that a function has in every lane, as words of the state.
#[inline(always)]
pub(super) fn units(each: impl Fn(usize) -> QuantizedUnit) -> Lanes {
    let mut words = [0.0; LANES];
    for (lane, word) in words.iter_mut().enumerate() {
        *word = each(lane).to_word();
    }
    words
}
