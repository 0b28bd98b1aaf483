//! The walk of one sample through layers and output map, in standardised units.
//!
//! No sum can leave the finite range: units and inputs are within ±10⁶ with variances up to 10¹², weights within ±10⁶
//! and their variances within 10¹² (checked when loading), so a pre-activation stays below 10¹⁶ and its variance
//! below 10³⁵ even with the strongest noise and the widest layer.

use super::input::limited;
use super::words::copy;
use crate::cells::{Layer, Units, elman_step, lstm_step, sigmoid, with_noise};
use crate::checkpoint::{
    AffineView, CellKind, Cursor, Group, LayerSpec, Likelihood, ModelSpec, OutputMode, OutputSpec, UnitNoise,
};
use crate::kernels::{self, NoisyInput};
use crate::moments::Moments;

/// The scratch that holds the noisy input of an affine map.
struct Scratch<'s> {
    mean: &'s mut [f32],
    var: &'s mut [f32],
}

impl<'s> Scratch<'s> {
    fn new(words: &'s mut [f32]) -> Self {
        let Units { mean, var } = Units::new(words);
        Scratch { mean, var }
    }

    /// Writes the model's input for the first layer. Of an odd number, the last has a neighbour without a place.
    fn fill_input(&mut self, spec: &ModelSpec, pairs: impl Iterator<Item = [Moments; 2]>) {
        let noise = spec.layers.first().map_or(UnitNoise::None, |layer| layer.input_noise);
        let mut places = self.mean.iter_mut().zip(self.var.iter_mut()).take(spec.inputs.into());
        for pair in pairs {
            for input in pair {
                let Some((mean, var)) = places.next() else { return };
                let unit = with_noise(noise, limited(input));
                (*mean, *var) = (unit.mean, unit.var);
            }
        }
    }

    /// Writes the units of a layer after noise from place `start` on.
    #[inline(never)]
    fn fill_units(&mut self, start: usize, noise: UnitNoise, units: &[f32]) {
        let (means, vars) = units.split_at_checked(units.len() / 2).unwrap_or_default();
        let places = self.mean.get_mut(start..).zip(self.var.get_mut(start..)).unwrap_or_default();
        let units = means.iter().zip(vars).map(|(mean, var)| Moments { mean: *mean, var: *var });
        match noise {
            UnitNoise::None => {
                copy(places.0, means);
                copy(places.1, vars);
            }
            _ => fill(places, units.map(|unit| with_noise(noise, unit))),
        }
    }

    /// The first `len` places.
    fn input(&self, len: usize) -> NoisyInput<'_> {
        NoisyInput {
            mean: self.mean.get(..len).unwrap_or_default(),
            var: self.var.get(..len).unwrap_or_default(),
        }
    }
}

/// Writes moments to their places.
fn fill((means, vars): (&mut [f32], &mut [f32]), units: impl Iterator<Item = Moments>) {
    for ((mean, var), unit) in means.iter_mut().zip(vars).zip(units) {
        (*mean, *var) = (unit.mean, unit.var);
    }
}

/// Brings every layer forward, from the standardised `inputs`.
#[inline(never)] // a step is short of stack, not of calls
pub(super) fn recur(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    recurrent: &mut [f32],
    inputs: impl Iterator<Item = [Moments; 2]>,
) {
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
        layer_step(spec, layer, weights.affine(shape), &mut scratch, h, c);
        (below, rest) = (h, left);
    }
}

/// Brings one layer forward. The scratch already holds its input; `h` and `c` are its state.
fn layer_step(
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
        CellKind::Elman(function) | CellKind::Dense(function) => elman_step(&step, function, &mut h),
        CellKind::Lstm => lstm_step(&step, &mut h, &mut Units::new(c)),
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
    let affine = weights.affine(spec.output_shape());
    let mut scratch = Scratch::new(scratch);
    let OutputSpec { mode, noise, variance_scale, .. } = spec.output;
    let mut each = |a: Moments| match spec.likelihood {
        Likelihood::Bernoulli => each(sigmoid(spec.moment_form, a)),
        Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => each(a),
    };
    let propagates = mode == OutputMode::Propagating;
    scratch.fill_units(0, if propagates { noise } else { UnitNoise::None }, below);
    let input = scratch.input(affine.cols());
    let mut each = |a: Moments| each(Moments { var: variance_scale * a.var, ..a });
    for group in affine.groups_from(0) {
        match group.lanes {
            1 => output_rows::<1>(&group, propagates, input, &mut each),
            _ => output_rows::<4>(&group, propagates, input, &mut each),
        }
    }
}

/// Shows `each` the moments of a group's outputs, `ROWS` at a time.
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
