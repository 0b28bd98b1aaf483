//! One step of each recurrence in integers, four rows of weights at a time.
//!
//! The recurrences are those of `elman` and `lstm`; numbers have the fractional bits of `moments::fixed`, cells the same as
//! variances.

use super::activations::{PackedInput, PackedUnit};
use crate::checkpoint::{PackedGroup, PackedRow, PackedView, Transfer};
use crate::kernels::{self, TanhRows, dot, dot_squared, mul_high, mul_word};
use crate::moments::fixed::{FixedMoments, Spread, sigmoid_mean, tanh, tanh_certain};

/// Largest magnitude of a cell and of its variance: 16, where tanh has long been 1. An f32 holds all 24 bits.
pub(crate) const CELL_LIMIT: i32 = (1 << 24) - 1;
/// Largest variance of a unit.
const UNIT_VAR_LIMIT: i32 = 0xFFFF;
/// From variances with 20 fractional bits to a unit's 16.
const UNIT_VAR_SHIFT: u32 = 4;

/// Mean and variance of a row's pre-activation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PreActivation {
    pub(crate) mean: i32,
    pub(crate) spread: Spread,
}

/// Pre-activations of four rows.
#[inline(always)]
pub(crate) fn group_moments(group: PackedGroup<'_>, input: PackedInput<'_>) -> [PreActivation; 4] {
    let means = dot(group.weights, input.means);
    let vars = if group.squares.is_empty() {
        dot_squared(group.weights, input.vars)
    } else {
        dot(group.squares, input.vars)
    };
    let [a, b, c, d] = *group.rows;
    let row = |row: [u8; 12], mean: i32, var: i32| {
        let row = PackedRow::read(&row);
        let spread = Spread { mantissa: mul_high(var, row.var_scale), shift: input.shift };
        PreActivation { mean: row.bias.wrapping_add(mul_high(mean, row.mean_scale)), spread }
    };
    [
        row(a, means[0], vars[0]),
        row(b, means[1], vars[1]),
        row(c, means[2], vars[2]),
        row(d, means[3], vars[3]),
    ]
}

/// Means of four rows' pre-activations.
#[inline(always)]
pub(crate) fn group_means(group: PackedGroup<'_>, input: PackedInput<'_>) -> [i32; 4] {
    let [p, q, r, s] = dot(group.weights, input.means);
    let [a, b, c, d] = *group.rows;
    let row = |row: [u8; 12], mean: i32| {
        let row = PackedRow::read(&row);
        row.bias.wrapping_add(mul_high(mean, row.mean_scale))
    };
    [row(a, p), row(b, q), row(c, r), row(d, s)]
}

/// Shows `each` the moments of tanh of every four rows, until it has had enough.
fn tanh_rows(
    map: PackedView<'_>,
    input: PackedInput<'_>,
    mut each: impl FnMut([FixedMoments; 4]) -> Option<()>,
) {
    // Two loops, so that neither asks at each turn which it is.
    match TanhRows::new(map, input.means, input.vars, input.shift) {
        Some(mut rows) => rows.try_for_each(&mut each),
        None => map.groups().try_for_each(|group| each(group_tanh(group, input))),
    };
}

fn group_tanh(group: PackedGroup<'_>, input: PackedInput<'_>) -> [FixedMoments; 4] {
    group_moments(group, input).map(|a| tanh(a.mean, a.spread))
}

/// Overwrites the units `h` of an Elman layer with their next state.
pub(crate) fn packed_elman_step(
    function: Transfer,
    map: PackedView<'_>,
    input: PackedInput<'_>,
    h: &mut [f32],
) {
    let mut places = h.chunks_mut(4);
    let write = |y: [FixedMoments; 4]| {
        for (unit, y) in places.next()?.iter_mut().zip(y) {
            let FixedMoments { mean, var } = match function {
                Transfer::Sigmoid => sigmoid(y),
                Transfer::Tanh | Transfer::Rectifier => y,
            };
            *unit = PackedUnit { mean, var: unit_var(var) }.to_word();
        }
        Some(())
    };
    if map.shape.propagates {
        tanh_rows(map, input, write);
    } else {
        let certain = |mean| FixedMoments { mean: tanh_certain(mean), var: 0 };
        map.groups().map(|group| group_means(group, input).map(certain)).try_for_each(write);
    }
}

/// Overwrites the units `h` and cells `c` of an LSTM layer with their next state.
pub(crate) fn packed_lstm_step(map: PackedView<'_>, input: PackedInput<'_>, h: &mut [f32], c: &mut [f32]) {
    let (c_means, c_vars) = c.split_at_mut_checked(c.len() / 2).unwrap_or_default();
    let mut units = h.iter_mut().zip(c_means.iter_mut().zip(c_vars));
    if map.shape.propagates {
        tanh_rows(map, input, |gates| {
            let (unit, (mean, var)) = units.next()?;
            *unit = kernels::cell_step(&gates, mean, var);
            Some(())
        });
    } else {
        for ((unit, (mean, _)), group) in units.zip(map.groups()) {
            let (next, cell) = certain_unit_step(group_means(group, input), mean.to_bits() as i32);
            *unit = next.to_word();
            *mean = f32::from_bits(cell as u32);
        }
    }
}

/// Brings one cell forward and returns its unit, from tanh of the gates' pre-activations in the order of a checkpoint's
/// rows.
#[cfg_attr(not(test), allow(dead_code))] // where a core has a kernel for it, this is only its definition
pub(crate) fn cell_step(gates: &[FixedMoments; 4], mean: &mut f32, var: &mut f32) -> f32 {
    let [input, forget, candidate, output] = *gates;
    let kept = kept(forget, FixedMoments { mean: mean.to_bits() as i32, var: var.to_bits() as i32 });
    let added = gated(input, candidate);
    let cell = FixedMoments {
        mean: limited(kept.mean + (added.mean >> 10)),
        var: (kept.var + added.var).min(CELL_LIMIT),
    };
    (*mean, *var) = (f32::from_bits(cell.mean as u32), f32::from_bits(cell.var as u32));
    let squashed = tanh(cell.mean >> 2, Spread { mantissa: cell.var, shift: 0 });
    let unit = gated(output, squashed);
    PackedUnit { mean: unit.mean >> 15, var: unit_var(unit.var) }.to_word()
}

/// The next (h, c) of one unit that carries no variance.
#[inline(always)]
fn certain_unit_step(gates: [i32; 4], cell: i32) -> (PackedUnit, i32) {
    let [input, forget, candidate, output] = gates.map(tanh_certain);
    let kept = mul_word(cell, sigmoid_mean(forget)) << 1;
    let added = (sigmoid_mean(input) * candidate) >> 10;
    let cell = limited(kept + added);
    let mean = (sigmoid_mean(output) * tanh_certain(cell >> 2)) >> 15;
    (PackedUnit { mean, var: 0 }, cell)
}

/// σ ⊙ c (Bayer 2015, thesis, eqs. 14 and 15), for a gate given as tanh of half its argument and a cell of any size.
#[inline(always)]
fn kept(gate: FixedMoments, cell: FixedMoments) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    let root = cell.mean >> 10;
    let second_moment = root * root + cell.var;
    // V[σ] is a quarter of V[tanh]: 17 fractional bits fill 16.
    let gate_var = (gate.var >> 5).min(0x7FFF);
    FixedMoments {
        mean: mul_word(cell.mean, mean) << 1,
        var: (mul_word(second_moment, gate_var) >> 1) + (mul_word(mul_word(cell.var, mean), mean) << 2),
    }
}

/// σ ⊙ y for a y in ±1: V = V[σ] E[y²] + V[y] E[σ]² (eq. 15 with V + E² = E[y²] taken together). The mean has 30
/// fractional bits.
#[inline(always)]
fn gated(gate: FixedMoments, y: FixedMoments) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    let second_moment = ((y.var >> 5) + ((y.mean * y.mean) >> 15)).min(0x7FFF);
    let from_gate = mul_word(gate.var, second_moment) >> 1;
    let from_y = mul_word(mul_word(y.var, mean), mean) << 2;
    FixedMoments { mean: mean * y.mean, var: from_gate + from_y }
}

/// Moments of σ from those of tanh of half the argument.
#[inline(always)]
fn sigmoid(tanh: FixedMoments) -> FixedMoments {
    FixedMoments { mean: sigmoid_mean(tanh.mean), var: tanh.var >> 2 }
}

/// Keeps a cell inside its 25 bits.
#[inline(always)]
fn limited(cell: i32) -> i32 {
    cell.clamp(-CELL_LIMIT - 1, CELL_LIMIT)
}

#[inline(always)]
fn unit_var(var: i32) -> i32 {
    (var >> UNIT_VAR_SHIFT).min(UNIT_VAR_LIMIT)
}
