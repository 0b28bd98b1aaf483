//! The walk of one sample through layers and output map, in integers from the first layer's input to the
//! output map's rows.

use super::activations::Activations;
use super::cells::{GroupMoments, elman_step, group_means, group_moments, gru_step, lstm_step};
use super::fixed::{BlockFloat, FixedMoments, INPUT_BITS, SHORT_MEAN_BITS, VAR_BITS};
use super::format::{BLOCK_ROWS, QuantizedView};
use super::kernels::QuantizedInput;
use super::moments::{sigmoid_mean, tanh};
use crate::format::Cursor;
use crate::moments::Moments;
use crate::spec::{Architecture, CellKind, Likelihood, ModelSpec, UnitNoise};
use crate::step_io::InputPairs;

/// Advances every layer by one sample.
#[inline(never)] // a step is short of stack, not of calls
pub(crate) fn layers<A: Architecture>(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    recurrent: &mut [f32],
    inputs: &impl InputPairs,
) {
    let spec = A::known_spec(spec);
    let mut known;
    let weights = match A::MAPS {
        Some([layers, _]) => {
            known = Cursor::new(layers);
            &mut known
        }
        None => weights,
    };
    let mut rest = recurrent;
    let mut below: &[f32] = &[];
    for (index, layer) in spec.layers.iter().enumerate() {
        let shape = match A::SPEC {
            Some(_) => spec.layer_shape_here(index, layer),
            None => spec.layer_shape(index, layer),
        };
        let map = QuantizedView::<A>::read(weights, shape);
        let mut activations = Activations::new(scratch, &map);
        if index == 0 {
            activations.fill_input(layer.input_noise, usize::from(spec.inputs).div_ceil(2), inputs);
        } else {
            activations.fill_units(layer.input_noise, below);
        }
        let units = usize::from(layer.units);
        let (h, left) = core::mem::take(&mut rest).split_at_mut_checked(units).unwrap_or_default();
        let cells = 2 * units * (layer.cell.states() - 1);
        let (c, left) = left.split_at_mut_checked(cells).unwrap_or_default();
        if layer.cell.is_recurrent() {
            activations.pad_input();
            activations.fill_units(layer.recurrent_noise, h);
        }
        layer_step(layer.cell, &map, &activations.finish(), h, c);
        (below, rest) = (h, left);
    }
}

#[inline(never)] // the kernels' arguments need a frame of their own
fn layer_step<A: Architecture>(
    cell: CellKind,
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    c: &mut [f32],
) {
    match cell {
        CellKind::Elman(function) | CellKind::Dense(function) if A::USES.elman => {
            elman_step(function, map, input, h);
        }
        CellKind::Lstm if A::USES.lstm => lstm_step(map, input, h, c),
        CellKind::Gru if A::USES.gru => gru_step(map, input, h),
        CellKind::Elman(_) | CellKind::Dense(_) | CellKind::Lstm | CellKind::Gru => {}
    }
}

/// Passes the moments of every row of the output map to `each`, computed from the units of the last layer: of
/// the probability for a Bernoulli output, of the pre-activation for others.
#[inline(never)]
pub(crate) fn outputs<A: Architecture>(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    below: &[f32],
    mut each: impl FnMut(Moments),
) {
    let spec = A::known_spec(spec);
    let shape = match A::SPEC {
        Some(_) => spec.output_shape_here(),
        None => spec.output_shape(),
    };
    let mut known;
    let weights = match A::MAPS {
        Some([_, output]) => {
            known = Cursor::new(output);
            &mut known
        }
        None => weights,
    };
    let map = QuantizedView::<A>::read(weights, shape);
    let mut activations = Activations::new(scratch, &map);
    // An output of means only ignores variance and noise.
    let noise = if map.propagates() { spec.output.noise } else { UnitNoise::None };
    activations.fill_units(noise, below);
    let input = activations.finish();
    let count = usize::from(spec.outputs) * spec.likelihood.rows();
    let mut rows = GroupMoments::default();
    // Row by row: a loop over the four of a group would be unrolled, with all that is done for one.
    for row in 0..count.min(BLOCK_ROWS * map.padded.groups) {
        if row % BLOCK_ROWS == 0 {
            rows = output_rows(&map, row / BLOCK_ROWS, &input);
        }
        let (mean, var) = rows.at(row % BLOCK_ROWS, input.shift);
        each(match spec.likelihood {
            Likelihood::Bernoulli => probability(mean, var),
            Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => {
                pre_activation(mean, var, spec.output.variance_scale)
            }
        });
    }
}

#[inline(never)]
fn output_rows<A: Architecture>(
    map: &QuantizedView<'_, A>,
    index: usize,
    input: &QuantizedInput<'_>,
) -> GroupMoments {
    if map.propagates() {
        group_moments(map, index, input)
    } else {
        GroupMoments { means: group_means(map, index, input), mantissas: [0; 4] }
    }
}

/// Moments of the pre-activation, in floating point.
#[inline(always)]
pub(super) fn pre_activation(mean: i32, var: BlockFloat, variance_scale: f32) -> Moments {
    Moments {
        mean: mean as f32 * power(INPUT_BITS),
        var: var.mantissa as f32 * power(VAR_BITS + var.shift) * variance_scale,
    }
}

/// Moments of the probability, whose pre-activation is stored halved.
#[inline(never)]
fn probability(mean: i32, var: BlockFloat) -> Moments {
    probability_of(tanh(mean, var))
}

/// The same from tanh of the halved pre-activation.
#[inline(always)]
pub(super) fn probability_of(y: FixedMoments) -> Moments {
    Moments {
        mean: sigmoid_mean(y.mean) as f32 * power(SHORT_MEAN_BITS),
        var: y.var as f32 * power(VAR_BITS + 2),
    }
}

/// 2^−`bits` for at most 126 bits.
#[inline(always)]
fn power(bits: u32) -> f32 {
    f32::from_bits(127_u32.wrapping_sub(bits) << 23)
}
