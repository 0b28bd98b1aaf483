//! The caller's memory for a batch: every quantity of a layer, side by side for sixteen streams.

use super::super::format::PaddedShape;
use super::super::state::unit_words;
use crate::arena::ArenaSplitter;
use crate::lanes::{LANES, Lanes};
use crate::spec::ModelSpec;

/// What the widest layer needs, in words per stream.
#[derive(Clone, Copy)]
struct Widths {
    inputs: usize,
    /// Columns of an affine map.
    columns: usize,
    /// Words of a layer's state: units, and means and variances of cells.
    state: usize,
    /// Rows of the output map.
    rows: usize,
}

impl Widths {
    fn new(spec: &ModelSpec) -> Self {
        let columns = spec.shapes().map(|shape| PaddedShape::new(shape).cols).max();
        let state = spec.layers.iter().map(|layer| unit_words(layer.cell).1 * usize::from(layer.units));
        Widths {
            inputs: spec.inputs.into(),
            columns: columns.unwrap_or(0),
            state: state.max().unwrap_or(0),
            rows: spec.output_shape().rows,
        }
    }

    fn words(self) -> usize {
        let Widths { inputs, columns, state, rows } = self;
        LANES * (2 * inputs + columns / 2 + columns + state + 2 * rows) + columns
    }
}

/// Words of memory for one step of a batch.
pub(crate) fn batch_words(spec: &ModelSpec) -> Option<usize> {
    Some(Widths::new(spec).words())
}

/// The memory, carved up. Its contents mean nothing before and after a step.
pub(super) struct Memory<'a> {
    /// Standardised inputs: means and variances.
    pub(super) inputs: [&'a mut [Lanes]; 2],
    /// [x_t, h_{t−1}] after noise: pairs of means, and variances.
    pub(super) columns: [&'a mut [Lanes]; 2],
    /// State of the layer at work.
    pub(super) state: &'a mut [Lanes],
    /// Rows of the output map: means and variances.
    pub(super) rows: [&'a mut [Lanes]; 2],
    /// A word for each of a group's blocks, shared by all streams.
    pub(super) lower: &'a mut [f32],
}

impl<'a> Memory<'a> {
    /// `None` if there are fewer words than [`batch_words`].
    pub(super) fn carve(spec: &ModelSpec, words: &'a mut [f32]) -> Option<Self> {
        let Widths { inputs, columns, state, rows } = Widths::new(spec);
        let mut words = ArenaSplitter::new(words);
        let mut lanes = |count: usize| words.carve(LANES * count).map(|words| words.as_chunks_mut().0);
        let inputs = [lanes(inputs)?, lanes(inputs)?];
        let pairs_and_vars = [lanes(columns / 2)?, lanes(columns)?];
        let (state, rows) = (lanes(state)?, [lanes(rows)?, lanes(rows)?]);
        Some(Memory { inputs, columns: pairs_and_vars, state, rows, lower: words.carve(columns)? })
    }
}
