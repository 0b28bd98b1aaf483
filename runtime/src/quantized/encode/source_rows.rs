//! The rows of an affine map in the order of a quantized payload.

use std::vec::Vec;

use super::super::format::{BLOCK_ROWS, Columns, GruPart};
use crate::encode::{Affine, AffineSource, Role};
use crate::format::AffineShape;
use crate::spec::{Activation, CellKind, Likelihood};

/// A row of a map, or the part of it that a group reads.
pub(super) struct SourceRow<'a> {
    pub(super) weights: &'a [f32],
    /// Variances of the weights; empty without weight variances.
    pub(super) weight_vars: &'a [f32],
    pub(super) columns: Columns,
    pub(super) bias: f32,
    /// Zero without weight variances.
    pub(super) bias_var: f32,
    /// Row of the map, for errors.
    pub(super) index: usize,
    /// Whether it ends in a sigmoid, and is stored for tanh of half its argument.
    pub(super) halved: bool,
}

/// The rows in the order of the payload, without padding at the end.
pub(super) fn source_rows<'a>(source: &AffineSource<'a>) -> Vec<SourceRow<'a>> {
    let AffineSource { affine, shape, role, .. } = source;
    if let Role::Layer { cell: CellKind::Gru, .. } = role {
        return gru_rows(affine, *shape);
    }
    let row = |(index, (weights, bias)): (usize, (&'a [f32], &f32))| SourceRow {
        weights,
        weight_vars: row_of(&affine.weight_var, index, shape.cols),
        columns: Columns::All,
        bias: *bias,
        bias_var: affine.bias_var.get(index).copied().unwrap_or(0.0),
        index,
        halved: ends_in_sigmoid(*role, index),
    };
    affine.weight.chunks(shape.cols).zip(&affine.bias).enumerate().map(row).collect()
}

/// Row `index` of a matrix; empty if there is none.
fn row_of(matrix: &[f32], index: usize, cols: usize) -> &[f32] {
    matrix.get(index * cols..(index + 1) * cols).unwrap_or_default()
}

/// The rows of a GRU: four units at a time, part by part. Units beyond the last are rows of zeros.
fn gru_rows(affine: &Affine, shape: AffineShape) -> Vec<SourceRow<'_>> {
    let row = |unit: usize, part: GruPart| {
        let (gate, bias, halved) = match part {
            GruPart::Reset => (0, 0, true),
            GruPart::Update => (1, 1, true),
            GruPart::FromInput => (2, 2, false),
            GruPart::FromState => (2, 3, false),
        };
        let index = unit * shape.gates + gate;
        let of_part = |matrix| {
            let row = row_of(matrix, index, shape.cols);
            let (input, state) = row.split_at(shape.inputs.min(row.len()));
            match part.columns() {
                Columns::All => row,
                Columns::Input => input,
                Columns::State => state,
            }
        };
        let of_bias = |list: &[f32]| list.get(unit * shape.biases + bias).copied().unwrap_or(0.0);
        SourceRow {
            weights: of_part(affine.weight.as_slice()),
            weight_vars: of_part(affine.weight_var.as_slice()),
            columns: part.columns(),
            bias: of_bias(&affine.bias),
            bias_var: of_bias(&affine.bias_var),
            index,
            halved,
        }
    };
    let fours = (0..shape.units()).step_by(BLOCK_ROWS);
    fours
        .flat_map(|first| GruPart::ALL.map(|part| (first, part)))
        .flat_map(|(first, part)| (first..first + BLOCK_ROWS).map(move |unit| row(unit, part)))
        .collect()
}

/// Whether row `index` of a map ends in a sigmoid, and is stored for tanh of half its argument.
fn ends_in_sigmoid(role: Role, index: usize) -> bool {
    match role {
        // All gates but the third of four, the candidate.
        Role::Layer { cell: CellKind::Lstm, .. } => index % 4 != 2,
        // All gates but the third of three, the candidate.
        Role::Layer { cell: CellKind::Gru, .. } => index % 3 != 2,
        Role::Layer { cell: CellKind::Elman(activation) | CellKind::Dense(activation), .. } => {
            match activation {
                Activation::Sigmoid => true,
                Activation::Tanh | Activation::Relu => false,
            }
        }
        Role::Output { likelihood } => match likelihood {
            Likelihood::Bernoulli => true,
            Likelihood::Gaussian | Likelihood::Heteroscedastic | Likelihood::Categorical => false,
        },
    }
}
