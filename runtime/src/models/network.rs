//! The walk of one sample through layers and output map, in standardised units.
//!
//! No sum can leave the finite range: units and inputs are within ±10⁶ with variances up to 10¹², weights within ±10⁶
//! and their variances within 10¹² (checked when loading), so a pre-activation stays below 10¹⁶ and its variance
//! below 10³⁵ even with the strongest noise and the widest layer.

use crate::cells::{Units, elman_step, lstm_step, sigmoid, with_noise};
use crate::checkpoint::{
    AffineView, CellKind, Cursor, LayerSpec, Likelihood, ModelSpec, OutputMode, OutputSpec, UnitNoise,
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

    /// Writes the model's input for the first layer.
    fn fill_input(&mut self, spec: &ModelSpec, input: impl Iterator<Item = Moments>) {
        let noise = spec.layers.first().map_or(UnitNoise::None, |layer| layer.input_noise);
        self.fill(0, noise, input);
    }

    /// Writes units after noise from place `start` on.
    fn fill(&mut self, start: usize, noise: UnitNoise, units: impl Iterator<Item = Moments>) {
        let places = self.mean.iter_mut().zip(self.var.iter_mut()).skip(start);
        for ((mean, var), unit) in places.zip(units) {
            let noisy = with_noise(noise, unit);
            (*mean, *var) = (noisy.mean, noisy.var);
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

/// The units stored in a block of words: first all means, then all variances.
fn units(words: &[f32]) -> impl Iterator<Item = Moments> + '_ {
    let (means, vars) = words.split_at_checked(words.len() / 2).unwrap_or_default();
    means.iter().zip(vars).map(|(mean, var)| Moments { mean: *mean, var: *var })
}

/// Brings every layer forward, from the standardised `inputs`, and returns the units of the last.
#[inline(never)] // a step is short of stack, not of calls
pub(super) fn recur<'r>(
    spec: &ModelSpec,
    weights: &mut Cursor<'_>,
    scratch: &mut [f32],
    recurrent: &'r mut [f32],
    inputs: impl Iterator<Item = Moments>,
) -> &'r [f32] {
    let mut scratch = Scratch::new(scratch);
    scratch.fill_input(spec, inputs);
    let mut rest = recurrent;
    let mut below: &[f32] = &[];
    for (index, (layer, shape)) in spec.layers.iter().zip(spec.layer_shapes()).enumerate() {
        if index > 0 {
            scratch.fill(0, layer.input_noise, units(below));
        }
        let block = 2 * usize::from(layer.units);
        let (h, left) = core::mem::take(&mut rest).split_at_mut_checked(block).unwrap_or_default();
        let (c, left) = left.split_at_mut_checked(block * (layer.cell.states() - 1)).unwrap_or_default();
        layer_step(spec, layer, weights.affine(shape), &mut scratch, h, c);
        (below, rest) = (h, left);
    }
    below
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
        scratch.fill(inputs, layer.recurrent_noise, units(h));
    }
    let input = scratch.input(affine.cols());
    let mut h = Units::new(h);
    match layer.cell {
        CellKind::Elman(function) | CellKind::Dense(function) => {
            elman_step(layer, function, spec.moment_form, affine, input, &mut h)
        }
        CellKind::Lstm => lstm_step(layer, spec.moment_form, affine, input, &mut h, &mut Units::new(c)),
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
    match mode {
        OutputMode::Propagating => {
            scratch.fill(0, noise, units(below));
            for a in kernels::rows(affine, scratch.input(affine.cols())) {
                each(Moments { var: variance_scale * a.var, ..a });
            }
        }
        OutputMode::Plain => {
            scratch.fill(0, UnitNoise::None, units(below));
            for mean in kernels::mean_rows(affine, scratch.input(affine.cols()).mean) {
                each(Moments { mean, var: 0.0 });
            }
        }
    }
}
