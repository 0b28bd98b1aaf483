//! Filling the input of an affine map for sixteen streams; see `activations` for the formulas.

use super::super::activations::{InputScales, scales};
use super::super::arithmetic::Vector;
use super::super::fixed::{MIN_NARROWING, QuantizedUnit, VAR_BITS};
use super::super::format::{QuantParams, QuantizedView};
use super::super::weight_vars::WeightVarParams;
use super::ints::{Ints, lanes};
use super::rows::{LaneInput, TermShifts};
use crate::lanes::{LANES, Lanes};
use crate::moments::Moments;
use crate::spec::UnitNoise;

/// The input of an affine map while it is filled: pairs of means, and one word per variance.
pub(super) struct LaneActivations<'s> {
    quant_params: QuantParams,
    means: &'s mut [Lanes],
    /// Empty if the map propagates no variances.
    vars: &'s mut [Lanes],
    /// Columns filled so far: an even number.
    filled: usize,
    /// Bitwise or of all wide variances so far: has as many bits as the largest.
    seen: Ints,
}

impl<'s> LaneActivations<'s> {
    /// An empty input for a map.
    pub(super) fn new(map: &QuantizedView<'_>, [means, vars]: [&'s mut [Lanes]; 2]) -> Self {
        let cols = map.padded.cols;
        LaneActivations {
            quant_params: map.quant_params(),
            means: means.get_mut(..cols / 2).unwrap_or_default(),
            vars: vars.get_mut(..if map.propagates() { cols } else { 0 }).unwrap_or_default(),
            filled: 0,
            seen: [0; LANES],
        }
    }

    /// Writes the model's inputs, given their means and variances.
    #[inline(always)]
    pub(super) fn fill_input(&mut self, noise: UnitNoise, [means, vars]: [&[Lanes]; 2]) {
        let scales = InputScales::new(noise, &self.quant_params);
        let coded = |mean: &Lanes, var: &Lanes, lane: usize| {
            let input = Moments { mean: mean[lane], var: var[lane] };
            (scales.code(input) as i32, scales.wide_var(input))
        };
        for (mean, var) in means.chunks(2).zip(vars.chunks(2)) {
            self.push([mean, var], coded);
        }
    }

    /// Fills the padding between the columns of the input and those of the state, which begin at `start`,
    /// with zeros.
    #[inline(always)]
    pub(super) fn pad_input(&mut self, start: usize) {
        if self.filled < start {
            self.means.get_mut(self.filled / 2..start / 2).unwrap_or_default().fill([0.0; LANES]);
            self.vars.get_mut(self.filled..start).unwrap_or_default().fill([0.0; LANES]);
            self.filled = start;
        }
    }

    /// Appends units, given as words of the state.
    #[inline(always)]
    pub(super) fn fill_units(&mut self, noise: UnitNoise, units: &[Lanes]) {
        let (noise, limit) = (scales(noise, self.quant_params.unit), self.quant_params.wide_var_limit());
        let coded = |unit: &Lanes, _: &Lanes, lane: usize| {
            let unit = QuantizedUnit::from_word(unit[lane]);
            (noise.mean_code(unit), noise.wide_var_by::<Vector>(unit).min(limit))
        };
        for units in units.chunks(2) {
            self.push([units, units], coded);
        }
    }

    /// Appends a pair of columns, the last of an odd number with a zero, as `coded` codes them: the code of a
    /// mean in its lower half, and the wide variance.
    #[inline(always)]
    fn push(&mut self, pair: [&[Lanes]; 2], coded: impl Fn(&Lanes, &Lanes, usize) -> (i32, u32)) {
        const ZERO: Lanes = [0.0; LANES];
        let column = |index: usize| pair.map(|list| list.get(index).unwrap_or(&ZERO));
        let [[first, first_var], [second, second_var]] = [column(0), column(1)];
        let (mut means, mut vars) = ([0.0; LANES], [[0.0; LANES]; 2]);
        for lane in 0..LANES {
            let (low, low_var) = coded(first, first_var, lane);
            let (high, high_var) = coded(second, second_var, lane);
            means[lane] = f32::from_bits(low as u32 & 0xFFFF | (high as u32) << 16);
            (vars[0][lane], vars[1][lane]) = (f32::from_bits(low_var), f32::from_bits(high_var));
            self.seen[lane] |= (low_var | high_var) as i32;
        }
        if let Some(place) = self.means.get_mut(self.filled / 2) {
            *place = means;
        }
        if let Some(places) = self.vars.get_mut(self.filled..).and_then(|vars| vars.first_chunk_mut()) {
            *places = vars;
        }
        self.filled += 2;
    }

    /// Narrows the variances to codes, two to a word; the largest of every stream uses all their bits.
    #[inline(always)]
    pub(super) fn finish(self, weight_vars: Option<WeightVarParams>) -> LaneInput<'s> {
        let LaneActivations { quant_params, means, vars, filled, seen } = self;
        means.get_mut(filled / 2..).unwrap_or_default().fill([0.0; LANES]);
        vars.get_mut(filled..).unwrap_or_default().fill([0.0; LANES]);
        let narrowing = lanes(|lane| {
            let bits = u32::BITS - (seen[lane] as u32).leading_zeros();
            bits.saturating_sub(quant_params.variance_bits).max(MIN_NARROWING) as i32
        });
        narrow(vars, &narrowing);
        let shift = lanes(|lane| {
            quant_params.variance_exponent.saturating_sub(VAR_BITS + narrowing[lane] as u32) as i32
        });
        match weight_vars {
            None => {
                let vars = vars.get(..vars.len() / 2).unwrap_or_default();
                LaneInput { means, vars, squares: &[], shift, terms: None }
            }
            Some(params) => with_squares(means, vars, &shift, &params),
        }
    }
}

/// Narrows wide variances by a rounding shift: two to a word, in the first half of the words.
#[inline(always)]
fn narrow(vars: &mut [Lanes], shift: &Ints) {
    for index in 0..vars.len() / 2 {
        let Some([first, second]) = vars.get(2 * index..).and_then(|vars| vars.first_chunk()) else { return };
        let code = |wide: &Lanes, lane: usize| {
            let shift = shift[lane] as u32 & 31;
            (wide[lane].to_bits() + ((1 << shift) >> 1)) >> shift
        };
        let mut words = [0.0; LANES];
        for (lane, word) in words.iter_mut().enumerate() {
            *word = f32::from_bits(code(first, lane) | code(second, lane) << 16);
        }
        if let Some(place) = vars.get_mut(index) {
            *place = words;
        }
    }
}

/// An input whose squared means follow the codes of variances in the first half of `vars`, and the exponent
/// that all terms of a variance have room for; `of_vars` is the shift of those from variances.
#[inline(always)]
fn with_squares<'s>(
    means: &'s [Lanes],
    vars: &'s mut [Lanes],
    of_vars: &Ints,
    params: &WeightVarParams,
) -> LaneInput<'s> {
    let (vars, codes) = vars.split_at_mut(vars.len() / 2);
    let mut seen = [0; LANES];
    for pair in means {
        for (seen, word) in seen.iter_mut().zip(pair) {
            let [first, second] = squares(*word);
            *seen |= first | second;
        }
    }
    let most = params.largest_narrowing();
    let wanted = lanes(|lane| {
        let bits = u32::BITS - seen[lane].leading_zeros();
        bits.saturating_sub(params.square_bits).max(MIN_NARROWING) as i32
    });
    for (mean, code) in means.iter().zip(&mut *codes) {
        for lane in 0..LANES {
            let wanted = wanted[lane] as u32;
            // Where the exponent leaves no room for the largest square, squares are limited.
            let limit = if wanted <= most { u32::MAX } else { params.square_limit() };
            let shift = wanted.min(most) & 31;
            let [first, second] =
                squares(mean[lane]).map(|square| (square.min(limit) + ((1 << shift) >> 1)) >> shift);
            code[lane] = f32::from_bits(first | second << 16);
        }
    }
    let of_squares = lanes(|lane| most.saturating_sub(wanted[lane] as u32) as i32);
    let bias_shift = params.bias_shift as i32;
    let shift = lanes(|lane| of_vars[lane].min(of_squares[lane]).min(bias_shift));
    let terms = TermShifts {
        vars: lanes(|lane| of_vars[lane] - shift[lane]),
        squares: lanes(|lane| of_squares[lane] - shift[lane]),
        biases: lanes(|lane| bias_shift - shift[lane]),
    };
    LaneInput { means, vars, squares: codes, shift, terms: Some(terms) }
}

/// Squares of the two halves of a word.
#[inline(always)]
fn squares(pair: f32) -> [u32; 2] {
    let bits = pair.to_bits();
    [i32::from(bits as i16), bits as i32 >> 16].map(|code| (code * code) as u32)
}
