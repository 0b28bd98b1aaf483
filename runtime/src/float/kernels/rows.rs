//! Moments of a few rows of an affine map.

use super::super::format::{Group, Weights};
use super::sums::{sums, weight_variance};
use crate::moments::Moments;

/// The input of an affine map after noise.
#[derive(Clone, Copy, Debug)]
pub(in crate::float) struct NoisyInput<'a> {
    pub(in crate::float) mean: &'a [f32],
    pub(in crate::float) var: &'a [f32],
}

impl<'a> NoisyInput<'a> {
    /// The columns from `start` on.
    pub(in crate::float) fn columns_from(self, start: usize) -> Self {
        NoisyInput {
            mean: self.mean.get(start..).unwrap_or_default(),
            var: self.var.get(start..).unwrap_or_default(),
        }
    }
}

/// Moments of the pre-activations of `ROWS` rows of a group, from row `first` on.
#[inline(never)] // two copies serve every cell
pub(in crate::float) fn moments<const ROWS: usize>(
    group: &Group<'_>,
    first: usize,
    input: NoisyInput<'_>,
) -> [Moments; ROWS] {
    let mean = means::<ROWS>(group, first, input.mean);
    let var = variances::<ROWS>(group, first, input);
    core::array::from_fn(|row| Moments { mean: mean[row], var: var[row] })
}

/// Means of the pre-activations of `ROWS` rows of a group, from row `first` on.
#[inline(never)]
pub(in crate::float) fn means<const ROWS: usize>(
    group: &Group<'_>,
    first: usize,
    mean: &[f32],
) -> [f32; ROWS] {
    let at = (group.rows, first);
    let sums: [f32; ROWS] = match group.weights {
        Weights::F32 { mean: weights, .. } => {
            sums(weights.words(), at, mean, |weight, x| f32::from_le_bytes(weight) * x)
        }
        Weights::Int8 { codes, scale, .. } => {
            let sums: [f32; ROWS] = sums(codes, at, mean, |code, x| f32::from(code as i8) * x);
            core::array::from_fn(|row| sums[row] * scale.at(first + row))
        }
    };
    core::array::from_fn(|row| sums[row] + group.bias.at(first + row))
}

#[inline(never)]
fn variances<const ROWS: usize>(group: &Group<'_>, first: usize, input: NoisyInput<'_>) -> [f32; ROWS] {
    let at = (group.rows, first);
    let var: [f32; ROWS] = match group.weights {
        Weights::F32 { mean, var } => {
            let from_units: [f32; ROWS] = sums(mean.words(), at, input.var, |weight, v| {
                let weight = f32::from_le_bytes(weight);
                weight * weight * v
            });
            let from_weights: [f32; ROWS] = weight_variance(var.words(), at, input, f32::from_le_bytes);
            core::array::from_fn(|row| from_units[row] + from_weights[row])
        }
        Weights::Int8 { codes, scale, std_devs, std_dev_scale } => {
            let from_units: [f32; ROWS] = sums(codes, at, input.var, |code, v| {
                let code = f32::from(code as i8);
                code * code * v
            });
            let from_weights: [f32; ROWS] =
                weight_variance(std_devs, at, input, |code| f32::from(code) * f32::from(code));
            core::array::from_fn(|row| {
                let (scale, std_dev) = (scale.at(first + row), std_dev_scale.at(first + row));
                from_units[row] * (scale * scale) + from_weights[row] * (std_dev * std_dev)
            })
        }
    };
    core::array::from_fn(|row| var[row] + group.bias_var.at(first + row))
}
