//! Affine maps in the plain layout: row after row.

use super::F32s;
use super::layout::{AffineShape, Section};
use super::read::Cursor;
use super::spec::WeightFormat;

impl<'m> Cursor<'m> {
    /// The next affine map, in the plain layout.
    pub(crate) fn affine(&mut self, shape: AffineShape) -> AffineView<'m> {
        let mut section = |section| self.padded(shape.bytes(section)).0;
        AffineView {
            shape,
            bias: F32s::new(section(Section::Bias)),
            bias_var: F32s::new(section(Section::BiasVar)),
            weight_scale: F32s::new(section(Section::WeightScale)),
            weight: section(Section::Weight),
            deviation_scale: F32s::new(section(Section::DeviationScale)),
            weight_var: section(Section::WeightVar),
        }
    }
}

/// One affine map, its numbers still in the checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffineView<'m> {
    shape: AffineShape,
    bias: F32s<'m>,
    bias_var: F32s<'m>,
    weight_scale: F32s<'m>,
    weight: &'m [u8],
    deviation_scale: F32s<'m>,
    weight_var: &'m [u8],
}

/// One row of an affine map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'m> {
    /// Mean of the bias.
    pub bias: f32,
    /// Variance of the bias; 0 without weight variances.
    pub bias_var: f32,
    /// The weights of the row.
    pub weights: WeightRow<'m>,
}

/// The weights of one row, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WeightRow<'m> {
    /// Single precision; `var` is empty without weight variances.
    F32 {
        /// Means.
        mean: F32s<'m>,
        /// Variances.
        var: F32s<'m>,
    },
    /// Bytes; `deviation` is empty without weight variances.
    Int8 {
        /// Signed codes: mean = code × `scale`.
        codes: &'m [u8],
        /// Scale of the means.
        scale: f32,
        /// Unsigned codes: standard deviation = code × `deviation_scale`.
        deviations: &'m [u8],
        /// Scale of the standard deviations.
        deviation_scale: f32,
    },
}

impl<'m> AffineView<'m> {
    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.shape.cols
    }

    /// The rows in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Row<'m>> {
        (0..self.shape.rows).map(move |index| self.row(index))
    }

    /// Row `index`.
    fn row(&self, index: usize) -> Row<'m> {
        let cols = self.shape.cols;
        let start = index * cols;
        let weights = match self.shape.format {
            WeightFormat::F32 => WeightRow::F32 {
                mean: F32s::new(self.weight).part(start, cols),
                var: F32s::new(self.weight_var).part(start, cols),
            },
            WeightFormat::Int8 => WeightRow::Int8 {
                codes: part(self.weight, start, cols),
                scale: self.weight_scale.at(index),
                deviations: part(self.weight_var, start, cols),
                deviation_scale: self.deviation_scale.at(index),
            },
        };
        Row { bias: self.bias.at(index), bias_var: self.bias_var.at(index), weights }
    }
}

fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    bytes.get(start..).and_then(|tail| tail.get(..len)).unwrap_or_default()
}
