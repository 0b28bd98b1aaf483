//! The walk of one sample through quantized layers, in integers from the first layer to the last row of the output map.

use crate::cells::{
    Activations, GroupMoments, InputPairs, QuantizedInput, group_means, group_moments, packed_elman_step,
    packed_lstm_step,
};
use crate::checkpoint::{CellKind, Cursor, Likelihood, ModelSpec, QuantizedView, UnitNoise};
use crate::moments::Moments;
use crate::moments::fixed::{BlockFloat, INPUT_BITS, SHORT_MEAN_BITS, VAR_BITS, sigmoid_mean, tanh};

/// Brings every layer forward, from the standardised `inputs`.
#[inline(never)] // a step is short of stack, not of calls
pub(super) fn recur(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    recurrent: &mut [f32],
    inputs: &impl InputPairs,
) {
    let mut rest = recurrent;
    let mut below: &[f32] = &[];
    for (index, layer) in spec.layers.iter().enumerate() {
        let map = weights.quantized(spec.layer_shape(index, layer));
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
            activations.fill_units(layer.recurrent_noise, h);
        }
        layer_step(layer.cell, &map, &activations.finish(), h, c);
        (below, rest) = (h, left);
    }
}

#[inline(never)] // what the kernels are told needs a frame of its own
fn layer_step(
    cell: CellKind,
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    c: &mut [f32],
) {
    match cell {
        CellKind::Elman(function) | CellKind::Dense(function) => packed_elman_step(function, map, input, h),
        CellKind::Lstm => packed_lstm_step(map, input, h, c),
    }
}

/// Shows `each` the moments of every output, from the units of the last layer: of the pre-activation for a normal output,
/// of the probability for a binary one.
#[inline(never)]
pub(super) fn output_step(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    below: &[f32],
    mut each: impl FnMut(Moments),
) {
    let map = weights.quantized(spec.output_shape());
    let mut activations = Activations::new(scratch, &map);
    // A plain output ignores variance and noise alike.
    let noise = if map.propagates { spec.output.noise } else { UnitNoise::None };
    activations.fill_units(noise, below);
    let input = activations.finish();
    let mut left = usize::from(spec.outputs) * spec.likelihood.rows();
    for index in 0..map.groups {
        let rows = output_rows(&map, index, &input);
        for (mean, mantissa) in rows.means.into_iter().zip(rows.mantissas).take(left) {
            let spread = BlockFloat { mantissa, shift: input.shift };
            each(match spec.likelihood {
                Likelihood::Bernoulli => probability(mean, spread),
                Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => {
                    pre_activation(mean, spread, spec.output.variance_scale)
                }
            });
        }
        left = left.saturating_sub(rows.means.len());
    }
}

#[inline(never)]
fn output_rows(map: &QuantizedView<'_>, index: usize, input: &QuantizedInput<'_>) -> GroupMoments {
    if map.propagates {
        group_moments(map, index, input)
    } else {
        GroupMoments { means: group_means(map, index, input), mantissas: [0; 4] }
    }
}

/// The pre-activation as it is, in floating point.
fn pre_activation(mean: i32, spread: BlockFloat, variance_scale: f32) -> Moments {
    Moments {
        mean: mean as f32 * power(INPUT_BITS),
        var: spread.mantissa as f32 * power(VAR_BITS + spread.shift) * variance_scale,
    }
}

/// The probability, which the pre-activation was halved for.
#[inline(never)]
fn probability(mean: i32, spread: BlockFloat) -> Moments {
    let y = tanh(mean, spread);
    Moments {
        mean: sigmoid_mean(y.mean) as f32 * power(SHORT_MEAN_BITS),
        var: y.var as f32 * power(VAR_BITS + 2),
    }
}

/// 2^−`bits` for at most 126 bits.
fn power(bits: u32) -> f32 {
    f32::from_bits(127_u32.wrapping_sub(bits) << 23)
}
