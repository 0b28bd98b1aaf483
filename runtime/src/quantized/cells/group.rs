//! Pre-activations of four rows.

use super::super::arithmetic::mul_high;
use super::super::fixed::{BlockFloat, FixedMoments};
use super::super::format::{QuantizedGroup, QuantizedView};
use super::super::kernels::{QuantizedInput, dot, dot_listed, dot_squared, integers};
use super::super::moments::tanh;
use super::super::pairs::{GroupPairs, PAIR_BYTES, SPAN_PAIRS};
use crate::spec::Architecture;

/// Means of four rows' pre-activations, and the mantissas of their variances (see [`BlockFloat`]), whose
/// shift is the input's.
#[derive(Default)]
pub(in crate::quantized) struct GroupMoments {
    pub(in crate::quantized) means: [i32; 4],
    pub(in crate::quantized) mantissas: [i32; 4],
}

/// Moments of one row's pre-activation; the mean has [`INPUT_BITS`](super::super::fixed::INPUT_BITS)
/// fractional bits.
#[derive(Clone, Copy)]
pub(in crate::quantized) struct PreActivation {
    pub(in crate::quantized) mean: i32,
    pub(in crate::quantized) var: BlockFloat,
}

impl PreActivation {
    /// Moments of its tanh.
    #[inline(always)]
    pub(super) fn tanh(self) -> FixedMoments {
        tanh(self.mean, self.var)
    }
}

impl GroupMoments {
    /// The pre-activation of one row: mean and variance.
    #[inline(always)]
    pub(in crate::quantized) fn at(&self, index: usize, shift: u32) -> (i32, BlockFloat) {
        let at = |values: &[i32; 4]| values.get(index).copied().unwrap_or_default();
        (at(&self.means), BlockFloat { mantissa: at(&self.mantissas), shift })
    }

    /// The same for activation functions.
    #[inline(always)]
    pub(super) fn row(&self, index: usize, shift: u32) -> PreActivation {
        let (mean, var) = self.at(index, shift);
        PreActivation { mean, var }
    }

    /// Moments of tanh of each row.
    #[inline(always)]
    pub(super) fn tanh(&self, shift: u32) -> [FixedMoments; 4] {
        let row =
            |index: usize| tanh(self.means[index], BlockFloat { mantissa: self.mantissas[index], shift });
        [row(0), row(1), row(2), row(3)]
    }
}

/// Pre-activations of group `index` of four rows.
#[inline(never)] // a call costs less than spilling its callers' registers
pub(in crate::quantized) fn group_moments<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> GroupMoments {
    let mut moments = if map.lists().is_empty() {
        moments_of::<A>(map.dense_group(index), input)
    } else {
        listed_moments(map, index, input)
    };
    if A::USES.weight_vars && input.terms.present {
        add_weight_vars(&mut moments, map, index, input);
    }
    moments
}

/// The same of a map whose groups read different columns.
#[inline(never)]
pub(super) fn split_group_moments<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> GroupMoments {
    let mut moments = if map.lists().is_empty() {
        moments_of::<A>(map.dense_split_group(index), input)
    } else {
        listed_moments(map, index, input)
    };
    if A::USES.weight_vars && input.terms.present {
        add_weight_vars(&mut moments, map, index, input);
    }
    moments
}

/// The same of a map with lists, whose groups are in memory: those of a dense map stay in registers.
#[inline(never)]
fn listed_moments<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> GroupMoments {
    moments_of::<A>(map.listed_group(index), input)
}

/// Adds Σ m̃² τ + τ_b to the variances of group `index`, whose mantissas are Σ ṽ (μ² + τ), and brings all to
/// the common exponent. The sum of the three stays below 2³⁰, as their scales are bounded (`weight_vars`).
#[inline(never)] // models without weight variances do not need its registers
fn add_weight_vars<A: Architecture>(
    moments: &mut GroupMoments,
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) {
    let (group, terms) = (map.weight_var_group(index), &input.terms);
    let sums = sums::<A>(group.pairs, group.codes, input.squares(map.padded.cols));
    let rows = sums.into_iter().zip(integers::<A>(group.scales));
    let rows = rows.zip(integers::<A>(group.bias_vars));
    for (mantissa, ((sum, scale), bias_var)) in moments.mantissas.iter_mut().zip(rows) {
        let shifts = [terms.vars, terms.squares, terms.biases].map(u32::from);
        *mantissa = with_weight_vars([*mantissa, mul_high(sum, scale), bias_var], shifts);
    }
}

/// The sum of the three terms of a variance, each shifted to their common exponent.
#[inline(always)]
pub(in crate::quantized) fn with_weight_vars(terms: [i32; 3], shifts: [u32; 3]) -> i32 {
    let [of_squares, of_weight_vars, of_bias] = terms.map(|term| term as u32);
    let [squares, weight_vars, bias] = shifts;
    let sum = of_squares.wrapping_shr(squares).wrapping_add(of_weight_vars.wrapping_shr(weight_vars));
    sum.wrapping_add(of_bias.wrapping_shr(bias)) as i32
}

#[inline(always)]
fn moments_of<A: Architecture>(group: QuantizedGroup<'_>, input: &QuantizedInput<'_>) -> GroupMoments {
    let means = scaled_means::<A>(&group, sums::<A>(group.pairs, group.weights, input.means));
    let [t, u, v, w] = if A::USES.unsquared && group.squares.is_empty() && group.pairs.is_all() {
        dot_squared(group.weights, input.vars)
    } else {
        sums::<A>(group.pairs, group.squares, input.vars)
    };
    let [a, b, c, d] = integers::<A>(group.var_scales);
    GroupMoments { means, mantissas: [mul_high(t, a), mul_high(u, b), mul_high(v, c), mul_high(w, d)] }
}

/// Means of the pre-activations of group `index` of four rows.
#[inline(never)]
pub(in crate::quantized) fn group_means<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> [i32; 4] {
    if map.lists().is_empty() {
        means_of::<A>(map.dense_group(index), input)
    } else {
        listed_means(map, index, input)
    }
}

/// The same of a map whose groups read different columns.
#[inline(never)]
pub(super) fn split_group_means<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> [i32; 4] {
    if map.lists().is_empty() {
        means_of::<A>(map.dense_split_group(index), input)
    } else {
        listed_means(map, index, input)
    }
}

/// The same of a map with lists.
#[inline(never)]
fn listed_means<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> [i32; 4] {
    means_of::<A>(map.listed_group(index), input)
}

#[inline(always)]
fn means_of<A: Architecture>(group: QuantizedGroup<'_>, input: &QuantizedInput<'_>) -> [i32; 4] {
    scaled_means::<A>(&group, sums::<A>(group.pairs, group.weights, input.means))
}

/// 256 × Σ w x for four rows over the pairs of columns that their blocks hold.
#[inline(always)]
fn sums<A: Architecture>(pairs: GroupPairs<'_>, blocks: &[u8], input: &[f32]) -> [i32; 4] {
    if !A::USES.lists || pairs.is_all() { dot::<A>(blocks, input) } else { listed_sums(pairs, blocks, input) }
}

/// [`sums`] of listed pairs, list after list.
#[inline(never)] // apart from the registers of a dense map
fn listed_sums(pairs: GroupPairs<'_>, blocks: &[u8], input: &[f32]) -> [i32; 4] {
    let (mut sums, mut blocks, mut input) = ([0; 4], blocks, input);
    for list in pairs.lists() {
        let (words, rest) = blocks.split_at_checked(PAIR_BYTES * list.len()).unwrap_or_default();
        let more = dot_listed(words, list, input);
        sums.iter_mut().zip(more).for_each(|(sum, more): (&mut i32, i32)| *sum = sum.wrapping_add(more));
        (blocks, input) = (rest, input.get(SPAN_PAIRS..).unwrap_or_default());
    }
    sums
}

#[inline(always)]
fn scaled_means<A: Architecture>(group: &QuantizedGroup<'_>, sums: [i32; 4]) -> [i32; 4] {
    let ([p, q, r, s], [a, b, c, d], [k, l, m, n]) =
        (sums, integers::<A>(group.biases), integers::<A>(group.mean_scales));
    let row = |sum: i32, bias: i32, scale: i32| bias.wrapping_add(mul_high(sum, scale));
    [row(p, a, k), row(q, b, l), row(r, c, m), row(s, d, n)]
}
