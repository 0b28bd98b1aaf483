//! What the encoders of both backends share: affine maps in full precision, and their rounding to bytes
//! (feature `write`).

mod rounding;

pub use rounding::GramMatrices;
pub(crate) use rounding::{LARGEST_CODE, Rounded, RoundingObjective};

use std::vec::Vec;

use crate::format::{AffineShape, Part, WriteError};
use crate::spec::{CellKind, Likelihood};

/// Weights, row-major, and biases of one affine map.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Affine {
    /// Means of the weights, `rows × cols`.
    pub weight: Vec<f32>,
    /// Means of the biases.
    pub bias: Vec<f32>,
    /// Variances of the weights; empty without weight variances.
    pub weight_var: Vec<f32>,
    /// Variances of the biases; empty without weight variances.
    pub bias_var: Vec<f32>,
}

impl AffineSource<'_> {
    /// Checks the lengths of all lists.
    pub(crate) fn check(&self) -> Result<(), WriteError> {
        let AffineSource { affine, shape, gram, .. } = self;
        let (biases, weights) = (shape.bias_count(), shape.rows * shape.cols);
        let (variances, part) = (usize::from(shape.weight_variance), self.role.part());
        expect_len(affine.bias.len(), biases, part, "bias")?;
        expect_len(affine.weight.len(), weights, part, "weight")?;
        expect_len(affine.bias_var.len(), biases * variances, part, "bias_var")?;
        expect_len(affine.weight_var.len(), weights * variances, part, "weight_var")?;
        for matrix in
            [&gram.means, &gram.vars, &gram.mean_squares].into_iter().filter(|matrix| !matrix.is_empty())
        {
            expect_len(matrix.len(), shape.cols * shape.cols, part, "gram")?;
        }
        Ok(())
    }
}

/// One affine map to be encoded.
pub(crate) struct AffineSource<'a> {
    pub(crate) affine: &'a Affine,
    pub(crate) shape: AffineShape,
    pub(crate) role: Role,
    /// Gram matrices that guide rounding; without them each weight is rounded to nearest.
    pub(crate) gram: &'a GramMatrices,
    /// Whether the model's inputs are 0 or 1.
    pub(crate) one_hot: bool,
}

/// Place of an affine map in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Of a layer, counted from 0 at the input side.
    Layer { index: usize, cell: CellKind },
    /// Of the outputs.
    Output { likelihood: Likelihood },
}

impl Role {
    /// The part that errors refer to.
    pub(crate) fn part(self) -> Part {
        match self {
            Role::Layer { index, .. } => Part::Layer(index as u8),
            Role::Output { .. } => Part::Output,
        }
    }
}

/// An error unless a list has the expected length.
pub(crate) fn expect_len(
    found: usize,
    expected: usize,
    part: Part,
    field: &'static str,
) -> Result<(), WriteError> {
    if found == expected { Ok(()) } else { Err(WriteError::Length { part, field, expected, found }) }
}

/// The weights of a row as bytes: rounded jointly where there is an objective, otherwise each to nearest.
pub(crate) fn row_codes(weights: &[f32], objective: Option<&RoundingObjective>) -> Rounded {
    if let Some(objective) = objective {
        return objective.round(weights);
    }
    let largest = LARGEST_CODE as f32;
    let scale = row_scale(weights.iter().map(|weight| weight.abs()), largest);
    Rounded { codes: weights.iter().map(|weight| code(*weight, scale, largest) as i64).collect(), scale }
}

/// The scale that gives the largest magnitude the largest code.
pub(crate) fn row_scale(magnitudes: impl Iterator<Item = f32>, largest_code: f32) -> f32 {
    magnitudes.fold(0.0, f32::max) / largest_code
}

/// The nearest code.
pub(crate) fn code(value: f32, scale: f32, largest_code: f32) -> f32 {
    if scale > 0.0 { (value / scale).round_ties_even().clamp(-largest_code, largest_code) } else { 0.0 }
}
