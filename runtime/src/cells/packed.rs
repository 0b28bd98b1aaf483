//! One step of each recurrence in integers, four rows of weights at a time.
//!
//! The recurrences are those of `elman` and `lstm`; numbers have the fractional bits of `moments::fixed`, cells the same as
//! variances.

use super::activations::{PackedInput, PackedUnit};
use crate::checkpoint::{PackedGroup, PackedView, Transfer};
use crate::kernels::{self, dot, dot_squared, mul_high, mul_word};
use crate::moments::fixed::{
    FixedMoments, INPUT_BITS, SHORT_MEAN_BITS, Spread, VAR_BITS, sigmoid_mean, tanh, tanh_certain,
};

/// Largest magnitude of a cell and of its variance: 16, where tanh has long been 1. An f32 holds all 24 bits.
pub(crate) const CELL_LIMIT: i32 = (1 << 24) - 1;
/// From a cell's fractional bits to a pre-activation's.
const CELL_SHIFT: u32 = VAR_BITS - INPUT_BITS;
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
#[inline(never)] // a call costs less than the registers that its callers would lack
pub(crate) fn group_moments(group: PackedGroup<'_>, input: PackedInput<'_>) -> [PreActivation; 4] {
    let [p, q, r, s] = group_means(group, input);
    let sums = if group.squares.is_empty() {
        dot_squared(group.weights, input.vars)
    } else {
        dot(group.squares, input.vars)
    };
    let [t, u, v, w] = sums;
    let [a, b, c, d] = *group.var_scales;
    let row = |mean: i32, var: i32, scale: [u8; 4]| {
        let mantissa = mul_high(var, i32::from_le_bytes(scale));
        PreActivation { mean, spread: Spread { mantissa, shift: input.shift } }
    };
    [row(p, t, a), row(q, u, b), row(r, v, c), row(s, w, d)]
}

/// Means of four rows' pre-activations.
#[inline(never)]
pub(crate) fn group_means(group: PackedGroup<'_>, input: PackedInput<'_>) -> [i32; 4] {
    let [p, q, r, s] = dot(group.weights, input.means);
    let ([a, b, c, d], [k, l, m, n]) = (*group.biases, *group.mean_scales);
    let row = |sum: i32, bias: [u8; 4], scale: [u8; 4]| {
        i32::from_le_bytes(bias).wrapping_add(mul_high(sum, i32::from_le_bytes(scale)))
    };
    [row(p, a, k), row(q, b, l), row(r, c, m), row(s, d, n)]
}

/// Overwrites the units `h` of an Elman layer with their next state.
pub(crate) fn packed_elman_step(
    function: Transfer,
    map: PackedView<'_>,
    input: PackedInput<'_>,
    h: &mut [f32],
) {
    let done = if map.shape.propagates { kernels::tanh_units(map, input, h) } else { 0 };
    if done < h.len() {
        other_tanh_units(map, input, h, done);
    }
    if function == Transfer::Sigmoid {
        h.iter_mut().for_each(|unit| *unit = sigmoid(PackedUnit::from_word(*unit)).to_word());
    }
}

/// The units from `done` on, a multiple of four.
fn other_tanh_units(map: PackedView<'_>, input: PackedInput<'_>, h: &mut [f32], done: usize) {
    for (units, group) in h.chunks_mut(4).zip(map.groups()).skip(done / 4) {
        let tanh = if map.shape.propagates {
            group_moments(group, input).map(|a| tanh(a.mean, a.spread))
        } else {
            group_means(group, input).map(|mean| FixedMoments { mean: tanh_certain(mean), var: 0 })
        };
        for (unit, y) in units.iter_mut().zip(tanh) {
            *unit = PackedUnit { mean: y.short_mean(), var: unit_var(y.var) }.to_word();
        }
    }
}

/// Overwrites the units `h` and cells `c` of an LSTM layer with their next state.
pub(crate) fn packed_lstm_step(map: PackedView<'_>, input: PackedInput<'_>, h: &mut [f32], c: &mut [f32]) {
    let cells = c.as_chunks_mut::<2>().0;
    if map.shape.propagates {
        if kernels::lstm_units(map, input, h, cells).is_none() {
            for ((unit, [mean, var]), group) in h.iter_mut().zip(cells).zip(map.groups()) {
                let gates = group_moments(group, input).map(|a| tanh(a.mean, a.spread));
                *unit = cell_step(gates, mean, var).to_word();
            }
        }
    } else {
        for ((unit, [mean, _]), group) in h.iter_mut().zip(cells).zip(map.groups()) {
            let (next, cell) = certain_unit_step(group_means(group, input), mean.to_bits() as i32);
            *mean = f32::from_bits(cell as u32);
            *unit = next.to_word();
        }
    }
}

/// Brings one cell forward and returns its unit, from tanh of the gates' pre-activations in the order of a checkpoint's
/// rows.
fn cell_step(gates: [FixedMoments; 4], mean: &mut f32, var: &mut f32) -> PackedUnit {
    let [input, forget, candidate, output] = gates;
    let kept = kept(forget, mean.to_bits() as i32, var.to_bits() as i32);
    let added = gated(input, candidate);
    let cell_mean = limited(kept.mean + (added.mean >> 10));
    let cell_var = (kept.var + added.var).min(CELL_LIMIT);
    (*mean, *var) = (f32::from_bits(cell_mean as u32), f32::from_bits(cell_var as u32));
    let squashed = tanh(cell_mean >> CELL_SHIFT, Spread { mantissa: cell_var, shift: 0 });
    let unit = gated(output, squashed);
    PackedUnit { mean: unit.mean >> SHORT_MEAN_BITS, var: unit_var(unit.var) }
}

/// The next (h, c) of one unit that carries no variance.
#[inline(always)]
fn certain_unit_step(gates: [i32; 4], cell: i32) -> (PackedUnit, i32) {
    let [input, forget, candidate, output] = gates.map(tanh_certain);
    let short = |mean: i32| FixedMoments { mean, var: 0 }.short_mean();
    let kept = mul_word(cell, sigmoid_mean(forget)) << 1;
    let added = (sigmoid_mean(input) * short(candidate)) >> 10;
    let cell = limited(kept + added);
    let mean = (sigmoid_mean(output) * short(tanh_certain(cell >> CELL_SHIFT))) >> SHORT_MEAN_BITS;
    (PackedUnit { mean, var: 0 }, cell)
}

/// σ ⊙ c (Bayer 2015, thesis, eqs. 14 and 15), for a gate given as tanh of half its argument and a cell of any size, with the
/// fractional bits of a cell.
#[inline(always)]
fn kept(gate: FixedMoments, cell_mean: i32, cell_var: i32) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    let root = cell_mean >> 10;
    let second_moment = root * root + cell_var;
    // V[σ] is a quarter of V[tanh]: 17 fractional bits fill 16.
    let gate_var = (gate.var >> 5).min(0x7FFF);
    FixedMoments {
        mean: mul_word(cell_mean, mean) << 1,
        var: (mul_word(second_moment, gate_var) >> 1) + (mul_word(mul_word(cell_var, mean), mean) << 2),
    }
}

/// σ ⊙ y for a y in ±1: V = V[σ] E[y²] + V[y] E[σ]² (eq. 15 with V + E² = E[y²] taken together). The mean has 30
/// fractional bits.
#[inline(always)]
fn gated(gate: FixedMoments, y: FixedMoments) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    let y_mean = y.short_mean();
    // V[σ] is a quarter of V[tanh]: with 14 fractional bits a factor of 16 makes up for it.
    let second_moment = ((y.var >> 6) + ((y_mean * y_mean) >> 16)).min(0x3FFF);
    let from_gate = mul_word(gate.var, second_moment);
    let from_y = mul_word(mul_word(y.var, mean), mean) << 2;
    FixedMoments { mean: mean * y_mean, var: from_gate + from_y }
}

/// A unit that ends in σ, from tanh of half the argument.
#[inline(always)]
fn sigmoid(tanh: PackedUnit) -> PackedUnit {
    PackedUnit { mean: (tanh.mean + (1 << SHORT_MEAN_BITS)) >> 1, var: tanh.var >> 2 }
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
