//! State of quantized layers: one word per unit h, and two per cell of an LSTM; saved as numbers. Saving and
//! restoring are exact.

use core::ops::RangeInclusive;

use super::cells::CELL_LIMIT;
use super::fixed::{QuantizedUnit, SHORT_MEAN_BITS, UNIT_VAR_BITS, VAR_BITS};
use crate::moments::Moments;
use crate::spec::{CellKind, ModelSpec};

const UNIT_MEAN: f32 = (1_u32 << SHORT_MEAN_BITS) as f32;
const UNIT_VAR: f32 = (1_u32 << UNIT_VAR_BITS) as f32;
const CELL: f32 = (1_u32 << VAR_BITS) as f32;

/// Words of RAM per unit: for h, whose moments share a word, and for its whole state.
pub(crate) const fn unit_words(cell: CellKind) -> (usize, usize) {
    match cell {
        CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Gru => (1, 1),
        CellKind::Lstm => (1, 3),
    }
}

/// Reads the moments of a layer's units h.
pub(crate) fn read_units(units: &[f32], means: &mut [f32], vars: &mut [f32]) {
    for ((mean, var), word) in means.iter_mut().zip(vars).zip(units) {
        let unit = unit(*word);
        (*mean, *var) = (unit.mean, unit.var);
    }
}

/// Moments of a unit.
#[inline(never)] // loops around it would be unrolled
fn unit(word: f32) -> Moments {
    let QuantizedUnit { mean, var } = QuantizedUnit::from_word(word);
    Moments { mean: mean as f32 / UNIT_MEAN, var: var as f32 / UNIT_VAR }
}

/// Writes means, then variances, of h and of c, layer after layer.
pub(crate) fn save_state(spec: &ModelSpec, state: &[f32], numbers: &mut [f32]) {
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

/// Reads what [`save_state`] wrote; numbers out of range saturate.
pub(crate) fn restore_state(spec: &ModelSpec, state: &mut [f32], numbers: &[f32]) {
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

/// The first word that steps cannot have left. Units fill their bits; cells have fewer, on which the safety
/// of kernels in assembler depends.
pub(crate) fn state_fault(
    spec: &ModelSpec,
    state: &[f32],
    _: impl Iterator<Item = RangeInclusive<f32>>,
) -> Option<usize> {
    let (mut rest, mut before) = (state, 0);
    for layer in &spec.layers {
        let units = usize::from(layer.units);
        let (_, left) = rest.split_at_checked(units).unwrap_or_default();
        let (c, left) = left.split_at_checked(cells(layer.cell, layer.units)).unwrap_or_default();
        let is_wrong = |[mean, var]: &[f32; 2]| {
            let [mean, var] = [mean, var].map(|word| word.to_bits() as i32);
            !(-CELL_LIMIT - 1..=CELL_LIMIT).contains(&mean) || !(0..=CELL_LIMIT).contains(&var)
        };
        if let Some(cell) = c.as_chunks::<2>().0.iter().position(is_wrong) {
            return Some(before + units + 2 * cell);
        }
        before += units + c.len();
        rest = left;
    }
    None
}

/// Words of the cells of a layer, means and variances.
fn cells(cell: CellKind, units: u16) -> usize {
    2 * usize::from(units) * (cell.states() - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{
        Activation, Extensions, LayerSpec, Layout, Likelihood, MomentForm, OutputMode, OutputSpec, Target,
        UnitNoise, WeightFormat,
    };

    #[test]
    fn a_cell_that_no_step_has_left_is_found_by_its_word() {
        let layer = |cell| LayerSpec {
            cell,
            units: 3,
            input_noise: UnitNoise::None,
            recurrent_noise: UnitNoise::None,
            weight_variance: false,
            variance_scale: 1.0,
        };
        let output = OutputSpec {
            mode: OutputMode::Propagating,
            noise: UnitNoise::None,
            weight_variance: false,
            variance_scale: 1.0,
        };
        let spec = ModelSpec {
            inputs: 1,
            outputs: 1,
            target: Target::Columns,
            likelihood: Likelihood::Gaussian,
            moment_form: MomentForm::Accurate,
            weight_format: WeightFormat::Int8,
            layout: Layout::Fast,
            layers: [CellKind::Elman(Activation::Tanh), CellKind::Lstm].into_iter().map(layer).collect(),
            output,
            extensions: Extensions::default(),
        };
        // Three units, three units, three cells of two words; units may have any bits.
        let mut state = [f32::NAN; 12];
        state[6..].fill(0.0);
        let fault = |state: &[f32]| state_fault(&spec, state, core::iter::empty());
        assert_eq!(fault(&state), None);
        for (word, bits) in [(8, CELL_LIMIT + 1), (8, i32::MIN), (9, -1), (9, CELL_LIMIT + 1)] {
            let mut wrong = state;
            wrong[word] = f32::from_bits(bits as u32);
            assert_eq!(fault(&wrong), Some(8), "{bits} in word {word}");
        }
    }
}
