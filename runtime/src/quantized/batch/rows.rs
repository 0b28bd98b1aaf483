//! Pre-activations of four rows for sixteen streams; see `cells::group`.

use super::super::cells::group::with_weight_vars;
use super::super::format::{QuantizedGroup, QuantizedView};
use super::super::kernels::integers;
use super::super::weight_vars::WeightVarGroup;
use super::ints::{Ints, LaneRow, lanes};
use super::sums::{dot, dot_squared};
use super::vector_unit::Vectors;
use crate::lanes::{LANES, Lanes};
use crate::spec::AnyArchitecture;

/// The input of an affine map: codes of means and of variances, two to a word, in the order of its columns.
#[derive(Clone, Copy)]
pub(super) struct LaneInput<'s> {
    pub(super) means: &'s [Lanes],
    pub(super) vars: &'s [Lanes],
    /// Codes of squared means; empty without weight variances.
    pub(super) squares: &'s [Lanes],
    /// Shift of the variances of the map's rows.
    pub(super) shift: Ints,
    /// `None` without weight variances.
    pub(super) terms: Option<TermShifts>,
}

/// Shifts that bring the three terms of a variance to their common exponent.
#[derive(Clone, Copy)]
pub(super) struct TermShifts {
    pub(super) vars: Ints,
    pub(super) squares: Ints,
    pub(super) biases: Ints,
}

impl LaneInput<'_> {
    /// The columns from `start` on, an even number.
    #[inline(always)]
    pub(super) fn columns_from(&self, start: usize) -> Self {
        let [means, vars, squares] =
            [self.means, self.vars, self.squares].map(|list| list.get(start / 2..).unwrap_or_default());
        LaneInput { means, vars, squares, ..*self }
    }
}

/// An affine map and its input.
pub(super) struct MapRows<'a> {
    pub(super) map: &'a QuantizedView<'a>,
    pub(super) input: LaneInput<'a>,
    /// Scratch of a word for each of a group's blocks.
    pub(super) lower: &'a mut [f32],
}

impl MapRows<'_> {
    /// Pre-activations of group `index` of four rows that read `input`; without variances if the map
    /// propagates none.
    #[inline(always)]
    pub(super) fn group<V: Vectors>(&mut self, index: usize, input: &LaneInput<'_>) -> [LaneRow; 4] {
        let MapRows { map, lower, .. } = self;
        let group = if map.padded.split { map.split_group(index) } else { map.group(index) };
        let means = means::<V>(&group, input, lower);
        let mut mantissas = [[0; LANES]; 4];
        if map.propagates() {
            mantissas = vars::<V>(&group, input, lower);
            if let Some(terms) = &input.terms {
                let group = map.weight_var_group(index);
                let sums = dot::<V>(group.pairs, group.codes, input.squares, lower);
                add_weight_vars::<V>(&mut mantissas, &group, &sums, terms);
            }
        }
        let mut rows = [LaneRow { mean: [0; LANES], mantissa: [0; LANES], shift: input.shift }; 4];
        for (row, (mean, mantissa)) in rows.iter_mut().zip(means.into_iter().zip(mantissas)) {
            (row.mean, row.mantissa) = (mean, mantissa);
        }
        rows
    }
}

/// Means of a group's rows.
#[inline(always)]
fn means<V: Vectors>(group: &QuantizedGroup<'_>, input: &LaneInput<'_>, lower: &mut [f32]) -> [Ints; 4] {
    let mut rows = dot::<V>(group.pairs, group.weights, input.means, lower);
    let biases = integers::<AnyArchitecture>(group.biases);
    let scales = integers::<AnyArchitecture>(group.mean_scales);
    for (row, (bias, scale)) in rows.iter_mut().zip(biases.into_iter().zip(scales)) {
        let scaled = V::mul_high(row, scale);
        *row = lanes(|lane| bias.wrapping_add(scaled[lane]));
    }
    rows
}

/// Mantissas of the variances of a group's rows, without those of its weights.
#[inline(always)]
fn vars<V: Vectors>(group: &QuantizedGroup<'_>, input: &LaneInput<'_>, lower: &mut [f32]) -> [Ints; 4] {
    let mut rows = if group.squares.is_empty() && group.pairs.is_all() {
        dot_squared::<V>(group.weights, input.vars)
    } else {
        dot::<V>(group.pairs, group.squares, input.vars, lower)
    };
    for (row, scale) in rows.iter_mut().zip(integers::<AnyArchitecture>(group.var_scales)) {
        *row = V::mul_high(row, scale);
    }
    rows
}

/// Adds Σ m̃² τ + τ_b to the variances of a group, and brings all to the common exponent; `sums` are those of
/// the first term before scales.
#[inline(always)]
fn add_weight_vars<V: Vectors>(
    mantissas: &mut [Ints; 4],
    group: &WeightVarGroup<'_>,
    sums: &[Ints; 4],
    terms: &TermShifts,
) {
    let scales = integers::<AnyArchitecture>(group.scales).into_iter();
    let rows = sums.iter().zip(scales.zip(integers::<AnyArchitecture>(group.bias_vars)));
    for (mantissa, (sum, (scale, bias_var))) in mantissas.iter_mut().zip(rows) {
        let sum = V::mul_high(sum, scale);
        *mantissa = lanes(|lane| {
            let shifts =
                [terms.vars[lane], terms.squares[lane], terms.biases[lane]].map(|shift| shift as u32);
            with_weight_vars([mantissa[lane], sum[lane], bias_var], shifts)
        });
    }
}
