//! The input of a packed affine map: activations and variances as integers, two to a word.

use crate::checkpoint::{Packing, UnitNoise};
use crate::kernels::{LEAST_CUT, NoiseScales, RAW_VARIANCE_BITS, fill_pairs, pair, shorten};
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
    /// Columns that are filled: even.
    filled: usize,
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
    /// Room for `cols` columns, a multiple of four. Without `propagates` there is none for variances.
    pub(crate) fn new(words: &'s mut [f32], cols: usize, propagates: bool, packing: Packing) -> Self {
        let (means, rest) = words.split_at_mut_checked(cols / 2).unwrap_or_default();
        let vars = rest.get_mut(..if propagates { cols } else { 0 }).unwrap_or_default();
        Activations { means, vars, packing, filled: 0, seen: 0 }
    }

    /// Writes the model's input, two at a time. Whatever is too large for a code becomes the largest.
    #[inline(never)] // floating point wants registers of its own
    pub(crate) fn fill_input(&mut self, noise: UnitNoise, inputs: impl Iterator<Item = [Moments; 2]>) {
        let [mean, mean_square, var, summand] = coefficients(noise);
        let (limit, raw_limit) = (self.packing.input_limit, self.packing.raw_limit());
        let unit = mean * self.packing.unit;
        let [mean_square, var, summand] = [mean_square, var, summand].map(|factor| factor * RAW_ONE);
        let code = |input: Moments| rounded(input.mean * unit).min(limit).max(-limit);
        let raw = |input: Moments| {
            ((mean_square * (input.mean * input.mean) + (var * input.var + summand)) as u32).min(raw_limit)
        };
        let (mut seen, mut filled) = (0, 0);
        let mut vars = self.vars.as_chunks_mut::<2>().0.iter_mut();
        for (place, inputs) in self.means.iter_mut().zip(inputs) {
            *place = pair(code(inputs[0]), code(inputs[1]));
            if let Some(places) = vars.next() {
                let raws = inputs.map(raw);
                *places = raws.map(f32::from_bits);
                seen |= raws[0] | raws[1];
            }
            filled += 2;
        }
        (self.seen, self.filled) = (seen, filled);
    }

    /// Writes units after what is filled.
    pub(crate) fn fill_units(&mut self, noise: UnitNoise, units: &[f32]) {
        let noise = scales(noise, self.packing.unit);
        let means = self.means.get_mut(self.filled / 2..).unwrap_or_default();
        let vars = self.vars.get_mut(self.filled..).unwrap_or_default().as_chunks_mut().0;
        self.filled += units.len().next_multiple_of(2);
        let (mut pairs, last) = units.as_chunks::<2>();
        let limit = self.packing.raw_limit();
        let mut done = 0;
        // Hardly any noise is so strong that a variance could leave its range.
        if !vars.is_empty() && noise.largest_raw_var() <= limit {
            self.seen |= fill_pairs(&noise, pairs, means, vars);
            (done, pairs) = (pairs.len(), &[]);
        }
        let mut fill = |index: usize, units: [f32; 2]| {
            let units = units.map(PackedUnit::from_word);
            if let Some(mean) = means.get_mut(index) {
                *mean = pair(noise.mean_code(units[0]), noise.mean_code(units[1]));
            }
            if let Some(vars) = vars.get_mut(index) {
                let raws = units.map(|unit| noise.raw_var(unit).min(limit));
                *vars = raws.map(f32::from_bits);
                self.seen |= raws[0] | raws[1];
            }
        };
        pairs.iter().enumerate().for_each(|(index, units)| fill(index, *units));
        if let [unit] = last {
            // No weight but zero belongs to its neighbour.
            fill(done.max(pairs.len()), [*unit, 0.0]);
        }
    }

    /// Shortens the variances to codes that the largest of them fills, two to a word.
    pub(crate) fn finish(self) -> PackedInput<'s> {
        // Nothing but zeros is multiplied with what lies beyond the last column, but a sum must not overflow.
        if self.filled < 2 * self.means.len() {
            self.means.get_mut(self.filled / 2..).unwrap_or_default().fill(0.0);
            self.vars.get_mut(self.filled..).unwrap_or_default().fill(0.0);
        }
        let bits = u32::BITS - self.seen.leading_zeros();
        let cut = bits.saturating_sub(self.packing.variance_bits).max(LEAST_CUT);
        shorten(self.vars, cut);
        let pairs = self.vars.len() / 2;
        PackedInput {
            means: self.means,
            vars: self.vars.get(..pairs).unwrap_or_default(),
            shift: self.packing.variance_exponent.saturating_sub(VAR_BITS + cut),
        }
    }
}

/// A variance of one, raw.
const RAW_ONE: f32 = (1_u32 << RAW_VARIANCE_BITS) as f32;

/// The nearest integer, halves upwards; a huge number becomes a huge code.
fn rounded(value: f32) -> i32 {
    /// Makes every code that counts positive, so that cutting off the fraction rounds down.
    const OFFSET: i32 = 1 << 16;
    ((value + (OFFSET as f32 + 0.5)) as i32).saturating_sub(OFFSET)
}

/// Noise on units as (a, b, c, d) of m̃ = a·m, ṽ = b·m² + c·v + d (see `noise`).
fn coefficients(noise: UnitNoise) -> [f32; 4] {
    match noise {
        UnitNoise::None => [1.0, 0.0, 1.0, 0.0],
        UnitNoise::Dropout { keep } => [keep, keep * (1.0 - keep), keep, 0.0],
        UnitNoise::Multiplicative { var } => [1.0, var, 1.0 + var, 0.0],
        UnitNoise::Additive { var } => [1.0, 0.0, 1.0, var],
    }
}

/// Noise on units of a packed layer, for so many codes per unit.
fn scales(noise: UnitNoise, unit: f32) -> NoiseScales {
    let bits = |value: f32, bits: u32| (value * (1 << bits) as f32 + 0.5) as i32;
    let [mean, mean_square, var, summand] = coefficients(noise);
    NoiseScales {
        mean: bits(mean * unit, 1),
        mean_square: bits(mean_square, 14).min(0x7FFF),
        var: bits(var, 12),
        summand: bits(summand, RAW_VARIANCE_BITS),
    }
}
