//! Filling the input of an affine map: means and variances as integers, two to a word.

use super::arithmetic::to_integer;
use super::fixed::{MIN_NARROWING, QuantizedUnit, VAR_BITS, WIDE_VAR_BITS};
use super::format::{QuantParams, QuantizedView};
use super::kernels::{
    NoiseScales, QuantizedInput, TermShifts, fill_means, fill_pairs, narrow, narrow_limited_squares,
    narrow_squares, pair, squares_seen,
};
use super::weight_vars::WeightVarParams;
use crate::moments::Moments;
use crate::noise::NoiseCoefficients;
use crate::spec::{Architecture, UnitNoise};
use crate::step_io::InputPairs;

/// The input of an affine map while it is filled: pairs of means, then one word per variance.
pub(super) struct Activations<'s, A> {
    map: &'s QuantizedView<'s, A>,
    means: &'s mut [f32],
    vars: &'s mut [f32],
    /// Columns filled so far: an even number.
    filled: usize,
    /// Bitwise or of all wide variances so far: has as many bits as the largest.
    seen: u32,
}

impl<'s, A: Architecture> Activations<'s, A> {
    /// An empty input for a map; with variances only if the map propagates them.
    pub(super) fn new(words: &'s mut [f32], map: &'s QuantizedView<'s, A>) -> Self {
        let (means, rest) = words.split_at_mut_checked(map.padded.cols / 2).unwrap_or_default();
        let vars = rest.get_mut(..if map.propagates() { map.padded.cols } else { 0 }).unwrap_or_default();
        Activations { map, means, vars, filled: 0, seen: 0 }
    }

    /// Writes the model's input, `pairs` pairs of channels. Codes saturate.
    #[inline(never)] // floating point needs registers of its own
    pub(super) fn fill_input(&mut self, noise: UnitNoise, pairs: usize, inputs: &impl InputPairs) {
        let scales = InputScales::new(noise, &self.map.quant_params());
        let means = self.means.get_mut(..pairs).unwrap_or_default();
        let mut vars = self.vars.as_chunks_mut().0.iter_mut();
        let (mut seen, mut done) = (0, 0);
        // Handling missing values in this loop would cost every complete row a seventh more: the compiler
        // runs out of registers.
        if cfg!(not(feature = "small-code")) {
            for (mean, deterministic) in means.iter_mut().zip(inputs.deterministic()) {
                let Some(pair) = deterministic else { break };
                seen |= scales.write(pair.map(|mean| Moments { mean, var: 0.0 }), mean, vars.next());
                done += 1;
            }
        }
        if done < pairs {
            seen |= scales.write_from(done, inputs, means, vars);
        }
        (self.seen, self.filled) = (seen, 2 * pairs);
    }

    /// Fills the padding between the columns of the input and those of the state with zeros.
    pub(super) fn pad_input(&mut self) {
        let start = self.map.padded.inputs;
        if self.filled < start {
            self.means.get_mut(self.filled / 2..start / 2).unwrap_or_default().fill(0.0);
            self.vars.get_mut(self.filled..start).unwrap_or_default().fill(0.0);
            self.filled = start;
        }
    }

    /// Appends units.
    #[inline(never)]
    pub(super) fn fill_units(&mut self, noise: UnitNoise, units: &[f32]) {
        let quant_params = self.map.quant_params();
        let noise = scales(noise, quant_params.unit);
        let means = self.means.get_mut(self.filled / 2..).unwrap_or_default();
        let vars = self.vars.get_mut(self.filled..).unwrap_or_default().as_chunks_mut().0;
        self.filled += units.len().next_multiple_of(2);
        let (pairs, last) = units.as_chunks();
        // Practically no noise is so strong that a variance could leave its range; of an architecture that is
        // known to have none, and units in pairs, nothing is left over.
        let complete = !(A::USES.strong_noise || A::USES.means_only || A::USES.odd_units);
        let in_range = || noise.largest_wide_var() <= quant_params.wide_var_limit();
        let bounded = complete || !vars.is_empty() && in_range();
        let mut done = 0;
        if bounded {
            self.seen |= fill_pairs(&noise, pairs, means, vars);
            done = pairs.len();
        } else if A::USES.means_only && vars.is_empty() {
            done = fill_means(&noise, pairs, means);
        }
        if !complete && ((!bounded && done == 0) || !last.is_empty()) {
            self.seen |= fill_rest(&noise, quant_params.wide_var_limit(), units, done, means, vars);
        }
    }

    /// Narrows the variances to codes, two to a word; the largest uses all their bits.
    pub(super) fn finish(self) -> QuantizedInput<'s> {
        let shift = narrowed(self.means, self.vars, self.filled, self.seen, &self.map.quant_params());
        match self.map.weight_vars().params() {
            None => QuantizedInput {
                means: self.means,
                vars: self.vars.get(..self.vars.len() / 2).unwrap_or_default(),
                shift,
                terms: TermShifts::default(),
            },
            Some(params) => with_squares(self.means, self.vars, shift, &params),
        }
    }
}

/// Narrows variances of which `filled` columns were filled, and returns the shift from those to their codes.
#[inline(never)] // once for all maps
fn narrowed(
    means: &mut [f32],
    vars: &mut [f32],
    filled: usize,
    seen: u32,
    quant_params: &QuantParams,
) -> u32 {
    // Weights beyond the last column are zero, but their products must not overflow.
    if filled < 2 * means.len() {
        means.get_mut(filled / 2..).unwrap_or_default().fill(0.0);
        vars.get_mut(filled..).unwrap_or_default().fill(0.0);
    }
    let bits = u32::BITS - seen.leading_zeros();
    let shift = bits.saturating_sub(quant_params.variance_bits).max(MIN_NARROWING);
    narrow(vars, shift);
    quant_params.variance_exponent.saturating_sub(VAR_BITS + shift)
}

/// An input whose squared means follow the codes of variances in the first half of `vars`, and the exponent
/// that all terms of a variance have room for; `of_vars` is the shift of those from variances.
#[inline(never)] // models without weight variances do not need its registers
fn with_squares<'s>(
    means: &'s [f32],
    vars: &'s mut [f32],
    of_vars: u32,
    params: &WeightVarParams,
) -> QuantizedInput<'s> {
    let codes = vars.get_mut(vars.len() / 2..).unwrap_or_default();
    let (most, bits) = (params.largest_narrowing(), u32::BITS - squares_seen(means).leading_zeros());
    let narrowing = bits.saturating_sub(params.square_bits).max(MIN_NARROWING);
    if narrowing <= most {
        narrow_squares(means, codes, narrowing);
    } else {
        narrow_limited_squares(means, codes, most, params.square_limit());
    }
    let of_squares = most.saturating_sub(narrowing);
    let shift = of_vars.min(of_squares).min(params.bias_shift);
    let terms = TermShifts {
        present: true,
        vars: of_vars.wrapping_sub(shift) as u8,
        squares: of_squares.wrapping_sub(shift) as u8,
        biases: params.bias_shift.wrapping_sub(shift) as u8,
    };
    QuantizedInput { means, vars, shift, terms }
}

/// Writes pairs of units from pair `done` on, the last of an odd number with a zero, and returns the bitwise
/// or of all wide variances, each at most `limit`.
#[inline(never)] // rare, and the common case is short of registers
fn fill_rest(
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
        // Weights of the padding column are zero.
        let units = [0, 1].map(|index| QuantizedUnit::from_word(units.get(index).copied().unwrap_or(0.0)));
        *mean = pair(noise.mean_code(units[0]), noise.mean_code(units[1]));
        if let Some(vars) = vars.next() {
            let wide = units.map(|unit| noise.wide_var(unit).min(limit));
            *vars = wide.map(f32::from_bits);
            seen |= wide[0] | wide[1];
        }
    }
    seen
}

/// A wide variance of one.
const WIDE_ONE: f32 = (1_u32 << WIDE_VAR_BITS) as f32;

/// Makes every code in range positive, so that truncation rounds down, and leaves its lower half unchanged.
const CODE_OFFSET: u32 = 1 << 16;

/// Noise on a network's inputs, and the limits of their codes.
pub(super) struct InputScales {
    mean: f32,
    mean_square: f32,
    var: f32,
    summand: f32,
    /// The least and the largest code, each plus [`CODE_OFFSET`].
    lowest: u32,
    highest: u32,
    wide_var_limit: u32,
}

impl InputScales {
    pub(super) fn new(noise: UnitNoise, quant_params: &QuantParams) -> Self {
        let NoiseCoefficients { mean, square, var, constant } = NoiseCoefficients::<f32>::new(noise);
        InputScales {
            mean: mean * quant_params.unit,
            mean_square: square * WIDE_ONE,
            var: var * WIDE_ONE,
            summand: constant * WIDE_ONE,
            lowest: CODE_OFFSET.wrapping_sub_signed(quant_params.input_limit),
            highest: CODE_OFFSET.wrapping_add_signed(quant_params.input_limit),
            wide_var_limit: quant_params.wide_var_limit(),
        }
    }

    /// The nearest code in its lower half, ties upwards, saturating.
    #[inline(always)]
    pub(super) fn code(&self, input: Moments) -> u32 {
        let code = to_integer(input.mean * self.mean + (CODE_OFFSET as f32 + 0.5));
        code.max(self.lowest).min(self.highest)
    }

    /// The wide variance, saturating.
    #[inline(always)]
    pub(super) fn wide_var(&self, input: Moments) -> u32 {
        let wide = self.mean_square * (input.mean * input.mean) + (self.var * input.var + self.summand);
        to_integer(wide).min(self.wide_var_limit)
    }

    /// Writes codes and, if the map propagates them, wide variances; returns the bitwise or of the latter.
    #[inline(always)]
    fn write(&self, inputs: [Moments; 2], mean: &mut f32, vars: Option<&mut [f32; 2]>) -> u32 {
        *mean = pair(self.code(inputs[0]) as i32, self.code(inputs[1]) as i32);
        let Some(vars) = vars else { return 0 };
        let wide = inputs.map(|input| self.wide_var(input));
        *vars = wide.map(f32::from_bits);
        wide[0] | wide[1]
    }

    /// Writes the pairs from `start` on, with their variances.
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
            let [[first, first_var], [second, second_var]] = inputs.any(index).map(|input| self.coded(input));
            *mean = pair(first as i32, second as i32);
            if let Some(vars) = vars.next() {
                *vars = [first_var, second_var].map(f32::from_bits);
                seen |= first_var | second_var;
            }
        }
        seen
    }

    /// Code and wide variance of one input.
    #[cfg_attr(feature = "small-code", inline(never))] // once for both of a pair
    fn coded(&self, input: Moments) -> [u32; 2] {
        [self.code(input), self.wide_var(input)]
    }
}

/// Noise on units in integers, with `unit` codes per unit of a mean.
pub(super) fn scales(noise: UnitNoise, unit: f32) -> NoiseScales {
    let bits =
        |value: f32, bits: u32| to_integer(value * (1 << bits) as f32 + 0.5).min(i32::MAX as u32) as i32;
    let NoiseCoefficients { mean, square, var, constant } = NoiseCoefficients::<f32>::new(noise);
    NoiseScales {
        mean: bits(mean * unit, 1),
        mean_square: bits(square, 14).min(0x7FFF),
        var: bits(var, 12),
        summand: bits(constant, WIDE_VAR_BITS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_that_is_not_strong_leaves_variances_in_the_least_range() {
        let dropout = (0..=100).map(|percent| UnitNoise::Dropout { keep: percent as f32 / 100.0 });
        for noise in dropout.chain([UnitNoise::None]).filter(|noise| !noise.is_strong()) {
            assert!(scales(noise, 1000.0).largest_wide_var() < 1 << WIDE_VAR_BITS, "{noise:?}");
        }
        assert!(
            !UnitNoise::Dropout { keep: 0.9 }.is_strong() && UnitNoise::Additive { var: 0.1 }.is_strong()
        );
    }
}
