//! The walk of one sample through packed layers, in integers from the first layer to the last row of the output map.

use crate::cells::{
    Activations, PackedInput, PreActivation, group_means, group_moments, packed_elman_step, packed_lstm_step,
};
use crate::checkpoint::{
    CellKind, Cursor, LayerSpec, Likelihood, ModelSpec, PackedGroup, PackedView, UnitNoise,
};
use crate::moments::Moments;
use crate::moments::fixed::{INPUT_BITS, SHORT_MEAN_BITS, Spread, VAR_BITS, sigmoid_mean, tanh};

/// Brings every layer forward, from pairs of standardised `inputs`, and returns the units of the last.
#[inline(never)] // a step is short of stack, not of calls
pub(super) fn recur<'r>(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    recurrent: &'r mut [f32],
    // By reference: it is large, and would be copied from frame to frame.
    inputs: &mut impl Iterator<Item = [Moments; 2]>,
) -> &'r [f32] {
    let mut inputs = Some(inputs);
    let mut rest = recurrent;
    let mut below: &[f32] = &[];
    for (layer, shape) in spec.layers.iter().zip(spec.layer_shapes()) {
        let map = weights.packed(shape);
        let mut activations = Activations::new(scratch, shape.packed_cols(), shape.propagates, map.packing);
        match inputs.take() {
            Some(inputs) => activations.fill_input(layer.input_noise, inputs),
            None => activations.fill_units(layer.input_noise, below),
        }
        let units = usize::from(layer.units);
        let (h, left) = core::mem::take(&mut rest).split_at_mut_checked(units).unwrap_or_default();
        let cells = 2 * units * (layer.cell.states() - 1);
        let (c, left) = left.split_at_mut_checked(cells).unwrap_or_default();
        if layer.cell.is_recurrent() {
            activations.fill_units(layer.recurrent_noise, h);
        }
        layer_step(layer, map, activations.finish(), h, c);
        (below, rest) = (h, left);
    }
    below
}

fn layer_step(layer: &LayerSpec, map: PackedView<'_>, input: PackedInput<'_>, h: &mut [f32], c: &mut [f32]) {
    match layer.cell {
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
    let shape = spec.output_shape();
    let map = weights.packed(shape);
    let mut activations = Activations::new(scratch, shape.packed_cols(), shape.propagates, map.packing);
    // A plain output ignores variance and noise alike.
    let noise = if shape.propagates { spec.output.noise } else { UnitNoise::None };
    activations.fill_units(noise, below);
    let input = activations.finish();
    let mut left = shape.rows;
    for group in map.groups() {
        let rows = output_rows(group, input, shape.propagates);
        for a in rows.into_iter().take(left) {
            each(match spec.likelihood {
                Likelihood::Bernoulli => probability(a),
                Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => {
                    pre_activation(a, spec.output.variance_scale)
                }
            });
        }
        left = left.saturating_sub(rows.len());
    }
}

#[inline(never)]
fn output_rows(group: PackedGroup<'_>, input: PackedInput<'_>, propagates: bool) -> [PreActivation; 4] {
    let certain = |mean| PreActivation { mean, spread: Spread { mantissa: 0, shift: 0 } };
    if propagates { group_moments(group, input) } else { group_means(group, input).map(certain) }
}

/// The pre-activation as it is, in floating point.
fn pre_activation(a: PreActivation, variance_scale: f32) -> Moments {
    Moments {
        mean: a.mean as f32 * power(INPUT_BITS),
        var: a.spread.mantissa as f32 * power(VAR_BITS + a.spread.shift) * variance_scale,
    }
}

/// The probability, which the pre-activation was halved for.
#[inline(never)]
fn probability(a: PreActivation) -> Moments {
    let y = tanh(a.mean, a.spread);
    Moments {
        mean: sigmoid_mean(y.mean) as f32 * power(SHORT_MEAN_BITS),
        var: y.var as f32 * power(VAR_BITS + 2),
    }
}

/// 2^−`bits` for at most 126 bits.
fn power(bits: u32) -> f32 {
    f32::from_bits(127_u32.wrapping_sub(bits) << 23)
}
