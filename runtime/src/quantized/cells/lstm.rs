//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2).

use super::super::arithmetic::mul_word;
use super::super::fixed::{BlockFloat, FixedMoments, INPUT_BITS, QuantizedUnit, SHORT_MEAN_BITS, VAR_BITS};
use super::super::format::QuantizedView;
use super::super::kernels::{self, QuantizedInput};
use super::super::moments::{deterministic_tanh, sigmoid_mean, tanh};
use super::group::{group_means, group_moments};
use super::unit_var;
use crate::spec::Architecture;

/// Largest magnitude of a cell and of its variance: 16, where tanh has long been 1. An f32 holds all 24 bits.
pub(in crate::quantized) const CELL_LIMIT: i32 = (1 << 24) - 1;
/// From a cell's fractional bits to a pre-activation's.
pub(super) const CELL_SHIFT: u32 = VAR_BITS - INPUT_BITS;

/// Replaces the units `h` and cells `c` of an LSTM layer by their next state.
pub(in crate::quantized) fn lstm_step<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    c: &mut [f32],
) {
    let cells = c.as_chunks_mut::<2>().0;
    if !map.propagates() {
        if kernels::lstm_means(map, input, h, cells).is_none() {
            deterministic_lstm_units(map, input, h, cells);
        }
    } else if kernels::lstm_units(map, input, h, cells).is_none() && !kernels::run_all_units::<A>() {
        portable_lstm_units(map, input, h, cells);
    }
}

/// Units with variances, on cores without a kernel for whole layers.
#[inline(never)]
fn portable_lstm_units<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) {
    for (index, (unit, [mean, var])) in h.iter_mut().zip(cells).enumerate() {
        let gates = group_moments(map, index, input).tanh(input.shift);
        *unit = cell_step(gates, mean, var).to_word();
    }
}

/// Units without variances.
#[inline(never)]
fn deterministic_lstm_units<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) {
    for (index, (unit, [mean, _])) in h.iter_mut().zip(cells).enumerate() {
        let (next, cell) = deterministic_unit_step(group_means(map, index, input), mean.to_bits() as i32);
        *mean = f32::from_bits(cell as u32);
        *unit = next.to_word();
    }
}

/// Advances one cell and returns its unit, from tanh of the gates' pre-activations in the order of a
/// checkpoint's rows.
fn cell_step(gates: [FixedMoments; 4], mean: &mut f32, var: &mut f32) -> QuantizedUnit {
    let [input, forget, candidate, output] = gates;
    let kept = kept(forget, mean.to_bits() as i32, var.to_bits() as i32);
    let added = gated(input, candidate);
    let cell_mean = limited(kept.mean + (added.mean >> 10));
    let cell_var = (kept.var + added.var).min(CELL_LIMIT);
    (*mean, *var) = (f32::from_bits(cell_mean as u32), f32::from_bits(cell_var as u32));
    let activation = tanh(cell_mean >> CELL_SHIFT, BlockFloat { mantissa: cell_var, shift: 0 });
    let unit = gated(output, activation);
    QuantizedUnit { mean: unit.mean >> SHORT_MEAN_BITS, var: unit_var(unit.var) }
}

/// The next (h, c) of one unit without variance.
#[inline(always)]
fn deterministic_unit_step(gates: [i32; 4], cell: i32) -> (QuantizedUnit, i32) {
    let [input, forget, candidate, output] = gates.map(deterministic_tanh);
    let short = |mean: i32| FixedMoments { mean, var: 0 }.short_mean();
    let kept = mul_word(cell, sigmoid_mean(forget)) << 1;
    let added = (sigmoid_mean(input) * short(candidate)) >> 10;
    let cell = limited(kept + added);
    let mean = (sigmoid_mean(output) * short(deterministic_tanh(cell >> CELL_SHIFT))) >> SHORT_MEAN_BITS;
    (QuantizedUnit { mean, var: 0 }, cell)
}

/// σ ⊙ c (Bayer 2015, thesis, eqs. 14 and 15), for a gate given as tanh of half its argument and a cell of
/// any size, with the fractional bits of a cell.
#[inline(always)]
fn kept(gate: FixedMoments, cell_mean: i32, cell_var: i32) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    FixedMoments {
        mean: mul_word(cell_mean, mean) << 1,
        var: gated_var(gate.var, mean, cell_mean >> 10, cell_var),
    }
}

/// V[σ] E[x²] + V[x] E[σ]² with the fractional bits of a variance: the gate's variance as that of tanh of
/// half its argument, its mean with 15 fractional bits, the mean of x with 10, limited to ±16.
#[inline(always)]
pub(super) fn gated_var(gate_var: i32, gate_mean: i32, mean: i32, var: i32) -> i32 {
    let second_moment = mean * mean + var;
    // V[σ] is a quarter of V[tanh]: 17 fractional bits fill 16.
    let gate_var = (gate_var >> 5).min(0x7FFF);
    (mul_word(second_moment, gate_var) >> 1) + (mul_word(mul_word(var, gate_mean), gate_mean) << 2)
}

/// σ ⊙ y for a y in ±1: V = V[σ] E[y²] + V[y] E[σ]² (eq. 15 with V + E² = E[y²] taken together). The mean has
/// 30 fractional bits.
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

/// Keeps a cell inside its 25 bits.
#[inline(always)]
fn limited(cell: i32) -> i32 {
    cell.clamp(-CELL_LIMIT - 1, CELL_LIMIT)
}
