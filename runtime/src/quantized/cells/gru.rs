//! The gated recurrent unit in integers, four units at a time.
//!
//! The recurrence is that of `float::cells::gru`. The rows of four units stand in four groups ([`GruPart`]);
//! means of pre-activations have 14 fractional bits and their variances are in block floating point, as in
//! every quantized layer. The candidate's variance has the 20 fractional bits of an LSTM's cell, whose limits
//! it shares.

use super::super::arithmetic::{Products, Scalar};
use super::super::fixed::{
    BlockFloat, FixedMoments, QuantizedUnit, SHORT_MEAN_BITS, UNIT_VAR_BITS, VAR_BITS,
};
use super::super::format::{Columns, GruPart, QuantizedView};
use super::super::kernels::{self, QuantizedInput};
use super::super::moments::{deterministic_tanh, sigmoid_mean};
use super::group::{GroupMoments, PreActivation, split_group_means, split_group_moments};
use super::lstm::{CELL_LIMIT, CELL_SHIFT, gated_var};
use super::unit_var;
use crate::spec::Architecture;

/// Largest magnitude of the candidate's part from the state: 16, as that of a cell.
const PRE_LIMIT: i32 = CELL_LIMIT >> CELL_SHIFT;
/// Largest factor of 15 fractional bits.
const LARGEST_FACTOR: i32 = 0x7FFF;

/// Overwrites the units `h` of a GRU layer with their next state.
#[inline(never)] // its kernel's arguments are many, and would be in the frame of every cell's step
pub(in crate::quantized) fn gru_step<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
) {
    if !map.propagates() {
        return deterministic_units(map, input, h);
    }
    let done = kernels::gru_units(map, input, h);
    if done < h.len() && !kernels::run_all_units::<A>() {
        other_units(map, input, h, done);
    }
}

/// The units from `done` on, a multiple of four.
#[inline(never)] // whatever a kernel has not done waits outside of its caller's frame
fn other_units<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    done: usize,
) {
    for (four, units) in h.chunks_mut(4).enumerate().skip(done / 4) {
        let parts = part_groups(map, four, input, split_group_moments);
        for (index, unit) in units.iter_mut().enumerate() {
            let rows = parts.each_ref().map(|part: &GroupMoments| part.row(index, input.shift));
            *unit = unit_step(rows, QuantizedUnit::from_word(*unit)).to_word();
        }
    }
}

/// Pre-activations of the parts of four units, as `group` computes them.
#[inline(always)]
fn part_groups<T, A: Architecture>(
    map: &QuantizedView<'_, A>,
    four: usize,
    input: &QuantizedInput<'_>,
    group: fn(&QuantizedView<'_, A>, usize, &QuantizedInput<'_>) -> T,
) -> [T; 4] {
    let state = input.columns_from(map.padded.inputs);
    let part = |index: usize, part: GruPart| {
        let input = match part.columns() {
            Columns::All | Columns::Input => input,
            Columns::State => &state,
        };
        group(map, 4 * four + index, input)
    };
    [
        part(0, GruPart::Reset),
        part(1, GruPart::Update),
        part(2, GruPart::FromInput),
        part(3, GruPart::FromState),
    ]
}

/// The next state of one unit.
fn unit_step(rows: [PreActivation; 4], before: QuantizedUnit) -> QuantizedUnit {
    let [reset, update, from_input, from_state] = rows;
    let candidate = candidate::<Scalar>(reset.tanh(), from_input, from_state);
    let n = candidate.tanh();
    interpolate::<Scalar>(update.tanh(), n, before)
}

/// a_x + σ(r) ⊙ a_h, for a reset gate given as tanh of half its argument.
#[inline(always)]
pub(in crate::quantized) fn candidate<P: Products>(
    reset: FixedMoments,
    from_input: PreActivation,
    from_state: PreActivation,
) -> PreActivation {
    let var = |var: BlockFloat| (var.mantissa >> var.shift).min(CELL_LIMIT);
    let (gate, state_mean) = (sigmoid_mean(reset.mean), limited(from_state.mean));
    let gated = gated_var::<P>(reset.var, gate, state_mean >> 4, var(from_state.var));
    PreActivation {
        mean: from_input.mean + P::mul_word(state_mean << 1, gate),
        var: BlockFloat { mantissa: var(from_input.var) + gated, shift: 0 },
    }
}

/// Limits the candidate's part from the state, which is squared for its variance, to ±16.
#[inline(always)]
fn limited(mean: i32) -> i32 {
    mean.clamp(-PRE_LIMIT - 1, PRE_LIMIT)
}

/// (1 − z) ⊙ n + z ⊙ h for an update gate given as tanh of half its argument:
/// V = E[(1 − z)²] V[n] + E[z²] V[h] + V[z] (E[h] − E[n])², each term with 19 fractional bits.
#[inline(always)]
pub(in crate::quantized) fn interpolate<P: Products>(
    update: FixedMoments,
    n: FixedMoments,
    h: QuantizedUnit,
) -> QuantizedUnit {
    let z = sigmoid_mean(update.mean);
    let n_mean = n.short_mean();
    let difference = h.mean - n_mean;
    // V[z] is a quarter of V[tanh]; 15 fractional bits here, 22 below.
    let z_var = update.var >> 7;
    let second_moment = |mean: i32| (((mean * mean) >> SHORT_MEAN_BITS) + z_var).min(LARGEST_FACTOR);
    let from_n = P::mul_word(n.var, second_moment((1 << SHORT_MEAN_BITS) - z));
    let from_h = P::mul_word(h.var << (VAR_BITS - UNIT_VAR_BITS), second_moment(z));
    // 13 fractional bits: the square of a difference is at most 4, which fills a word without sign.
    let square = difference.wrapping_mul(difference) as u32;
    let from_z = P::mul_word(update.var, (square >> 17) as i32);
    QuantizedUnit {
        mean: n_mean + ((difference * z) >> SHORT_MEAN_BITS),
        var: unit_var((from_n + from_h + from_z) << 1),
    }
}

/// Units of a layer that carries no variances.
#[inline(never)]
fn deterministic_units<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
) {
    for (four, units) in h.chunks_mut(4).enumerate() {
        let [reset, update, from_input, from_state] = part_groups(map, four, input, split_group_means);
        let rows = reset.into_iter().zip(update).zip(from_input.into_iter().zip(from_state));
        for (unit, ((reset, update), (from_input, from_state))) in units.iter_mut().zip(rows) {
            let rows = [reset, update, from_input, from_state];
            *unit = deterministic_unit_step(rows, QuantizedUnit::from_word(*unit)).to_word();
        }
    }
}

/// The next state of one unit without variance.
#[inline(always)]
fn deterministic_unit_step(rows: [i32; 4], before: QuantizedUnit) -> QuantizedUnit {
    let [reset, update, from_input, from_state] = rows;
    let candidate = deterministic_candidate::<Scalar>(deterministic_tanh(reset), from_input, from_state);
    let n = FixedMoments { mean: deterministic_tanh(candidate), var: 0 };
    interpolate::<Scalar>(FixedMoments { mean: deterministic_tanh(update), var: 0 }, n, before)
}

/// [`candidate`] without variance.
#[inline(always)]
pub(in crate::quantized) fn deterministic_candidate<P: Products>(
    reset: i32,
    from_input: i32,
    from_state: i32,
) -> i32 {
    from_input + P::mul_word(limited(from_state) << 1, sigmoid_mean(reset))
}
