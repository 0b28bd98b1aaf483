//! Affine maps in the plain layout: groups of units, each column after column.
//!
//! A column of a group holds the rows of all its units side by side, gate after gate. A core with vectors reads it in one
//! go and needs no sum across a vector; one without walks down a few rows at a time.

use super::F32s;
#[cfg(all(feature = "std", target_arch = "x86_64"))]
use super::layout::LANES;
use super::layout::{AffineShape, Section, group_lanes};
use super::read::Cursor;
use super::spec::WeightFormat;

impl<'m> Cursor<'m> {
    /// The next affine map, in the plain layout.
    pub(crate) fn affine(&mut self, shape: AffineShape) -> AffineView<'m> {
        let mut section = |section| match shape.bytes(section) {
            0 => &[],
            bytes => self.padded(bytes).0,
        };
        AffineView {
            shape,
            bias: F32s::new(section(Section::Bias)),
            bias_var: F32s::new(section(Section::BiasVar)),
            weight_scale: F32s::new(section(Section::WeightScale)),
            weight: section(Section::Weight),
            std_dev_scale: F32s::new(section(Section::DeviationScale)),
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
    std_dev_scale: F32s<'m>,
    weight_var: &'m [u8],
}

/// Units whose rows lie side by side: `lanes` rows of the first gate, then of the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Group<'m> {
    /// The first of its units.
    pub(crate) unit: usize,
    /// How many units.
    pub(crate) lanes: usize,
    /// Rows in a column: units times gates.
    pub(crate) rows: usize,
    /// Mean of each row's bias.
    pub(crate) bias: F32s<'m>,
    /// Variance of each row's bias; empty without weight variances.
    pub(crate) bias_var: F32s<'m>,
    /// The weights, column after column.
    pub(crate) weights: Weights<'m>,
}

/// The weights of a group, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Weights<'m> {
    /// Single precision; `var` is empty without weight variances.
    F32 {
        /// Means.
        mean: F32s<'m>,
        /// Variances.
        var: F32s<'m>,
    },
    /// Bytes; `deviations` is empty without weight variances.
    Int8 {
        /// Signed codes: mean = code × scale of the row.
        codes: &'m [u8],
        /// Scale of each row's means.
        scale: F32s<'m>,
        /// Unsigned codes: standard deviation = code × scale of the row.
        std_devs: &'m [u8],
        /// Scale of each row's standard deviations.
        std_dev_scale: F32s<'m>,
    },
}

impl<'m> AffineView<'m> {
    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.shape.cols
    }

    /// Whether weights and biases have variances of their own.
    pub(crate) fn has_variances(&self) -> bool {
        self.shape.weight_variance
    }

    /// All groups of [`LANES`] units, one after the other.
    #[cfg(all(feature = "std", target_arch = "x86_64"))]
    pub(crate) fn wide(&self) -> Group<'m> {
        let units = self.shape.rows / self.shape.gates.max(1);
        self.group(0, units / LANES * LANES)
    }

    /// The groups in order of their units, from the one that begins with `unit` on.
    pub(crate) fn groups_from(self, mut unit: usize) -> impl Iterator<Item = Group<'m>> {
        let units = self.shape.rows / self.shape.gates.max(1);
        core::iter::from_fn(move || {
            let left = units.checked_sub(unit).filter(|left| *left > 0)?;
            let group = self.group(unit, group_lanes(left));
            unit += group.lanes;
            Some(group)
        })
    }

    fn group(&self, unit: usize, lanes: usize) -> Group<'m> {
        let AffineShape { cols, gates, .. } = self.shape;
        let (first, rows) = (unit * gates, lanes * gates);
        let (start, count) = (first * cols, rows * cols);
        let weights = match self.shape.format {
            WeightFormat::F32 => Weights::F32 {
                mean: F32s::new(self.weight).part(start, count),
                var: F32s::new(self.weight_var).part(start, count),
            },
            WeightFormat::Int8 => Weights::Int8 {
                codes: part(self.weight, start, count),
                scale: self.weight_scale.part(first, rows),
                std_devs: part(self.weight_var, start, count),
                std_dev_scale: self.std_dev_scale.part(first, rows),
            },
        };
        let (bias, bias_var) = (self.bias.part(first, rows), self.bias_var.part(first, rows));
        Group { unit, lanes, rows, bias, bias_var, weights }
    }
}

fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    bytes.get(start..).and_then(|tail| tail.get(..len)).unwrap_or_default()
}
