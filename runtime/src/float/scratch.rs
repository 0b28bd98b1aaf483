//! The scratch that holds the noisy input of an affine map.

use super::cells::Units;
use super::kernels::NoisyInput;
use crate::arena::copy;
use crate::moments::Moments;
use crate::noise;
use crate::spec::{ModelSpec, UnitNoise};
use crate::step_io::InputPairs;

/// Means, then variances, of the input of the affine map at work.
pub(super) struct Scratch<'s> {
    mean: &'s mut [f32],
    var: &'s mut [f32],
}

impl<'s> Scratch<'s> {
    pub(super) fn new(words: &'s mut [f32]) -> Self {
        let Units { mean, var } = Units::new(words);
        Scratch { mean, var }
    }

    /// Writes the model's input for the first layer.
    pub(super) fn fill_input(&mut self, spec: &ModelSpec, inputs: &impl InputPairs) {
        let noise = spec.layers.first().map_or(UnitNoise::None, |layer| layer.input_noise);
        // A second loop for the most frequent case: fast on a host, too large for a board.
        if cfg!(feature = "vectors") && self.fill_plain(noise, spec.inputs.into(), inputs) {
            return;
        }
        let mut targets = self.mean.iter_mut().zip(self.var.iter_mut()).take(spec.inputs.into());
        for pair in pairs(inputs, spec.inputs.into()) {
            for input in pair {
                // The second input of the last pair may not exist.
                let Some((mean, var)) = targets.next() else { return };
                let unit = noise::apply(noise, input.limited());
                (*mean, *var) = (unit.mean, unit.var);
            }
        }
    }

    /// Writes all inputs of a row that is complete and has no variances; `false` for any other row.
    fn fill_plain(&mut self, noise: UnitNoise, count: usize, inputs: &impl InputPairs) -> bool {
        let targets = self.mean.get_mut(..count).zip(self.var.get_mut(..count));
        let Some((means, vars)) = targets else { return false };
        if !inputs.plain(means) {
            return false;
        }
        match noise {
            UnitNoise::None => vars.fill(0.0),
            _ => {
                for (mean, var) in means.iter_mut().zip(vars) {
                    let unit = noise::apply(noise, Moments { mean: *mean, var: 0.0 });
                    (*mean, *var) = (unit.mean, unit.var);
                }
            }
        }
        true
    }

    /// Writes the units of a layer after noise, from column `start` on.
    #[inline(never)]
    pub(super) fn fill_units(&mut self, start: usize, noise: UnitNoise, units: &[f32]) {
        let (means, vars) = units.split_at_checked(units.len() / 2).unwrap_or_default();
        let targets = self.mean.get_mut(start..).zip(self.var.get_mut(start..)).unwrap_or_default();
        let units = means.iter().zip(vars).map(|(mean, var)| Moments { mean: *mean, var: *var });
        match noise {
            UnitNoise::None => {
                copy(targets.0, means);
                copy(targets.1, vars);
            }
            _ => fill(targets, units.map(|unit| noise::apply(noise, unit))),
        }
    }

    /// The first `len` columns.
    pub(super) fn input(&self, len: usize) -> NoisyInput<'_> {
        NoisyInput {
            mean: self.mean.get(..len).unwrap_or_default(),
            var: self.var.get(..len).unwrap_or_default(),
        }
    }
}

/// The pairs of the first `count` inputs.
fn pairs(inputs: &impl InputPairs, count: usize) -> impl Iterator<Item = [Moments; 2]> {
    let mut deterministic = inputs.deterministic();
    (0..count.div_ceil(2)).map(move |index| match deterministic.next().flatten() {
        Some(pair) => pair.map(|mean| Moments { mean, var: 0.0 }),
        None => inputs.any(index),
    })
}

/// Writes moments.
fn fill((means, vars): (&mut [f32], &mut [f32]), units: impl Iterator<Item = Moments>) {
    for ((mean, var), unit) in means.iter_mut().zip(vars).zip(units) {
        (*mean, *var) = (unit.mean, unit.var);
    }
}
