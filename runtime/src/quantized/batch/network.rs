//! The walk of a row of each of sixteen streams through layers and output map, in integers.

use super::super::format::{BLOCK_ROWS, QuantizedView};
use super::super::network::{pre_activation, probability_of};
use super::super::state::unit_words;
use super::activations::LaneActivations;
use super::calls::Calls;
use super::cells::{self, LayerState};
use super::ints::LaneRow;
use super::memory::Memory;
use super::rows::MapRows;
use crate::format::Cursor;
use crate::lanes::{LANES, Lanes, StreamLanes, Transpose, gather, scatter};
use crate::spec::{Likelihood, ModelSpec, UnitNoise};

/// Advances all streams by a row each; nothing happens if there is less memory than `batch_words`.
#[inline(always)]
pub(super) fn step<V: Calls, T: Transpose>(
    spec: &ModelSpec,
    mut weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    let Some(mut memory) = Memory::carve(spec, memory) else { return };
    let [means, vars] = &mut memory.inputs;
    streams.inputs([means, vars]);
    let mut states = streams.recurrent();
    let (mut start, mut below) = (0, 0);
    for (index, (layer, shape)) in spec.layers.iter().zip(spec.layer_shapes()).enumerate() {
        let map = QuantizedView::read(&mut weights, shape);
        let mut activations = LaneActivations::new(&map, memory.columns.each_mut().map(|list| &mut **list));
        if index == 0 {
            let [means, vars] = &memory.inputs;
            activations.fill_input(layer.input_noise, [means, vars]);
        } else {
            activations.fill_units(layer.input_noise, memory.state.get(..below).unwrap_or_default());
        }
        let units = usize::from(layer.units);
        let words = unit_words(layer.cell).1 * units;
        let state = memory.state.get_mut(..words).unwrap_or_default();
        gather::<T>(state, start, &states);
        let (h, c) = state.split_at_mut_checked(units).unwrap_or_default();
        if layer.cell.is_recurrent() {
            activations.pad_input(map.padded.inputs);
            activations.fill_units(layer.recurrent_noise, h);
        }
        let input = activations.finish(map.weight_vars().params());
        let mut rows = MapRows { map: &map, input, lower: &mut *memory.lower };
        cells::layer::<V>(layer.cell, &mut rows, LayerState { h, c });
        scatter::<T>(state, start, &mut states);
        (start, below) = (start + words, units);
    }
    let map = QuantizedView::read(&mut weights, spec.output_shape());
    let mut activations = LaneActivations::new(&map, memory.columns.each_mut().map(|list| &mut **list));
    // An output of means only ignores variance and noise.
    let noise = if map.propagates() { spec.output.noise } else { UnitNoise::None };
    activations.fill_units(noise, memory.state.get(..below).unwrap_or_default());
    let input = activations.finish(map.weight_vars().params());
    outputs::<V>(spec, &mut MapRows { map: &map, input, lower: memory.lower }, &mut memory.rows);
    let [means, vars] = memory.rows;
    streams.outputs([means, vars]);
}

/// Moments of all rows of the output map.
#[inline(always)]
fn outputs<V: Calls>(spec: &ModelSpec, map: &mut MapRows<'_>, [means, vars]: &mut [&mut [Lanes]; 2]) {
    let input = map.input;
    let groups = means.chunks_mut(BLOCK_ROWS).zip(vars.chunks_mut(BLOCK_ROWS)).enumerate();
    for (index, (means, vars)) in groups {
        let rows = V::group(map, index, &input);
        for ((mean, var), row) in means.iter_mut().zip(vars).zip(&rows) {
            output_row::<V>(spec, row, [mean, var]);
        }
    }
}

/// Moments of a row: of the probability for a Bernoulli output, of the pre-activation for others.
#[inline(always)]
fn output_row<V: Calls>(spec: &ModelSpec, row: &LaneRow, [mean, var]: [&mut Lanes; 2]) {
    let is_probability = spec.likelihood == Likelihood::Bernoulli;
    let y = is_probability.then(|| V::tanh(row));
    for lane in 0..LANES {
        let moments = match &y {
            Some(y) => probability_of(y.at(lane)),
            None => pre_activation(row.mean[lane], row.var(lane), spec.output.variance_scale),
        };
        (mean[lane], var[lane]) = (moments.mean, moments.var);
    }
}
