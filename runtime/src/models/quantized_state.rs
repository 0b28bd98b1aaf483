//! The state of quantized layers as numbers, to save it, and back. Both ways are exact.

use crate::cells::{CELL_LIMIT, QuantizedUnit};
use crate::checkpoint::{CellKind, ModelSpec};
use crate::moments::Moments;
use crate::moments::fixed::{SHORT_MEAN_BITS, VAR_BITS};

const UNIT_MEAN: f32 = (1_u32 << SHORT_MEAN_BITS) as f32;
const UNIT_VAR: f32 = 65536.0;
const CELL: f32 = (1_u32 << VAR_BITS) as f32;

/// The moments that a word of h stands for.
pub(super) fn unit(word: f32) -> Moments {
    let QuantizedUnit { mean, var } = QuantizedUnit::from_word(word);
    Moments { mean: mean as f32 / UNIT_MEAN, var: var as f32 / UNIT_VAR }
}

/// Writes means, then variances, of h and of c, layer after layer.
pub(super) fn save(spec: &ModelSpec, state: &[f32], numbers: &mut [f32]) {
    let (mut state, mut numbers) = (state, numbers.iter_mut());
    let mut put = |value: f32| {
        if let Some(number) = numbers.next() {
            *number = value;
        }
    };
    for layer in &spec.layers {
        let (h, rest) = state.split_at_checked(layer.units.into()).unwrap_or_default();
        h.iter().for_each(|word| put(unit(*word).mean));
        h.iter().for_each(|word| put(unit(*word).var));
        let (c, rest) = rest.split_at_checked(cells(layer.cell, layer.units)).unwrap_or_default();
        for part in 0..2 {
            c.as_chunks::<2>().0.iter().for_each(|cell| put(cell[part].to_bits() as i32 as f32 / CELL));
        }
        state = rest;
    }
}

/// Reads what [`save`] wrote; numbers that a quantized layer cannot hold become the nearest that it can.
pub(super) fn restore(spec: &ModelSpec, state: &mut [f32], numbers: &[f32]) {
    let (mut state, mut numbers) = (state, numbers);
    for layer in &spec.layers {
        let units = usize::from(layer.units);
        let (h, rest) = core::mem::take(&mut state).split_at_mut_checked(units).unwrap_or_default();
        let (means, left) = numbers.split_at_checked(units).unwrap_or_default();
        let (vars, left) = left.split_at_checked(units).unwrap_or_default();
        for (word, (mean, var)) in h.iter_mut().zip(means.iter().zip(vars)) {
            let mean = ((mean * UNIT_MEAN) as i32).clamp(-0x8000, 0x7FFF);
            *word = QuantizedUnit { mean, var: ((var * UNIT_VAR) as i32).min(0xFFFF) }.to_word();
        }
        let cells = cells(layer.cell, layer.units);
        let (c, rest) = rest.split_at_mut_checked(cells).unwrap_or_default();
        let (values, left) = left.split_at_checked(cells).unwrap_or_default();
        let (means, vars) = values.split_at_checked(cells / 2).unwrap_or_default();
        for (cell, moments) in c.as_chunks_mut::<2>().0.iter_mut().zip(means.iter().zip(vars)) {
            let code = |value: f32| ((value * CELL) as i32).clamp(-CELL_LIMIT - 1, CELL_LIMIT) as u32;
            *cell = [f32::from_bits(code(*moments.0)), f32::from_bits(code(*moments.1))];
        }
        (state, numbers) = (rest, left);
    }
}

/// Words of the cells of a layer, means and variances.
fn cells(cell: CellKind, units: u16) -> usize {
    2 * usize::from(units) * (cell.states() - 1)
}
