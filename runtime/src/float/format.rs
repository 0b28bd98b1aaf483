//! Affine maps in the float layout: groups of units, each column by column.
//!
//! A column of a group holds the rows of all its units side by side, gate after gate. A core with vectors
//! reads it in one go and needs no sum across a vector; one without walks down a few rows at a time.

use crate::format::{AffineShape, Cursor, F32s, aligned};
use crate::spec::WeightFormat;

/// A section of one affine map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Section {
    /// One f32 per bias: per row, and one more per unit of a GRU.
    Bias,
    /// One f32 per bias, with weight variances only.
    BiasVar,
    /// One f32 per row, int8 only: weight = code × scale.
    WeightScale,
    /// Groups of units, each column by column: f32 or signed bytes.
    Weight,
    /// One f32 per row, int8 with weight variances only: standard deviation = code × scale.
    StdDevScale,
    /// As `Weight`, with weight variances only: f32 variances, or unsigned bytes of standard deviation.
    WeightVar,
}

impl Section {
    /// All sections, in file order.
    pub(super) const ALL: [Section; 6] = [
        Section::Bias,
        Section::BiasVar,
        Section::WeightScale,
        Section::Weight,
        Section::StdDevScale,
        Section::WeightVar,
    ];

    /// The name used in error messages and in `SPEC.md`.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Section::Bias => "bias",
            Section::BiasVar => "bias_var",
            Section::WeightScale => "weight_scale",
            Section::Weight => "weight",
            Section::StdDevScale => "std_dev_scale",
            Section::WeightVar => "weight_var",
        }
    }

    /// Bytes of the section, padding not counted; 0 when it is absent.
    pub(super) fn bytes(self, shape: AffineShape) -> usize {
        let (per_row, per_bias) = (4 * shape.rows, 4 * shape.bias_count());
        let int8 = shape.format == WeightFormat::Int8;
        let weights = shape.rows * shape.cols * if int8 { 1 } else { 4 };
        match self {
            Section::Bias => per_bias,
            Section::BiasVar if shape.weight_variance => per_bias,
            Section::WeightScale if int8 => per_row,
            Section::StdDevScale if int8 && shape.weight_variance => per_row,
            Section::Weight => weights,
            Section::WeightVar if shape.weight_variance => weights,
            _ => 0,
        }
    }
}

/// Bytes of an affine map, padding included.
#[inline(never)]
pub(crate) fn affine_bytes(shape: AffineShape, _: Cursor<'_>) -> usize {
    let sections = Section::ALL.into_iter().map(|section| aligned(section.bytes(shape)));
    sections.fold(0, usize::saturating_add)
}

/// Units of the largest group: one AVX-512 register, two of AVX2, four of NEON.
pub(super) const LANES: usize = crate::lanes::LANES;

/// Units of the next group, given the number of units left: sixteen, four or one.
pub(super) const fn group_lanes(units_left: usize) -> usize {
    match units_left {
        LANES.. => LANES,
        4.. => 4,
        _ => 1,
    }
}

/// One affine map, its numbers still in the checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct AffineView<'m> {
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
pub(super) struct Group<'m> {
    /// The first of its units.
    pub(super) unit: usize,
    /// Number of units.
    pub(super) lanes: usize,
    /// Rows in a column: units times gates.
    pub(super) rows: usize,
    /// Means of the biases, one per row; those of a GRU's candidate from the state follow.
    pub(super) bias: F32s<'m>,
    /// Variances of the biases; empty without weight variances.
    pub(super) bias_var: F32s<'m>,
    /// The weights, column after column.
    pub(super) weights: Weights<'m>,
}

/// The weights of a group, as stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum Weights<'m> {
    /// Single precision; `var` is empty without weight variances.
    F32 {
        /// Means.
        mean: F32s<'m>,
        /// Variances.
        var: F32s<'m>,
    },
    /// Bytes; `std_devs` is empty without weight variances.
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
    /// The next affine map of the payload.
    pub(super) fn read(cursor: &mut Cursor<'m>, shape: AffineShape) -> Self {
        let mut section = |section: Section| match section.bytes(shape) {
            0 => &[],
            bytes => cursor.padded(bytes).0,
        };
        AffineView {
            shape,
            bias: F32s::new(section(Section::Bias)),
            bias_var: F32s::new(section(Section::BiasVar)),
            weight_scale: F32s::new(section(Section::WeightScale)),
            weight: section(Section::Weight),
            std_dev_scale: F32s::new(section(Section::StdDevScale)),
            weight_var: section(Section::WeightVar),
        }
    }

    /// Number of columns.
    pub(super) fn cols(&self) -> usize {
        self.shape.cols
    }

    /// Number of columns that belong to the layer's input.
    pub(super) fn inputs(&self) -> usize {
        self.shape.inputs
    }

    /// Whether weights and biases have variances of their own.
    pub(super) fn has_variances(&self) -> bool {
        self.shape.weight_variance
    }

    /// All groups of [`LANES`] units, one after the other.
    #[cfg(all(feature = "vectors", target_arch = "x86_64"))]
    pub(super) fn wide(&self) -> Group<'m> {
        self.group(0, self.shape.units() / LANES * LANES)
    }

    /// The groups in order of their units, starting with the one whose first unit is `unit`.
    pub(super) fn groups_from(self, mut unit: usize) -> impl Iterator<Item = Group<'m>> {
        let units = self.shape.units();
        core::iter::from_fn(move || {
            let left = units.checked_sub(unit).filter(|left| *left > 0)?;
            let group = self.group(unit, group_lanes(left));
            unit += group.lanes;
            Some(group)
        })
    }

    fn group(&self, unit: usize, lanes: usize) -> Group<'m> {
        let AffineShape { cols, gates, biases, .. } = self.shape;
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
        let (first, count) = (unit * biases, lanes * biases);
        let (bias, bias_var) = (self.bias.part(first, count), self.bias_var.part(first, count));
        Group { unit, lanes, rows, bias, bias_var, weights }
    }
}

impl<'m> Group<'m> {
    /// The first `count` columns.
    pub(super) fn first_columns(self, count: usize) -> Self {
        Group { weights: self.weights.part(0, count * self.rows), ..self }
    }

    /// The columns from `start` on, with the biases that follow those of the rows: each `lanes` further on.
    pub(super) fn last_columns(self, start: usize) -> Self {
        let (bias, bias_var) =
            (self.bias.part(self.lanes, self.rows), self.bias_var.part(self.lanes, self.rows));
        Group { weights: self.weights.part(start * self.rows, usize::MAX), bias, bias_var, ..self }
    }
}

impl<'m> Weights<'m> {
    /// Whether weights have variances of their own.
    pub(super) fn has_variances(&self) -> bool {
        match self {
            Weights::F32 { var, .. } => !var.words().is_empty(),
            Weights::Int8 { std_devs, .. } => !std_devs.is_empty(),
        }
    }

    /// Scales of a row's means and standard deviations; none in single precision.
    pub(super) fn scales(&self, row: usize) -> (Option<f32>, Option<f32>) {
        match self {
            Weights::F32 { .. } => (None, None),
            Weights::Int8 { scale, std_dev_scale, .. } => (Some(scale.at(row)), Some(std_dev_scale.at(row))),
        }
    }

    /// At most `len` weights from `start` on; scales stay as they are.
    fn part(self, start: usize, len: usize) -> Self {
        match self {
            Weights::F32 { mean, var } => {
                Weights::F32 { mean: mean.part(start, len), var: var.part(start, len) }
            }
            Weights::Int8 { codes, scale, std_devs, std_dev_scale } => Weights::Int8 {
                codes: part(codes, start, len),
                scale,
                std_devs: part(std_devs, start, len),
                std_dev_scale,
            },
        }
    }
}

/// At most `len` bytes from `start` on.
fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    let tail = bytes.get(start..).unwrap_or_default();
    tail.get(..len).unwrap_or(tail)
}
