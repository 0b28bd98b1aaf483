//! Layers of sixteen streams: the recurrences of `cells`, in every lane.

use super::super::arithmetic::Vector;
use super::super::cells::elman::{sigmoid_unit, tanh_unit};
use super::super::cells::group::PreActivation;
use super::super::cells::gru::{candidate, deterministic_candidate, interpolate};
use super::super::cells::lstm::{
    CELL_SHIFT, cell_pre_activation, deterministic_gated_unit, deterministic_next_cell, gated_unit, next_cell,
};
use super::super::fixed::{FixedMoments, QuantizedUnit};
use super::super::format::{BLOCK_ROWS, GruPart};
use super::calls::Calls;
use super::ints::{Ints, LaneMoments, LaneRow, lanes, to_ints, to_words, units};
use super::moments::deterministic_tanh;
use super::rows::MapRows;
use crate::lanes::{LANES, Lanes};
use crate::spec::{Activation, CellKind};

/// The state of a layer: words of units, then mean and variance of each cell of an LSTM in turn.
pub(super) struct LayerState<'a> {
    pub(super) h: &'a mut [Lanes],
    pub(super) c: &'a mut [Lanes],
}

/// Replaces a layer's state by the next.
#[inline(always)]
pub(super) fn layer<V: Calls>(cell: CellKind, map: &mut MapRows<'_>, LayerState { h, c }: LayerState<'_>) {
    match cell {
        CellKind::Elman(function) | CellKind::Dense(function) => elman::<V>(function, map, h),
        CellKind::Lstm => lstm::<V>(map, h, c.as_chunks_mut().0),
        CellKind::Gru => gru::<V>(map, h),
    }
}

/// Moments of tanh of a row; its variance is zero if the map propagates none.
#[inline(always)]
fn tanh_of<V: Calls>(propagates: bool, row: &LaneRow) -> LaneMoments {
    if propagates {
        V::tanh(row)
    } else {
        LaneMoments { mean: deterministic_tanh::<V>(&row.mean), var: [0; LANES] }
    }
}

#[inline(always)]
fn elman<V: Calls>(function: Activation, rows: &mut MapRows<'_>, h: &mut [Lanes]) {
    let (propagates, input) = (rows.map.propagates(), rows.input);
    for (index, four) in h.chunks_mut(BLOCK_ROWS).enumerate() {
        let group = V::group(rows, index, &input);
        for (unit, row) in four.iter_mut().zip(&group) {
            let y = tanh_of::<V>(propagates, row);
            *unit = units(|lane| {
                let unit = tanh_unit(y.at(lane));
                if function == Activation::Sigmoid { sigmoid_unit(unit) } else { unit }
            });
        }
    }
}

#[inline(always)]
fn lstm<V: Calls>(rows: &mut MapRows<'_>, h: &mut [Lanes], cells: &mut [[Lanes; 2]]) {
    let (propagates, input) = (rows.map.propagates(), rows.input);
    for (index, (unit, cell)) in h.iter_mut().zip(cells).enumerate() {
        let gates = V::group(rows, index, &input);
        *unit = match propagates {
            true => lstm_unit::<V>(&gates, cell),
            false => deterministic_lstm_unit::<V>(&gates, cell),
        };
    }
}

/// Advances one cell of every stream and returns its unit.
#[inline(always)]
fn lstm_unit<V: Calls>(rows: &[LaneRow; 4], cell: &mut [Lanes; 2]) -> Lanes {
    let [input, forget, update, output] = {
        let [input, forget, update, output] = rows;
        [V::tanh(input), V::tanh(forget), V::tanh(update), V::tanh(output)]
    };
    let before = LaneMoments { mean: to_ints(&cell[0]), var: to_ints(&cell[1]) };
    let next = LaneMoments::of(|lane| {
        next_cell::<Vector>([input.at(lane), forget.at(lane), update.at(lane)], before.at(lane))
    });
    *cell = [to_words(&next.mean), to_words(&next.var)];
    let mean = lanes(|lane| cell_pre_activation(next.at(lane)).0);
    let activation = V::tanh(&LaneRow { mean, mantissa: next.var, shift: [0; LANES] });
    units(|lane| gated_unit::<Vector>(output.at(lane), activation.at(lane)))
}

/// The same without variances.
#[inline(always)]
fn deterministic_lstm_unit<V: Calls>(rows: &[LaneRow; 4], cell: &mut [Lanes; 2]) -> Lanes {
    let tanh = |gate: usize| deterministic_tanh::<V>(&rows[gate].mean);
    let [input, forget, update, output] = [tanh(0), tanh(1), tanh(2), tanh(3)];
    let before = to_ints(&cell[0]);
    let next = lanes(|lane| {
        deterministic_next_cell::<Vector>([input[lane], forget[lane], update[lane]], before[lane])
    });
    cell[0] = to_words(&next);
    let activation = deterministic_tanh::<V>(&lanes(|lane| next[lane] >> CELL_SHIFT));
    units(|lane| deterministic_gated_unit(output[lane], activation[lane]))
}

#[inline(always)]
fn gru<V: Calls>(rows: &mut MapRows<'_>, h: &mut [Lanes]) {
    let (propagates, input) = (rows.map.propagates(), rows.input);
    let state = input.columns_from(rows.map.padded.inputs);
    for (four, h) in h.chunks_mut(BLOCK_ROWS).enumerate() {
        let first = GruPart::ALL.len() * four;
        let reset = V::group(rows, first, &input);
        let update = V::group(rows, first + 1, &input);
        let from_input = V::group(rows, first + 2, &input);
        let from_state = V::group(rows, first + 3, &state);
        let parts = reset.iter().zip(&update).zip(from_input.iter().zip(&from_state));
        for (unit, ((reset, update), (from_input, from_state))) in h.iter_mut().zip(parts) {
            *unit = gru_unit::<V>(propagates, [reset, update, from_input, from_state], unit);
        }
    }
}

/// The next unit of every stream, of the rows of [`GruPart::ALL`].
#[inline(always)]
fn gru_unit<V: Calls>(propagates: bool, rows: [&LaneRow; 4], before: &Lanes) -> Lanes {
    let [reset_row, update_row, from_input, from_state] = rows;
    let [reset, update] = [tanh_of::<V>(propagates, reset_row), tanh_of::<V>(propagates, update_row)];
    let n = if propagates {
        V::tanh(&candidate_row(&reset, from_input, from_state))
    } else {
        let candidate: Ints = lanes(|lane| {
            deterministic_candidate::<Vector>(reset.mean[lane], from_input.mean[lane], from_state.mean[lane])
        });
        LaneMoments { mean: deterministic_tanh::<V>(&candidate), var: [0; LANES] }
    };
    units(|lane| interpolate::<Vector>(update.at(lane), n.at(lane), QuantizedUnit::from_word(before[lane])))
}

#[inline(always)]
fn candidate_row(reset: &LaneMoments, from_input: &LaneRow, from_state: &LaneRow) -> LaneRow {
    let row = |row: &LaneRow, lane: usize| PreActivation { mean: row.mean[lane], var: row.var(lane) };
    let moments = LaneMoments::of(|lane| {
        let candidate = candidate::<Vector>(reset.at(lane), row(from_input, lane), row(from_state, lane));
        FixedMoments { mean: candidate.mean, var: candidate.var.mantissa }
    });
    LaneRow { mean: moments.mean, mantissa: moments.var, shift: [0; LANES] }
}
