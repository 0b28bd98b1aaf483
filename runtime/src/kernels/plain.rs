//! Rows of an affine map in the plain layout.

use super::portable;
use crate::checkpoint::{AffineView, Row, WeightRow};
use crate::moments::Moments;

/// The input of an affine map after its noise: means and variances side by side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoisyInput<'a> {
    pub(crate) mean: &'a [f32],
    pub(crate) var: &'a [f32],
}

/// Moments of each row's pre-activation, in order of rows.
pub(crate) fn rows<'m, 'a: 'm>(
    affine: AffineView<'m>,
    input: NoisyInput<'a>,
) -> impl Iterator<Item = Moments> + 'm {
    affine.iter().map(move |row| row_moments(row, input))
}

/// Means of each row's pre-activation alone, in order of rows.
pub(crate) fn mean_rows<'m, 'a: 'm>(
    affine: AffineView<'m>,
    mean: &'a [f32],
) -> impl Iterator<Item = f32> + 'm {
    affine.iter().map(move |row| row_mean(row, mean))
}

fn row_moments(row: Row<'_>, input: NoisyInput<'_>) -> Moments {
    let (mean, var) = match row.weights {
        WeightRow::F32 { mean, var } => {
            let sums = portable::sums_f32(mean.words(), input);
            (sums.mean, sums.var + portable::weight_variance_f32(var.words(), input))
        }
        WeightRow::Int8 { codes, scale, deviations, deviation_scale } => {
            let sums = portable::sums_int8(codes, input);
            let from_weights = portable::weight_variance_int8(deviations, input);
            let from_units = sums.var * (scale * scale);
            (sums.mean * scale, from_units + from_weights * (deviation_scale * deviation_scale))
        }
    };
    Moments { mean: mean + row.bias, var: var + row.bias_var }
}

fn row_mean(row: Row<'_>, mean: &[f32]) -> f32 {
    let sum = match row.weights {
        WeightRow::F32 { mean: weights, .. } => portable::mean_f32(weights.words(), mean),
        WeightRow::Int8 { codes, scale, .. } => portable::mean_int8(codes, mean) * scale,
    };
    sum + row.bias
}
