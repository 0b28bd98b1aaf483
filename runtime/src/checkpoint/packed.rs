//! Affine maps in packed layouts: blocks of bytes and the integers around them.

use super::layout::{AffineShape, BLOCK, PACKED_ROW, Section};
use super::read::Cursor;

/// Fixed-point scales that all rows of a packed map share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Packing {
    /// Codes of activations per unit of their value.
    pub(crate) unit: f32,
    /// Largest magnitude of an input's code.
    pub(crate) input_limit: i32,
    /// Bits to which the codes of variances are shortened.
    pub(crate) variance_bits: u32,
    /// v = accumulator × row scale / 2³² · 2^(shift − exponent), with `shift` the bits cut off the codes.
    pub(crate) variance_exponent: u32,
}

/// Fractional bits of a variance before it becomes a code.
pub(crate) const RAW_VARIANCE_BITS: u32 = 16;
/// Bits of the largest variance that is told from larger ones: 64.
const LARGEST_RAW_BITS: u32 = RAW_VARIANCE_BITS + 6;
/// A variance's exponent never falls below this (see `moments::fixed`).
const LEAST_EXPONENT: u32 = 20;

impl Packing {
    pub(crate) fn read(bytes: [u8; 16]) -> Self {
        let [unit, input_limit, variance_bits, variance_exponent] = words(bytes);
        Packing {
            unit: f32::from_bits(unit),
            input_limit: input_limit as i32,
            variance_bits,
            variance_exponent,
        }
    }

    #[cfg(feature = "std")]
    pub(crate) fn to_bytes(self) -> [u8; 16] {
        let words =
            [self.unit.to_bits(), self.input_limit as u32, self.variance_bits, self.variance_exponent];
        let mut bytes = [0; 16];
        bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        bytes
    }

    /// Bits of the largest raw variance: what the exponent leaves room for.
    pub(crate) fn raw_bits(&self) -> u32 {
        (self.variance_bits + self.variance_exponent).saturating_sub(LEAST_EXPONENT).min(LARGEST_RAW_BITS)
    }

    /// Whether a step with these scales stays inside its integers, and tells variances of units apart.
    pub(crate) fn is_sound(&self) -> bool {
        (1.0..=32767.0).contains(&self.unit)
            && (0..=32767).contains(&self.input_limit)
            && (1..=14).contains(&self.variance_bits)
            && (LEAST_EXPONENT..=LEAST_EXPONENT + 31).contains(&self.variance_exponent)
            && self.raw_bits() >= RAW_VARIANCE_BITS
    }
}

fn words(bytes: [u8; 16]) -> [u32; 4] {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3] = bytes;
    [[a0, a1, a2, a3], [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]].map(u32::from_le_bytes)
}

/// Bias and scales of one row, with the fractional bits of `moments::fixed`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedRow {
    pub(crate) bias: i32,
    pub(crate) mean_scale: i32,
    pub(crate) var_scale: i32,
}

impl PackedRow {
    #[inline(always)]
    pub(crate) fn read(bytes: &[u8; PACKED_ROW]) -> Self {
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *bytes;
        PackedRow {
            bias: i32::from_le_bytes([a0, a1, a2, a3]),
            mean_scale: i32::from_le_bytes([b0, b1, b2, b3]),
            var_scale: i32::from_le_bytes([c0, c1, c2, c3]),
        }
    }

    #[cfg(feature = "std")]
    pub(crate) fn to_bytes(self) -> [u8; PACKED_ROW] {
        let mut bytes = [0; PACKED_ROW];
        let words = [self.bias, self.mean_scale, self.var_scale];
        bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(place, word)| *place = word.to_le_bytes());
        bytes
    }
}

impl<'m> Cursor<'m> {
    /// The next affine map, in a packed layout.
    pub(crate) fn packed(&mut self, shape: AffineShape) -> PackedView<'m> {
        PackedView::read(self, shape)
    }
}

/// One packed affine map, its bytes still in the checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedView<'m> {
    pub(crate) shape: AffineShape,
    pub(crate) packing: Packing,
    rows: &'m [u8],
    weights: &'m [u8],
    squares: &'m [u8],
}

/// Four rows of a packed map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedGroup<'m> {
    pub(crate) rows: &'m [[u8; PACKED_ROW]; BLOCK],
    /// Blocks of weights, by columns.
    pub(crate) weights: &'m [u8],
    /// Blocks of squares; empty when the layout has none.
    pub(crate) squares: &'m [u8],
}

impl<'m> PackedView<'m> {
    pub(crate) fn read(cursor: &mut Cursor<'m>, shape: AffineShape) -> Self {
        let mut section = |section| cursor.padded(shape.bytes(section)).0;
        let packing = section(Section::Packing).first_chunk().copied().unwrap_or_default();
        PackedView {
            shape,
            packing: Packing::read(packing),
            rows: section(Section::Rows),
            weights: section(Section::Weight),
            squares: section(Section::Square),
        }
    }

    /// The rows in groups of four.
    pub(crate) fn groups(self) -> impl Iterator<Item = PackedGroup<'m>> {
        let bytes = (BLOCK * self.shape.packed_cols()).max(1);
        let rows = self.rows.as_chunks().0.as_chunks().0;
        let squares = self.squares.chunks_exact(bytes).chain(core::iter::repeat(&[][..]));
        let streams = self.weights.chunks_exact(bytes).zip(squares);
        rows.iter().zip(streams).map(|(rows, (weights, squares))| PackedGroup { rows, weights, squares })
    }
}
