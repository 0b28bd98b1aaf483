//! One step of each recurrence in integers, four rows of weights at a time.
//!
//! The recurrences are those of `elman` and `lstm`; numbers have the fractional bits of `moments::fixed`, cells the same as
//! variances.

use super::activations::{QuantizedInput, QuantizedUnit};
use crate::checkpoint::{Activation, QuantizedGroup, QuantizedView};
use crate::kernels::{self, dot, dot_squared, mul_high, mul_word};
use crate::moments::fixed::{
    BlockFloat, FixedMoments, INPUT_BITS, SHORT_MEAN_BITS, VAR_BITS, deterministic_tanh, sigmoid_mean, tanh,
};

/// Largest magnitude of a cell and of its variance: 16, where tanh has long been 1. An f32 holds all 24 bits.
pub(crate) const CELL_LIMIT: i32 = (1 << 24) - 1;
/// From a cell's fractional bits to a pre-activation's.
const CELL_SHIFT: u32 = VAR_BITS - INPUT_BITS;
/// Largest variance of a unit.
const UNIT_VAR_LIMIT: i32 = 0xFFFF;
/// From variances with 20 fractional bits to a unit's 16.
const UNIT_VAR_SHIFT: u32 = 4;

/// Means of four rows' pre-activations, and the mantissas of their variances (see [`BlockFloat`]), whose shift is the input's.
pub(crate) struct GroupMoments {
    pub(crate) means: [i32; 4],
    pub(crate) mantissas: [i32; 4],
}

impl GroupMoments {
    /// Moments of tanh of each row.
    #[inline(always)]
    fn tanh(&self, shift: u32) -> [FixedMoments; 4] {
        let row =
            |index: usize| tanh(self.means[index], BlockFloat { mantissa: self.mantissas[index], shift });
        [row(0), row(1), row(2), row(3)]
    }
}

/// Pre-activations of group `index` of four rows.
#[inline(never)] // a call costs less than the registers that its callers would lack
pub(crate) fn group_moments(
    map: &QuantizedView<'_>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> GroupMoments {
    let group = map.group(index);
    let means = scaled_means(&group, dot(group.weights, input.means));
    let [t, u, v, w] = if group.squares.is_empty() {
        dot_squared(group.weights, input.vars)
    } else {
        dot(group.squares, input.vars)
    };
    let [a, b, c, d] = *group.var_scales;
    let row = |sum: i32, scale: [u8; 4]| mul_high(sum, i32::from_le_bytes(scale));
    GroupMoments { means, mantissas: [row(t, a), row(u, b), row(v, c), row(w, d)] }
}

/// Means of the pre-activations of group `index` of four rows.
#[inline(never)]
pub(crate) fn group_means(map: &QuantizedView<'_>, index: usize, input: &QuantizedInput<'_>) -> [i32; 4] {
    let group = map.group(index);
    scaled_means(&group, dot(group.weights, input.means))
}

#[inline(always)]
fn scaled_means(group: &QuantizedGroup<'_>, sums: [i32; 4]) -> [i32; 4] {
    let ([p, q, r, s], [a, b, c, d], [k, l, m, n]) = (sums, *group.biases, *group.mean_scales);
    let row = |sum: i32, bias: [u8; 4], scale: [u8; 4]| {
        i32::from_le_bytes(bias).wrapping_add(mul_high(sum, i32::from_le_bytes(scale)))
    };
    [row(p, a, k), row(q, b, l), row(r, c, m), row(s, d, n)]
}

/// Overwrites the units `h` of an Elman layer with their next state.
pub(crate) fn packed_elman_step(
    function: Activation,
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
) {
    let done = if map.propagates { kernels::tanh_units(map, input, h) } else { 0 };
    if done < h.len() {
        other_tanh_units(map, input, h, done);
    }
    if function == Activation::Sigmoid {
        sigmoids(h);
    }
}

/// The units from `done` on, a multiple of four.
#[inline(never)] // whatever a kernel has not done waits outside of its caller's frame
fn other_tanh_units(map: &QuantizedView<'_>, input: &QuantizedInput<'_>, h: &mut [f32], done: usize) {
    for (index, units) in h.chunks_mut(4).enumerate().skip(done / 4) {
        let tanh = if map.propagates {
            group_moments(map, index, input).tanh(input.shift)
        } else {
            group_means(map, index, input).map(|mean| FixedMoments { mean: deterministic_tanh(mean), var: 0 })
        };
        for (unit, y) in units.iter_mut().zip(tanh) {
            *unit = QuantizedUnit { mean: y.short_mean(), var: unit_var(y.var) }.to_word();
        }
    }
}

/// Overwrites the units `h` and cells `c` of an LSTM layer with their next state.
pub(crate) fn packed_lstm_step(
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    c: &mut [f32],
) {
    let cells = c.as_chunks_mut::<2>().0;
    if !map.propagates {
        certain_lstm_units(map, input, h, cells);
    } else if kernels::lstm_units(map, input, h, cells).is_none() {
        other_lstm_units(map, input, h, cells);
    }
}

/// Units that carry variances, where no kernel takes all of them.
#[inline(never)]
fn other_lstm_units(
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) {
    for (index, (unit, [mean, var])) in h.iter_mut().zip(cells).enumerate() {
        let gates = group_moments(map, index, input).tanh(input.shift);
        *unit = cell_step(gates, mean, var).to_word();
    }
}

/// Units that carry none.
#[inline(never)]
fn certain_lstm_units(
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) {
    for (index, (unit, [mean, _])) in h.iter_mut().zip(cells).enumerate() {
        let (next, cell) = certain_unit_step(group_means(map, index, input), mean.to_bits() as i32);
        *mean = f32::from_bits(cell as u32);
        *unit = next.to_word();
    }
}

/// Brings one cell forward and returns its unit, from tanh of the gates' pre-activations in the order of a checkpoint's
/// rows.
fn cell_step(gates: [FixedMoments; 4], mean: &mut f32, var: &mut f32) -> QuantizedUnit {
    let [input, forget, candidate, output] = gates;
    let kept = kept(forget, mean.to_bits() as i32, var.to_bits() as i32);
    let added = gated(input, candidate);
    let cell_mean = limited(kept.mean + (added.mean >> 10));
    let cell_var = (kept.var + added.var).min(CELL_LIMIT);
    (*mean, *var) = (f32::from_bits(cell_mean as u32), f32::from_bits(cell_var as u32));
    let squashed = tanh(cell_mean >> CELL_SHIFT, BlockFloat { mantissa: cell_var, shift: 0 });
    let unit = gated(output, squashed);
    QuantizedUnit { mean: unit.mean >> SHORT_MEAN_BITS, var: unit_var(unit.var) }
}

/// The next (h, c) of one unit that carries no variance.
#[inline(always)]
fn certain_unit_step(gates: [i32; 4], cell: i32) -> (QuantizedUnit, i32) {
    let [input, forget, candidate, output] = gates.map(deterministic_tanh);
    let short = |mean: i32| FixedMoments { mean, var: 0 }.short_mean();
    let kept = mul_word(cell, sigmoid_mean(forget)) << 1;
    let added = (sigmoid_mean(input) * short(candidate)) >> 10;
    let cell = limited(kept + added);
    let mean = (sigmoid_mean(output) * short(deterministic_tanh(cell >> CELL_SHIFT))) >> SHORT_MEAN_BITS;
    (QuantizedUnit { mean, var: 0 }, cell)
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

/// Units that end in σ, from tanh of half the argument.
#[inline(never)]
fn sigmoids(units: &mut [f32]) {
    for unit in units {
        let QuantizedUnit { mean, var } = QuantizedUnit::from_word(*unit);
        *unit = QuantizedUnit { mean: (mean + (1 << SHORT_MEAN_BITS)) >> 1, var: var >> 2 }.to_word();
    }
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
