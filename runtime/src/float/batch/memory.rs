//! The caller's memory for a batch: every quantity of a layer, side by side for sixteen streams.

use super::super::format::LANES;
use crate::arena::ArenaSplitter;
use crate::format::AffineShape;
use crate::lanes::Lanes;
use crate::spec::ModelSpec;

/// Most pre-activations of a unit.
pub(super) const PARTS: usize = 4;

/// What the widest layer needs, in numbers per stream.
#[derive(Clone, Copy)]
struct Widths {
    /// Columns of an affine map, or inputs of the model.
    columns: usize,
    /// Numbers of a layer's state.
    state: usize,
    /// Rows of the output map.
    rows: usize,
}

impl Widths {
    fn new(spec: &ModelSpec) -> Self {
        let columns = spec.shapes().map(|shape| shape.cols).fold(spec.inputs.into(), usize::max);
        let state = spec.layers.iter().map(|layer| 2 * layer.cell.states() * usize::from(layer.units));
        let AffineShape { rows, .. } = spec.output_shape();
        Widths { columns, state: state.max().unwrap_or(0), rows }
    }

    /// Lanes of all quantities, and the weights of as many rows as there are lanes.
    fn words(self) -> usize {
        let lanes = 3 * self.columns + self.state + 2 * self.rows + 2 * PARTS * LANES;
        LANES * (lanes + self.columns)
    }
}

/// Words of memory for one step of a batch.
pub(crate) fn batch_words(spec: &ModelSpec) -> Option<usize> {
    Some(Widths::new(spec).words())
}

/// The memory, carved up. Its contents mean nothing before and after a step.
pub(super) struct Memory<'a> {
    /// [x_t, h_{t−1}] after noise: means and variances.
    pub(super) input: [&'a mut [Lanes]; 2],
    /// State of the layer at work: means and variances of h, then of c.
    pub(super) state: &'a mut [Lanes],
    /// Rows of the output map: means and variances.
    pub(super) rows: [&'a mut [Lanes]; 2],
    /// What a group of units needs.
    pub(super) work: Work<'a>,
}

/// Memory of a group of units.
pub(super) struct Work<'a> {
    /// Means and variances of pre-activations: one part of all units of a group, then the next.
    pub(super) parts: [&'a mut [Lanes]; 2],
    /// Weights of a few rows, as numbers or squared, column after column.
    pub(super) weights: &'a mut [f32],
    /// Squared means of the input; filled in where weights have variances.
    pub(super) squares: &'a mut [Lanes],
}

impl<'a> Memory<'a> {
    /// `None` if there are fewer words than [`batch_words`].
    pub(super) fn carve(spec: &ModelSpec, words: &'a mut [f32]) -> Option<Self> {
        let widths = Widths::new(spec);
        let mut words = ArenaSplitter::new(words);
        let mut lanes = |count: usize| words.carve(LANES * count).map(|words| words.as_chunks_mut().0);
        let input = [lanes(widths.columns)?, lanes(widths.columns)?];
        let state = lanes(widths.state)?;
        let rows = [lanes(widths.rows)?, lanes(widths.rows)?];
        let parts = [lanes(PARTS * LANES)?, lanes(PARTS * LANES)?];
        let squares = lanes(widths.columns)?;
        let weights = words.carve(LANES * widths.columns)?;
        Some(Memory { input, state, rows, work: Work { parts, weights, squares } })
    }
}
