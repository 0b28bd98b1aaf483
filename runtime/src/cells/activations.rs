//! The input of a quantized affine map: activations and variances as integers, two to a word.

use super::InputPairs;
use crate::checkpoint::{QuantParams, QuantizedView, UnitNoise};
use crate::kernels::{MIN_VARIANCE_SHIFT, NoiseScales, RAW_VARIANCE_BITS, fill_pairs, narrow, pair, whole};
use crate::moments::Moments;
use crate::moments::fixed::VAR_BITS;

/// Mean in the lower half with 15 fractional bits, variance in the upper with 16: one unit of a quantized layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuantizedUnit {
    /// −2¹⁵ to 2¹⁵ − 1.
    pub(crate) mean: i32,
    /// 0 to 2¹⁶ − 1.
    pub(crate) var: i32,
}

impl QuantizedUnit {
    #[inline(always)]
    pub(crate) fn from_word(word: f32) -> Self {
        let bits = word.to_bits();
        QuantizedUnit { mean: i32::from(bits as i16), var: (bits >> 16) as i32 }
    }

    #[inline(always)]
    pub(crate) fn to_word(self) -> f32 {
        f32::from_bits(self.mean as u16 as u32 | (self.var as u32) << 16)
    }
}

/// Room for the input of an affine map: pairs of means, then one word per variance.
pub(crate) struct Activations<'s> {
    map: &'s QuantizedView<'s>,
    means: &'s mut [f32],
    vars: &'s mut [f32],
    /// Columns that are filled: even.
    filled: usize,
    /// All raw variances so far, or'ed: has as many bits as the largest.
    seen: u32,
}

/// Input of the kernels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantizedInput<'s> {
    pub(crate) means: &'s [f32],
    pub(crate) vars: &'s [f32],
    /// The shift of the variances that the kernels' sums of squares stand for (see `BlockFloat`).
    pub(crate) shift: u32,
}

impl<'s> Activations<'s> {
    /// Room for the columns of a map; for their variances only if it carries them.
    pub(crate) fn new(words: &'s mut [f32], map: &'s QuantizedView<'s>) -> Self {
        let (means, rest) = words.split_at_mut_checked(map.cols / 2).unwrap_or_default();
        let vars = rest.get_mut(..if map.propagates { map.cols } else { 0 }).unwrap_or_default();
        Activations { map, means, vars, filled: 0, seen: 0 }
    }

    /// Writes the model's input, `pairs` times two of them. Whatever is too large for a code becomes the largest.
    #[inline(never)] // floating point wants registers of its own
    pub(crate) fn fill_input(&mut self, noise: UnitNoise, pairs: usize, inputs: &impl InputPairs) {
        let scales = InputScales::new(noise, &self.map.quant_params());
        let means = self.means.get_mut(..pairs).unwrap_or_default();
        let mut vars = self.vars.as_chunks_mut().0.iter_mut();
        let (mut seen, mut done) = (0, 0);
        // Going on here after a doubt would cost every whole row a seventh more: the compiler runs out of registers.
        for (mean, deterministic) in means.iter_mut().zip(inputs.deterministic()) {
            let Some(pair) = deterministic else { break };
            seen |= scales.write(pair.map(|mean| Moments { mean, var: 0.0 }), mean, vars.next());
            done += 1;
        }
        if done < pairs {
            seen |= scales.write_from(done, inputs, means, vars);
        }
        (self.seen, self.filled) = (seen, 2 * pairs);
    }

    /// Writes units after what is filled.
    #[inline(never)]
    pub(crate) fn fill_units(&mut self, noise: UnitNoise, units: &[f32]) {
        let quant_params = self.map.quant_params();
        let noise = scales(noise, quant_params.unit);
        let means = self.means.get_mut(self.filled / 2..).unwrap_or_default();
        let vars = self.vars.get_mut(self.filled..).unwrap_or_default().as_chunks_mut().0;
        self.filled += units.len().next_multiple_of(2);
        let (pairs, last) = units.as_chunks();
        // Hardly any noise is so strong that a variance could leave its range.
        let bounded = !vars.is_empty() && noise.largest_raw_var() <= quant_params.raw_limit();
        if bounded {
            self.seen |= fill_pairs(&noise, pairs, means, vars);
        }
        if !bounded || !last.is_empty() {
            let done = if bounded { pairs.len() } else { 0 };
            self.seen |= fill_others(&noise, quant_params.raw_limit(), units, done, means, vars);
        }
    }

    /// Shortens the variances to codes that the largest of them fills, two to a word.
    pub(crate) fn finish(self) -> QuantizedInput<'s> {
        let quant_params = self.map.quant_params();
        // Nothing but zeros is multiplied with what lies beyond the last column, but a sum must not overflow.
        if self.filled < 2 * self.means.len() {
            self.means.get_mut(self.filled / 2..).unwrap_or_default().fill(0.0);
            self.vars.get_mut(self.filled..).unwrap_or_default().fill(0.0);
        }
        let bits = u32::BITS - self.seen.leading_zeros();
        let cut = bits.saturating_sub(quant_params.variance_bits).max(MIN_VARIANCE_SHIFT);
        narrow(self.vars, cut);
        let pairs = self.vars.len() / 2;
        QuantizedInput {
            means: self.means,
            vars: self.vars.get(..pairs).unwrap_or_default(),
            shift: quant_params.variance_exponent.saturating_sub(VAR_BITS + cut),
        }
    }
}

/// Writes pairs of units from pair `done` on, a last one beside a zero, and returns all raw variances, or'ed. None is larger than
/// `limit`.
#[inline(never)] // rare, and the common case is short of registers
fn fill_others(
    noise: &NoiseScales,
    limit: u32,
    units: &[f32],
    done: usize,
    means: &mut [f32],
    vars: &mut [[f32; 2]],
) -> u32 {
    let mut seen = 0;
    let mut vars = vars.iter_mut().skip(done);
    for (units, mean) in units.chunks(2).zip(means).skip(done) {
        // No weight but zero belongs to the neighbour of a last unit.
        let units = [0, 1].map(|place| QuantizedUnit::from_word(units.get(place).copied().unwrap_or(0.0)));
        *mean = pair(noise.mean_code(units[0]), noise.mean_code(units[1]));
        if let Some(vars) = vars.next() {
            let raws = units.map(|unit| noise.raw_var(unit).min(limit));
            *vars = raws.map(f32::from_bits);
            seen |= raws[0] | raws[1];
        }
    }
    seen
}

/// A variance of one, raw.
const RAW_ONE: f32 = (1_u32 << RAW_VARIANCE_BITS) as f32;

/// Makes every code that counts positive, so that cutting off a fraction rounds down, and leaves its lower half as it is.
const CODE_OFFSET: u32 = 1 << 16;

/// Noise on a network's inputs, and the limits of their codes.
struct InputScales {
    mean: f32,
    mean_square: f32,
    var: f32,
    summand: f32,
    /// The least code and the largest, each more by [`CODE_OFFSET`].
    lowest: u32,
    highest: u32,
    raw_limit: u32,
}

impl InputScales {
    fn new(noise: UnitNoise, quant_params: &QuantParams) -> Self {
        let [mean, mean_square, var, summand] = coefficients(noise);
        InputScales {
            mean: mean * quant_params.unit,
            mean_square: mean_square * RAW_ONE,
            var: var * RAW_ONE,
            summand: summand * RAW_ONE,
            lowest: CODE_OFFSET.wrapping_sub_signed(quant_params.input_limit),
            highest: CODE_OFFSET.wrapping_add_signed(quant_params.input_limit),
            raw_limit: quant_params.raw_limit(),
        }
    }

    /// The nearest code in its lower half, halves upwards; whatever is too large becomes the largest.
    fn code(&self, input: Moments) -> u32 {
        let code = whole(input.mean * self.mean + (CODE_OFFSET as f32 + 0.5));
        code.max(self.lowest).min(self.highest)
    }

    fn raw_var(&self, input: Moments) -> u32 {
        let raw = self.mean_square * (input.mean * input.mean) + (self.var * input.var + self.summand);
        whole(raw).min(self.raw_limit)
    }

    /// Writes codes and, where there is room, raw variances; returns the latter, or'ed.
    #[inline(always)]
    fn write(&self, inputs: [Moments; 2], mean: &mut f32, vars: Option<&mut [f32; 2]>) -> u32 {
        *mean = pair(self.code(inputs[0]) as i32, self.code(inputs[1]) as i32);
        let Some(vars) = vars else { return 0 };
        let raws = inputs.map(|input| self.raw_var(input));
        *vars = raws.map(f32::from_bits);
        raws[0] | raws[1]
    }

    /// Writes whatever is known of the pairs from `start` on.
    #[inline(never)] // rare, and the common case is short of registers
    fn write_from<'s>(
        &self,
        start: usize,
        inputs: &impl InputPairs,
        means: &mut [f32],
        mut vars: impl Iterator<Item = &'s mut [f32; 2]>,
    ) -> u32 {
        let mut seen = 0;
        for (index, mean) in means.iter_mut().enumerate().skip(start) {
            seen |= self.write(inputs.any(index), mean, vars.next());
        }
        seen
    }
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

/// Noise on units of a quantized layer, for so many codes per unit.
fn scales(noise: UnitNoise, unit: f32) -> NoiseScales {
    let bits = |value: f32, bits: u32| whole(value * (1 << bits) as f32 + 0.5).min(i32::MAX as u32) as i32;
    let [mean, mean_square, var, summand] = coefficients(noise);
    NoiseScales {
        mean: bits(mean * unit, 1),
        mean_square: bits(mean_square, 14).min(0x7FFF),
        var: bits(var, 12),
        summand: bits(summand, RAW_VARIANCE_BITS),
    }
}
