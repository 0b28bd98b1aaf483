//! The memory that training takes, estimated from sizes alone, so that a net which cannot fit is refused
//! before anything of it is allocated.
//!
//! Numbers of 32 bits are counted per parameter, and per sequence of a batch and time step. The factors are
//! fitted to the heap that training steps of every cell take; `trainer/tests/memory.rs` compares.

use anyhow::Result;
use quaver::checkpoint::{LayerSpec, ModelSpec};

use crate::config::{Config, TrainingConfig};
use crate::data::{Dataset, Sequence};
use crate::memory;
use crate::nn::recurrence::Recurrence;
use crate::nn::{layer_inputs, maps};

/// Bytes of a number.
const NUMBER: u64 = 4;

/// Numbers per parameter at the peak of a step: tensors, their squares, and gradients.
const PER_PARAMETER: u64 = 4;

/// Numbers per recurrent weight of the layer under way: packed forms for both directions.
const PER_RECURRENT_WEIGHT: u64 = 3;

/// Numbers per parameter that a run keeps besides: parameters and two moments of the optimiser, before and
/// after the epoch under way, and their encoding when they are saved.
const PER_PARAMETER_OF_RUN: u64 = 9;

/// Numbers per pre-activation, sequence and step.
const PER_ROW: u64 = 3;

/// Numbers per unit, sequence and step, besides those that its cell keeps for the backward pass.
const PER_UNIT: u64 = 7;

/// Numbers per input or output channel, sequence and step.
const PER_CHANNEL: u64 = 6;

/// Numbers per pre-activation or unit, sequence and step of a pass without gradients: both moments.
const PER_MOMENT: u64 = 2;

/// A network that is trained, and how many copies of its layers there are: two if it reads both ways.
pub type TrainedNetwork<'a> = (&'a ModelSpec, u64);

/// Bytes that a training step on `lanes` sequences of `steps` rows takes at its peak, without the data.
pub fn step_bytes((spec, copies): TrainedNetwork<'_>, lanes: u64, steps: u64) -> u64 {
    let layers: u64 = spec.layers.iter().map(layer_numbers).sum();
    let channels = u64::from(spec.inputs) + u64::from(spec.outputs) * spec.likelihood.rows() as u64;
    let recurrent = moments(spec) * spec.layers.iter().map(recurrent_weights).max().unwrap_or(0);
    let parameters = PER_PARAMETER * copies * parameters(spec) + PER_RECURRENT_WEIGHT * recurrent;
    NUMBER * (parameters + lanes * steps * (copies * layers + PER_CHANNEL * channels))
}

/// Numbers per weight: a mean, and a variance where weights have one.
fn moments(spec: &ModelSpec) -> u64 {
    if spec.output.weight_variance { 2 } else { 1 }
}

fn parameters(spec: &ModelSpec) -> u64 {
    maps(spec).map(|map| moments(spec) * (map.rows * map.columns + map.biases) as u64).sum()
}

fn recurrent_weights(layer: &LayerSpec) -> u64 {
    if layer.cell.is_recurrent() { rows(layer) * u64::from(layer.units) } else { 0 }
}

fn rows(layer: &LayerSpec) -> u64 {
    u64::from(layer.units) * layer.cell.gates() as u64
}

/// Numbers per sequence and step that a layer keeps for its backward pass.
fn layer_numbers(layer: &LayerSpec) -> u64 {
    let per_unit = PER_UNIT + Recurrence::trace(layer.cell) as u64;
    PER_ROW * rows(layer) + per_unit * u64::from(layer.units)
}

/// Bytes that the moments of the largest layer take in a pass without gradients, which is the least that it
/// takes.
fn pass_bytes(spec: &ModelSpec, lanes: u64, steps: u64) -> u64 {
    let layer = |(index, layer): (usize, &LayerSpec)| {
        PER_MOMENT * (layer_inputs(spec, index) as u64 + rows(layer) + u64::from(layer.units))
    };
    NUMBER * lanes * steps * spec.layers.iter().enumerate().map(layer).max().unwrap_or(0)
}

/// Refuses networks that cannot be trained in the memory there is; `window` is the number of validation steps
/// that are read at once, if sequences are not read whole.
///
/// # Errors
/// Says what is needed and what there is.
pub(super) fn check(
    networks: &[TrainedNetwork<'_>],
    config: &Config,
    data: &Dataset,
    window: Option<usize>,
) -> Result<()> {
    let needed: u64 =
        networks.iter().map(|network| run_bytes(*network, &config.training, data, window)).sum();
    let count: u64 = networks.iter().map(|(spec, copies)| copies * parameters(spec)).sum();
    memory::check(
        &format!("training a model of {count} parameters"),
        needed,
        memory::available(),
        "lower model.layers, training.batch or training.chunk, cut long sequences of data.valid, or try it anyway \
         with --force",
    )
}

/// Bytes that a run takes, without the data: what it keeps, and the larger of a training step and a pass over
/// validation data, whose sequences are not cut.
fn run_bytes(
    network: TrainedNetwork<'_>,
    training: &TrainingConfig,
    data: &Dataset,
    window: Option<usize>,
) -> u64 {
    let longest = longest(&data.train);
    let steps = if training.chunk == 0 { longest } else { longest.min(training.chunk as u64) };
    let chunks: u64 = data.train.iter().map(|sequence| (sequence.len() as u64).div_ceil(steps.max(1))).sum();
    let lanes = |most: u64| most.min(training.batch as u64);
    let step = step_bytes(network, lanes(chunks), steps);
    let pass_steps = self::longest(&data.valid).min(window.map_or(u64::MAX, |window| window as u64));
    let pass = pass_bytes(network.0, lanes(data.valid.len() as u64), pass_steps);
    NUMBER * PER_PARAMETER_OF_RUN * network.1 * parameters(network.0) + step.max(pass)
}

fn longest(sequences: &[Sequence]) -> u64 {
    sequences.iter().map(|sequence| sequence.len() as u64).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::CellKind;

    use super::*;
    use crate::data::Rows;
    use crate::nn::{Parameters, test_cells, test_spec};

    #[test]
    fn parameters_are_those_of_the_maps() {
        for cell in test_cells() {
            let spec = test_spec(3, 2, &[(cell, 5), (cell, 4)]);
            let values =
                |tensors: &Parameters| tensors.tensors.iter().map(|t| t.values.len() as u64).sum::<u64>();
            // The noise of two outputs is not part of a map.
            assert_eq!(parameters(&spec), values(&Parameters::zeros(&spec)) - 2);
        }
    }

    #[test]
    fn long_sequences_count_where_they_are_not_cut() {
        let spec = test_spec(1, 1, &[(CellKind::Lstm, 100)]);
        let rows = |count: usize| Sequence::next(Rows { channels: 1, values: vec![0.0; count] });
        let data = |train: usize, valid: usize| {
            Dataset::of([vec![rows(train)], vec![rows(valid)], Vec::new()], &["a"])
        };
        let bytes = |data: &Dataset, chunk: usize| {
            run_bytes((&spec, 1), &TrainingConfig { chunk, ..TrainingConfig::default() }, data, None)
        };
        let short = bytes(&data(100, 100), 100);
        assert!(bytes(&data(1000, 100), 0) > 4 * short);
        assert!(bytes(&data(100, 100_000), 100) > 20 * short);
        // A batch of 16 chunks at most, whatever the length.
        assert_eq!(bytes(&data(1_600, 100), 100), bytes(&data(16_000, 100), 100));
    }
}
