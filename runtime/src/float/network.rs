//! The walk of one sample through layers and output map, in standardised units.

use super::cells::{Layer, Units, elman_step, gru_step, lstm_step, sigmoid};
use super::format::{AffineView, Group};
use super::kernels::{self, NoisyInput};
use super::scratch::Scratch;
use crate::format::Cursor;
use crate::moments::{LARGEST, Moments, at_most};
use crate::spec::{
    Architecture, CellKind, LayerSpec, Likelihood, ModelSpec, OutputMode, OutputSpec, UnitNoise,
};
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
    let mut scratch = Scratch::new(scratch);
    scratch.fill_input(spec, inputs);
    let mut rest = recurrent;
    let mut below: &[f32] = &[];
    for (index, (layer, shape)) in spec.layers.iter().zip(spec.layer_shapes()).enumerate() {
        if index > 0 {
            scratch.fill_units(0, layer.input_noise, below);
        }
        let block = 2 * usize::from(layer.units);
        let (h, left) = core::mem::take(&mut rest).split_at_mut_checked(block).unwrap_or_default();
        let (c, left) = left.split_at_mut_checked(block * (layer.cell.states() - 1)).unwrap_or_default();
        layer_step::<A>(spec, layer, AffineView::read(weights, shape), &mut scratch, h, c);
        (below, rest) = (h, left);
    }
}

/// Advances one layer. The scratch already holds its input; `h` and `c` are its state.
fn layer_step<A: Architecture>(
    spec: &ModelSpec,
    layer: &LayerSpec,
    affine: AffineView<'_>,
    scratch: &mut Scratch<'_>,
    h: &mut [f32],
    c: &mut [f32],
) {
    if layer.cell.is_recurrent() {
        let inputs = affine.cols().saturating_sub(layer.units.into());
        scratch.fill_units(inputs, layer.recurrent_noise, h);
    }
    let input = scratch.input(affine.cols());
    let step = Layer { form: spec.moment_form, variance_scale: layer.variance_scale, affine, input };
    let mut h = Units::new(h);
    match layer.cell {
        CellKind::Elman(function) | CellKind::Dense(function) if A::USES.elman => {
            elman_step(&step, function, &mut h);
        }
        CellKind::Lstm if A::USES.lstm => lstm_step(&step, &mut h, &mut Units::new(c)),
        CellKind::Gru if A::USES.gru => gru_step(&step, &mut h),
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
    let affine = AffineView::read(weights, spec.output_shape());
    let mut scratch = Scratch::new(scratch);
    let OutputSpec { mode, noise, variance_scale, .. } = spec.output;
    let mut each = |a: Moments| match spec.likelihood {
        Likelihood::Bernoulli => each(sigmoid(spec.moment_form, a)),
        Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => each(a),
    };
    let propagates = mode == OutputMode::Propagating;
    scratch.fill_units(0, if propagates { noise } else { UnitNoise::None }, below);
    let input = scratch.input(affine.cols());
    // A product beyond the finite range would read as certainty in a probability.
    let mut each = |a: Moments| each(Moments { var: at_most(variance_scale * a.var, LARGEST), ..a });
    for group in affine.groups_from(0) {
        match group.lanes {
            1 => output_rows::<1>(&group, propagates, input, &mut each),
            _ => output_rows::<4>(&group, propagates, input, &mut each),
        }
    }
}

/// Passes the moments of a group's rows to `each`, `ROWS` at a time.
fn output_rows<const ROWS: usize>(
    group: &Group<'_>,
    propagates: bool,
    input: NoisyInput<'_>,
    each: &mut impl FnMut(Moments),
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = if propagates {
            kernels::moments::<ROWS>(group, first, input)
        } else {
            kernels::means::<ROWS>(group, first, input.mean).map(|mean| Moments { mean, var: 0.0 })
        };
        rows.into_iter().for_each(&mut *each);
    }
}
