//! Bytes of an affine map's sections, and words of its input.

use super::format::{BLOCK_ROWS, PaddedShape, QUANT_PARAMS};
use super::pairs::{Form, HEAD, PAIR_BYTES, spans};
use super::weight_vars::{WEIGHT_VAR_PARAMS, WEIGHT_VAR_SCALES};
#[cfg(feature = "write")]
use crate::format::StoredBlocks;
use crate::format::{AffineShape, Cursor, aligned};
use crate::spec::Layout;

/// Bytes of the biases and of the scales of means of four rows.
const MEAN_SCALES: usize = 32;
/// Bytes of the scales of variances of four rows.
const VAR_SCALES: usize = 16;

/// Bytes of the sections of a map, without padding.
#[derive(Clone, Copy, Debug)]
pub(super) struct SectionBytes {
    pub(super) list: usize,
    pub(super) weight: usize,
    pub(super) square: usize,
    pub(super) weight_var: usize,
}

impl SectionBytes {
    #[inline(never)] // called in many places
    pub(super) fn new(shape: AffineShape, padded: PaddedShape, form: Form) -> Self {
        Self::here(shape, padded, form)
    }

    /// The same, for a shape that is known while compiling.
    #[inline(always)]
    pub(super) const fn here(shape: AffineShape, padded: PaddedShape, form: Form) -> Self {
        let (list, blocks) = match form {
            Form::Dense => (0, BLOCK_ROWS * padded.columns_before(padded.groups)),
            Form::Listed { pairs } => {
                let pairs = pairs as usize;
                ((4 * padded.groups * spans(padded)).saturating_add(pairs), PAIR_BYTES.saturating_mul(pairs))
            }
        };
        let groups = padded.groups;
        let squares = if stores_squares(shape.layout) { blocks } else { 0 };
        let weight_vars = blocks.saturating_add(groups * WEIGHT_VAR_SCALES + WEIGHT_VAR_PARAMS);
        SectionBytes {
            list,
            weight: blocks.saturating_add(groups * MEAN_SCALES),
            square: if shape.propagates { squares.saturating_add(groups * VAR_SCALES) } else { 0 },
            weight_var: if shape.propagates && shape.weight_variance { weight_vars } else { 0 },
        }
    }

    /// Bytes of all sections, with their padding.
    #[inline(never)]
    pub(super) fn total(self) -> usize {
        let sections = [self.list, self.weight, self.square, self.weight_var];
        sections.into_iter().map(aligned).fold(0, usize::saturating_add)
    }
}

/// Whether squares of weights have bytes of their own.
pub(super) const fn stores_squares(layout: Layout) -> bool {
    matches!(layout, Layout::Fast | Layout::Sparse)
}

/// Reads how a map is stored, which only the layout `sparse` leaves open.
#[inline(always)]
pub(super) fn read_form(cursor: &mut Cursor<'_>, layout: Layout) -> Option<Form> {
    if layout != Layout::Sparse {
        return Some(Form::Dense);
    }
    cursor.take(HEAD).first_chunk().and_then(|head| Form::read(*head))
}

/// Bytes of the affine map that begins at a position of the payload; those of a dense one if its head makes
/// no sense.
pub(crate) fn affine_bytes(shape: AffineShape, mut cursor: Cursor<'_>) -> usize {
    let head = if shape.layout == Layout::Sparse { HEAD } else { 0 };
    cursor.take(QUANT_PARAMS);
    let form = read_form(&mut cursor, shape.layout).unwrap_or(Form::Dense);
    let bytes = SectionBytes::new(shape, PaddedShape::new(shape), form);
    (QUANT_PARAMS + head).saturating_add(bytes.total())
}

/// Bytes of an affine map that has no lists and no head, in a constant.
pub(crate) const fn dense_bytes(shape: AffineShape) -> usize {
    let SectionBytes { weight, square, weight_var, .. } =
        SectionBytes::here(shape, PaddedShape::new(shape), Form::Dense);
    QUANT_PARAMS + aligned(weight) + aligned(square) + aligned(weight_var)
}

/// Blocks of the next affine map.
#[cfg(feature = "write")]
pub(crate) fn stored_blocks(cursor: &mut Cursor<'_>, shape: AffineShape) -> StoredBlocks {
    let map = super::format::QuantizedView::<crate::spec::AnyArchitecture>::read(cursor, shape);
    let pairs = shape.inputs.div_ceil(2) + (shape.cols - shape.inputs).div_ceil(2);
    // Both parts of a GRU's candidate read as many columns as one gate.
    let groups = if map.padded.split { map.padded.groups / 4 * 3 } else { map.padded.groups };
    let listed = (!map.lists().is_empty()).then_some(map.lists().indices.len());
    StoredBlocks { all: groups * pairs, listed }
}

/// Words of scratch for the input of an affine map: two means to a word; a variance has a word of its own
/// until the largest is known. The half that is then free has room for squared means.
pub(crate) const fn scratch_words(shape: AffineShape) -> usize {
    let cols = PaddedShape::new(shape).cols;
    match shape.layout {
        Layout::Mean => cols / 2,
        Layout::Float | Layout::Small | Layout::Fast | Layout::Sparse => cols / 2 + cols,
    }
}
