//! The input of a packed affine map: activations and variances as integers, two to a word.

use core::cell::Cell;

use super::with_noise;
use crate::checkpoint::{Packing, RAW_VARIANCE_BITS, UnitNoise};
use crate::moments::Moments;
use crate::moments::fixed::VAR_BITS;

/// Mean in the lower half with 15 fractional bits, variance in the upper with 16: one unit of a packed layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PackedUnit {
    /// −2¹⁵ to 2¹⁵ − 1.
    pub(crate) mean: i32,
    /// 0 to 2¹⁶ − 1.
    pub(crate) var: i32,
}

impl PackedUnit {
    #[inline(always)]
    pub(crate) fn from_word(word: f32) -> Self {
        let bits = word.to_bits();
        PackedUnit { mean: i32::from(bits as i16), var: (bits >> 16) as i32 }
    }

    #[inline(always)]
    pub(crate) fn to_word(self) -> f32 {
        f32::from_bits(self.mean as u16 as u32 | (self.var as u32) << 16)
    }
}

/// Room for the input of an affine map: pairs of means, then one word per variance.
pub(crate) struct Activations<'s> {
    means: &'s mut [f32],
    vars: &'s mut [f32],
    packing: Packing,
    /// All raw variances so far, or'ed: has as many bits as the largest.
    seen: u32,
}

/// Input of the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedInput<'s> {
    pub(crate) means: &'s [f32],
    pub(crate) vars: &'s [f32],
    /// The shift of the variances that the kernels' sums of squares stand for (see `Spread`).
    pub(crate) shift: u32,
}

impl<'s> Activations<'s> {
    /// Room for `cols` columns, a multiple of four, all zero. Without `propagates` there is none for variances.
    pub(crate) fn new(words: &'s mut [f32], cols: usize, propagates: bool, packing: Packing) -> Self {
        let (means, rest) = words.split_at_mut_checked(cols / 2).unwrap_or_default();
        let vars = rest.get_mut(..if propagates { cols } else { 0 }).unwrap_or_default();
        // What lies beyond the last column of a part must not count.
        means.fill(0.0);
        vars.fill(0.0);
        Activations { means, vars, packing, seen: 0 }
    }

    /// Writes the model's input from the first column on.
    #[inline(never)] // its stack is free again for the step
    pub(crate) fn fill_input(&mut self, noise: UnitNoise, inputs: impl Iterator<Item = Moments>) {
        let mut vars = self.vars.iter_mut();
        let limit = self.packing.input_limit;
        for (index, unit) in inputs.enumerate() {
            let noisy = with_noise(noise, unit);
            let code = rounded(noisy.mean * self.packing.unit).min(limit).max(-limit);
            if let Some(pair) = self.means.get_mut(index / 2) {
                let half = u32::from(code as u16) << (16 * (index % 2));
                *pair = f32::from_bits(pair.to_bits() | half);
            }
            if let Some(var) = vars.next() {
                let raw = ((noisy.var * RAW_ONE) as u32).min((1 << self.packing.raw_bits()) - 1);
                *var = f32::from_bits(raw);
                self.seen |= raw;
            }
        }
    }

    /// Writes units from an even column on.
    pub(crate) fn fill_units(&mut self, start: usize, noise: UnitNoise, units: &[f32]) {
        let noise = IntegerNoise::new(noise, self.packing.unit);
        let means = self.means.get_mut(start / 2..).unwrap_or_default();
        let (pairs, last) = units.as_chunks::<2>();
        for (mean, [first, second]) in means.iter_mut().zip(pairs) {
            *mean = pair(noise.mean_code(*first), noise.mean_code(*second));
        }
        if let ([word], Some(mean)) = (last, means.get_mut(pairs.len())) {
            *mean = pair(noise.mean_code(*word), 0);
        }
        let limit = (1 << self.packing.raw_bits()) - 1;
        for (var, unit) in self.vars.get_mut(start..).unwrap_or_default().iter_mut().zip(units) {
            let raw = noise.raw_var(*unit).min(limit);
            *var = f32::from_bits(raw);
            self.seen |= raw;
        }
    }

    /// Shortens the variances to codes that the largest of them fills, two to a word.
    pub(crate) fn finish(self) -> PackedInput<'s> {
        let shift = (32 - self.seen.leading_zeros()).saturating_sub(self.packing.variance_bits);
        let half = (1_u32 << shift) >> 1;
        let words = Cell::from_mut(self.vars).as_slice_of_cells();
        // Each place is written after the two that it is made of were read.
        for (place, [first, second]) in words.iter().zip(words.as_chunks().0) {
            let code = |raw: &Cell<f32>| (raw.get().to_bits() + half) >> shift;
            place.set(f32::from_bits(code(first) | code(second) << 16));
        }
        let pairs = self.vars.len() / 2;
        PackedInput {
            means: self.means,
            vars: self.vars.get(..pairs).unwrap_or_default(),
            shift: self.packing.variance_exponent.saturating_sub(VAR_BITS + shift),
        }
    }
}

/// A variance of one, raw.
const RAW_ONE: f32 = (1_u32 << RAW_VARIANCE_BITS) as f32;

fn pair(first: i32, second: i32) -> f32 {
    f32::from_bits(first as u16 as u32 | (second as u16 as u32) << 16)
}

/// The nearest integer, halves upwards; huge numbers as far as they go.
fn rounded(value: f32) -> i32 {
    /// Makes every code positive, so that cutting off the fraction rounds down.
    const OFFSET: f32 = 65536.0;
    ((value.clamp(-OFFSET, OFFSET) + (OFFSET + 0.5)) as i32) - OFFSET as i32
}

/// Noise on units of a packed layer: m̃ = a·m, ṽ = b·m² + c·v + d, which covers every kind (see [`with_noise`]).
struct IntegerNoise {
    /// a, times the codes per unit.
    mean: i32,
    /// b and c with twelve fractional bits, below 4.
    mean_square: u32,
    var: u32,
    /// d, raw.
    summand: u32,
}

impl IntegerNoise {
    fn new(noise: UnitNoise, unit: f32) -> Self {
        let twelve_bits = |value: f32| (value * 4096.0 + 0.5) as u32;
        let mean = |factor: f32| (factor * unit + 0.5) as i32;
        match noise {
            UnitNoise::None => IntegerNoise { mean: mean(1.0), mean_square: 0, var: 4096, summand: 0 },
            UnitNoise::Dropout { keep } => IntegerNoise {
                mean: mean(keep),
                mean_square: twelve_bits(keep * (1.0 - keep)),
                var: twelve_bits(keep),
                summand: 0,
            },
            UnitNoise::Multiplicative { var } => IntegerNoise {
                mean: mean(1.0),
                mean_square: twelve_bits(var),
                var: twelve_bits(1.0 + var),
                summand: 0,
            },
            UnitNoise::Additive { var } => {
                IntegerNoise { mean: mean(1.0), mean_square: 0, var: 4096, summand: (var * RAW_ONE) as u32 }
            }
        }
    }

    #[inline(always)]
    fn mean_code(&self, unit: f32) -> i32 {
        (PackedUnit::from_word(unit).mean * self.mean + (1 << 14)) >> 15
    }

    #[inline(always)]
    fn raw_var(&self, unit: f32) -> u32 {
        let PackedUnit { mean, var } = PackedUnit::from_word(unit);
        let square = (mean * mean) as u32 >> 14;
        ((square * self.mean_square + var as u32 * self.var) >> 12) + self.summand
    }
}
