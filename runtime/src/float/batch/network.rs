//! The walk of a row of each of sixteen streams through layers and output map, in standardised units.

#![allow(clippy::needless_range_loop)] // see `cells::wide`

use super::super::format::{AffineView, LANES};
use super::cells::{self, BatchLayer, LaneState};
use super::memory::Memory;
use super::sums::LaneInput;
use crate::format::{AffineShape, Cursor};
use crate::lanes::{Lanes, States, StreamLanes, Transpose, gather, scatter};
use crate::moments::Moments;
use crate::noise;
use crate::spec::{LayerSpec, ModelSpec, MomentForm, OutputMode, UnitNoise};

/// Advances all streams by a row each; nothing happens if there is less memory than `batch_words`.
#[inline(always)]
pub(super) fn step<const TILE: usize, T: Transpose>(
    spec: &ModelSpec,
    mut weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    let Some(mut memory) = Memory::carve(spec, memory) else { return };
    read_inputs(spec, &mut memory.input, streams);
    let recurrent = &mut streams.recurrent();
    let (mut start, mut below) = (0, 0);
    for (index, (layer, shape)) in spec.layers.iter().zip(spec.layer_shapes()).enumerate() {
        let units = usize::from(layer.units);
        if index > 0 {
            fill_units(&mut memory.input, 0, layer.input_noise, below, memory.state);
        }
        let affine = AffineView::read(&mut weights, shape);
        let loops = layer.cell.is_recurrent();
        let mut uncertain = spec.moment_form == MomentForm::Paper || affine.has_variances();
        if loops {
            uncertain |= read_state::<T>(layer, start, memory.state, recurrent);
            fill_units(&mut memory.input, shape.inputs, layer.recurrent_noise, units, memory.state);
        }
        let input = LaneInput::new(&memory.input, shape.cols);
        square_means(shape, input, memory.work.squares);
        let deterministic = !uncertain && all_zero(input.var);
        let layer = BatchLayer { spec: layer, form: spec.moment_form, affine, input, deterministic };
        let mut state = LaneState::new(units, memory.state);
        cells::layer::<TILE>(&layer, &mut state, &mut memory.work);
        // Variances of a deterministic recurrence are zero already.
        write_state::<T>(layer.spec, start, deterministic && loops, memory.state, recurrent);
        (start, below) = (start + layer_words(layer.spec), units);
    }
    let shape = spec.output_shape();
    let affine = AffineView::read(&mut weights, shape);
    let noise = match spec.output.mode {
        OutputMode::Propagating => spec.output.noise,
        OutputMode::MeanOnly => UnitNoise::None,
    };
    fill_units(&mut memory.input, 0, noise, below, memory.state);
    let input = LaneInput::new(&memory.input, shape.cols);
    square_means(shape, input, memory.work.squares);
    cells::outputs::<TILE>(spec, affine, input, &mut memory.rows, &mut memory.work);
    let [mean, var] = memory.rows;
    streams.outputs([mean, var]);
}

/// Reads the model's inputs for the first layer, and applies its noise.
#[inline(always)]
fn read_inputs(spec: &ModelSpec, input: &mut [&mut [Lanes]; 2], streams: &mut dyn StreamLanes) {
    let [means, vars] = input.each_mut().map(|list| list.get_mut(..spec.inputs.into()).unwrap_or_default());
    streams.inputs([&mut *means, &mut *vars]);
    let noise = spec.layers.first().map_or(UnitNoise::None, |layer| layer.input_noise);
    for (mean, var) in means.iter_mut().zip(vars) {
        for lane in 0..LANES {
            let input = Moments { mean: mean[lane], var: var[lane] }.limited();
            (mean[lane], var[lane]) = (input.mean, input.var);
        }
        if noise != UnitNoise::None {
            (*mean, *var) = noisy(noise, mean, var);
        }
    }
}

/// Writes the units of a layer after noise, from column `start` on.
#[inline(always)]
fn fill_units(input: &mut [&mut [Lanes]; 2], start: usize, noise: UnitNoise, units: usize, state: &[Lanes]) {
    let [means, vars] = input.each_mut().map(|list| list.get_mut(start..).unwrap_or_default());
    let (h_means, rest) = state.split_at_checked(units).unwrap_or_default();
    let h_vars = rest.get(..units).unwrap_or_default();
    let places = means.iter_mut().zip(vars);
    for ((mean, var), (h_mean, h_var)) in places.zip(h_means.iter().zip(h_vars)) {
        (*mean, *var) = match noise {
            UnitNoise::None => (*h_mean, *h_var),
            _ => noisy(noise, h_mean, h_var),
        };
    }
}

/// Squares the means of the input of a map whose weights have variances.
#[inline(always)]
fn square_means(shape: AffineShape, input: LaneInput<'_>, squares: &mut [Lanes]) {
    if shape.weight_variance {
        for (square, mean) in squares.iter_mut().zip(input.mean) {
            for lane in 0..LANES {
                square[lane] = mean[lane] * mean[lane];
            }
        }
    }
}

#[inline(always)]
fn noisy(noise: UnitNoise, mean: &Lanes, var: &Lanes) -> (Lanes, Lanes) {
    let mut result = ([0.0; LANES], [0.0; LANES]);
    for lane in 0..LANES {
        let unit = noise::apply(noise, Moments { mean: mean[lane], var: var[lane] });
        (result.0[lane], result.1[lane]) = (unit.mean, unit.var);
    }
    result
}

/// Whether no variance is above zero. None is below.
#[inline(always)]
fn all_zero(vars: &[Lanes]) -> bool {
    let mut bits = [0; LANES];
    for var in vars {
        for lane in 0..LANES {
            bits[lane] |= var[lane].to_bits();
        }
    }
    bits == [0; LANES]
}

/// Reads the state of a layer, which begins at word `start` of every stream; returns whether any has
/// variances.
#[inline(always)]
fn read_state<T: Transpose>(
    layer: &LayerSpec,
    start: usize,
    state: &mut [Lanes],
    streams: &mut States<'_>,
) -> bool {
    let (units, words) = (usize::from(layer.units), layer_words(layer));
    let mut bits = 0;
    for stream in &*streams {
        let state = stream.get(start..).and_then(|state| state.get(..words)).unwrap_or_default();
        for vars in state.chunks_exact(units.max(1)).skip(1).step_by(2) {
            bits = vars.iter().fold(bits, |bits, var| bits | var.to_bits());
        }
    }
    let state = state.get_mut(..words).unwrap_or_default();
    let uncertain = bits != 0;
    for (index, block) in state.chunks_exact_mut(units.max(1)).enumerate() {
        if index % 2 > 0 && !uncertain {
            block.fill([0.0; LANES]);
        } else {
            gather::<T>(block, start + units * index, streams);
        }
    }
    uncertain
}

/// Writes what [`read_state`] read; no variances if only means have changed.
#[inline(always)]
fn write_state<T: Transpose>(
    layer: &LayerSpec,
    start: usize,
    means_only: bool,
    state: &[Lanes],
    streams: &mut States<'_>,
) {
    let units = usize::from(layer.units);
    let state = state.get(..layer_words(layer)).unwrap_or_default();
    for (index, block) in state.chunks_exact(units.max(1)).enumerate() {
        if index % 2 == 0 || !means_only {
            scatter::<T>(block, start + units * index, streams);
        }
    }
}

/// Words of a layer's state.
fn layer_words(layer: &LayerSpec) -> usize {
    2 * usize::from(layer.units) * layer.cell.states()
}
