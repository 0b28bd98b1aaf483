//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2).

use super::super::arithmetic::{Products, Scalar};
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
pub(in crate::quantized) const CELL_SHIFT: u32 = VAR_BITS - INPUT_BITS;

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
    let before = FixedMoments { mean: mean.to_bits() as i32, var: var.to_bits() as i32 };
    let cell = next_cell::<Scalar>([input, forget, candidate], before);
    (*mean, *var) = (f32::from_bits(cell.mean as u32), f32::from_bits(cell.var as u32));
    let (argument, var) = cell_pre_activation(cell);
    gated_unit::<Scalar>(output, tanh(argument, var))
}

/// The next cell, from tanh of the pre-activations of input gate, forget gate and candidate. Mean and
/// variance have the fractional bits of a cell.
#[inline(always)]
pub(in crate::quantized) fn next_cell<P: Products>(
    gates: [FixedMoments; 3],
    before: FixedMoments,
) -> FixedMoments {
    let [input, forget, candidate] = gates;
    let kept = kept::<P>(forget, before.mean, before.var);
    let added = gated::<P>(input, candidate);
    FixedMoments {
        mean: limited(kept.mean + (added.mean >> 10)),
        var: (kept.var + added.var).min(CELL_LIMIT),
    }
}

/// A cell as the argument of tanh.
#[inline(always)]
pub(in crate::quantized) fn cell_pre_activation(cell: FixedMoments) -> (i32, BlockFloat) {
    (cell.mean >> CELL_SHIFT, BlockFloat { mantissa: cell.var, shift: 0 })
}

/// The unit of an output gate, as tanh of its pre-activation, and of tanh of a cell.
#[inline(always)]
pub(in crate::quantized) fn gated_unit<P: Products>(
    output: FixedMoments,
    activation: FixedMoments,
) -> QuantizedUnit {
    let unit = gated::<P>(output, activation);
    QuantizedUnit { mean: unit.mean >> SHORT_MEAN_BITS, var: unit_var(unit.var) }
}

/// The next (h, c) of one unit without variance.
#[inline(always)]
fn deterministic_unit_step(gates: [i32; 4], cell: i32) -> (QuantizedUnit, i32) {
    let [input, forget, candidate, output] = gates.map(deterministic_tanh);
    let cell = deterministic_next_cell::<Scalar>([input, forget, candidate], cell);
    (deterministic_gated_unit(output, deterministic_tanh(cell >> CELL_SHIFT)), cell)
}

/// [`next_cell`] without variance.
#[inline(always)]
pub(in crate::quantized) fn deterministic_next_cell<P: Products>(gates: [i32; 3], cell: i32) -> i32 {
    let [input, forget, candidate] = gates;
    let kept = P::mul_word(cell, sigmoid_mean(forget)) << 1;
    let added = (sigmoid_mean(input) * short_mean(candidate)) >> 10;
    limited(kept + added)
}

/// [`gated_unit`] without variance.
#[inline(always)]
pub(in crate::quantized) fn deterministic_gated_unit(output: i32, activation: i32) -> QuantizedUnit {
    QuantizedUnit { mean: (sigmoid_mean(output) * short_mean(activation)) >> SHORT_MEAN_BITS, var: 0 }
}

/// The mean of an activation with [`SHORT_MEAN_BITS`] fractional bits.
#[inline(always)]
fn short_mean(mean: i32) -> i32 {
    FixedMoments { mean, var: 0 }.short_mean()
}

/// σ ⊙ c (Bayer 2015, thesis, eqs. 14 and 15), for a gate given as tanh of half its argument and a cell of
/// any size, with the fractional bits of a cell.
#[inline(always)]
fn kept<P: Products>(gate: FixedMoments, cell_mean: i32, cell_var: i32) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    FixedMoments {
        mean: P::mul_word(cell_mean, mean) << 1,
        var: gated_var::<P>(gate.var, mean, cell_mean >> 10, cell_var),
    }
}

/// V[σ] E[x²] + V[x] E[σ]² with the fractional bits of a variance: the gate's variance as that of tanh of
/// half its argument, its mean with 15 fractional bits, the mean of x with 10, limited to ±16.
#[inline(always)]
pub(super) fn gated_var<P: Products>(gate_var: i32, gate_mean: i32, mean: i32, var: i32) -> i32 {
    let second_moment = mean * mean + var;
    // V[σ] is a quarter of V[tanh]: 17 fractional bits fill 16.
    let gate_var = (gate_var >> 5).min(0x7FFF);
    (P::mul_word(second_moment, gate_var) >> 1) + (P::mul_word(P::mul_word(var, gate_mean), gate_mean) << 2)
}

/// σ ⊙ y for a y in ±1: V = V[σ] E[y²] + V[y] E[σ]² (eq. 15 with V + E² = E[y²] taken together). The mean has
/// 30 fractional bits.
#[inline(always)]
fn gated<P: Products>(gate: FixedMoments, y: FixedMoments) -> FixedMoments {
    let mean = sigmoid_mean(gate.mean);
    let y_mean = y.short_mean();
    // V[σ] is a quarter of V[tanh]: with 14 fractional bits a factor of 16 makes up for it.
    let second_moment = ((y.var >> 6) + ((y_mean * y_mean) >> 16)).min(0x3FFF);
    let from_gate = P::mul_word(gate.var, second_moment);
    let from_y = P::mul_word(P::mul_word(y.var, mean), mean) << 2;
    FixedMoments { mean: mean * y_mean, var: from_gate + from_y }
}

/// Keeps a cell inside its 25 bits.
#[inline(always)]
fn limited(cell: i32) -> i32 {
    cell.clamp(-CELL_LIMIT - 1, CELL_LIMIT)
}
