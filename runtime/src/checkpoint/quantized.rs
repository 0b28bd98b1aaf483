//! Affine maps in quantized layouts: blocks of bytes and the integers around them.

use super::layout::{AffineShape, BLOCK_ROWS, PACKING};
use super::read::Cursor;
use super::spec::Layout;
use crate::kernels::{MIN_VARIANCE_SHIFT, RAW_VARIANCE_BITS};
use crate::moments::fixed::{LARGEST_SHIFT, VAR_BITS};

/// Fixed-point scales that all rows of a quantized map share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct QuantParams {
    /// Codes of activations per unit of their value.
    pub(crate) unit: f32,
    /// Largest magnitude of an input's code.
    pub(crate) input_limit: i32,
    /// Bits to which the codes of variances are shortened.
    pub(crate) variance_bits: u32,
    /// v = accumulator × row scale / 2³² · 2^(shift − exponent), with `shift` the bits cut off the codes.
    pub(crate) variance_exponent: u32,
}

/// Sums of bytes times activations, and of squares times variances, stay below this: kernels return 256 times as much.
pub(super) const SUM_LIMIT: u32 = (1 << 23) - 1;
/// Most codes per unit: twice as many still fit a halfword.
pub(super) const LARGEST_UNIT: f32 = 16383.0;
/// Bits of the largest variance that is told from larger ones: 64.
const LARGEST_RAW_BITS: u32 = RAW_VARIANCE_BITS + 6;
/// A variance's exponent never falls below this (see `moments::fixed`).
const LEAST_EXPONENT: u32 = VAR_BITS;
/// Nor does it rise above this.
pub(super) const LARGEST_EXPONENT: u32 = VAR_BITS + LARGEST_SHIFT + MIN_VARIANCE_SHIFT;

impl QuantParams {
    pub(crate) fn read(bytes: [u8; 16]) -> Self {
        let [unit, input_limit, variance_bits, variance_exponent] = words(bytes);
        QuantParams {
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
    fn raw_bits(&self) -> u32 {
        (self.variance_bits + self.variance_exponent).saturating_sub(LEAST_EXPONENT).min(LARGEST_RAW_BITS)
    }

    /// The largest raw variance.
    pub(crate) fn raw_limit(&self) -> u32 {
        (1 << self.raw_bits()) - 1
    }

    /// Whether a step with these scales stays inside its integers, and tells variances of units apart.
    pub(crate) fn is_sound(&self) -> bool {
        (1.0..=LARGEST_UNIT).contains(&self.unit)
            && (0..=32767).contains(&self.input_limit)
            && (1..=14).contains(&self.variance_bits)
            && (LEAST_EXPONENT..=LARGEST_EXPONENT).contains(&self.variance_exponent)
            && self.raw_bits() >= RAW_VARIANCE_BITS
    }
}

fn words(bytes: [u8; 16]) -> [u32; 4] {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3] = bytes;
    [[a0, a1, a2, a3], [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]].map(u32::from_le_bytes)
}

impl<'m> Cursor<'m> {
    /// The next affine map, in a quantized layout.
    pub(crate) fn quantized(&mut self, shape: AffineShape) -> QuantizedView<'m> {
        QuantizedView::read(self, shape)
    }
}

/// One quantized affine map, its bytes still in the checkpoint.
///
/// A step holds one for each map it walks through, on a stack that is short: it knows no more of the shape than kernels ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantizedView<'m> {
    /// Columns, with padding to whole blocks.
    pub(crate) cols: usize,
    /// Fours of rows, all of them there.
    pub(crate) groups: usize,
    /// Whether variances go through the map.
    pub(crate) propagates: bool,
    /// Whether squares of weights are stored.
    pub(crate) has_squares: bool,
    quant_params: &'m [u8; PACKING],
    weights: &'m [u8],
    squares: &'m [u8],
}

/// Four rows of a quantized map. Words are little-endian; biases and scales have the fractional bits of `moments::fixed`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct QuantizedGroup<'m> {
    /// Blocks of weights, by columns.
    pub(crate) weights: &'m [u8],
    pub(crate) biases: &'m Words,
    pub(crate) mean_scales: &'m Words,
    /// Blocks of squares; empty when the layout has none.
    pub(crate) squares: &'m [u8],
    pub(crate) var_scales: &'m Words,
}

/// A word for each of four rows.
pub(crate) type Words = [[u8; 4]; BLOCK_ROWS];

/// What a map that carries no variances has instead of a list.
const NO_WORDS: Words = [[0; 4]; BLOCK_ROWS];

impl<'m> QuantizedView<'m> {
    #[inline(never)] // asked for in many places
    pub(crate) fn read(cursor: &mut Cursor<'m>, shape: AffineShape) -> Self {
        // Packed sections are whole multiples of the alignment.
        let groups = shape.quantized_rows() / BLOCK_ROWS;
        let (mean_bytes, square_bytes) =
            (groups * shape.mean_group(), if shape.propagates { groups * shape.square_group() } else { 0 });
        let quant_params = cursor.take(PACKING).first_chunk().unwrap_or(&[0; PACKING]);
        let (weights, squares) = (cursor.take(mean_bytes), cursor.take(square_bytes));
        let whole = weights.len() == mean_bytes && squares.len() == square_bytes;
        QuantizedView {
            cols: shape.quantized_cols(),
            groups: if whole { groups } else { 0 },
            propagates: shape.propagates,
            has_squares: shape.propagates && shape.layout == Layout::Fast,
            quant_params,
            weights,
            squares,
        }
    }

    /// The scales that all rows share.
    #[inline(always)]
    pub(crate) fn quant_params(&self) -> QuantParams {
        QuantParams::read(*self.quant_params)
    }

    /// Both sections as they are, for kernels that walk through whole layers: for each four rows their blocks, and then what belongs to each row.
    #[inline(always)]
    pub(crate) fn streams(&self) -> [&'m [u8]; 2] {
        [self.weights, self.squares]
    }

    /// The rows in groups of four.
    pub(crate) fn groups(&self) -> impl Iterator<Item = QuantizedGroup<'m>> {
        (0..self.groups).map(|index| self.group(index))
    }

    /// Rows 4 · `index` to 4 · `index` + 3.
    #[inline(always)]
    pub(crate) fn group(&self, index: usize) -> QuantizedGroup<'m> {
        let bytes = BLOCK_ROWS * self.cols;
        let [weights, squares] = self.streams();
        let (weights, [biases, mean_scales]) = rows(weights, index, bytes);
        let (squares, [var_scales]) = rows(squares, index, if self.has_squares { bytes } else { 0 });
        QuantizedGroup { weights, biases, mean_scales, squares, var_scales }
    }
}

/// Four rows among others like them: so many bytes of blocks, and then `LISTS` lists of a word for each row.
#[inline(always)]
fn rows<const LISTS: usize>(all: &[u8], index: usize, blocks: usize) -> (&[u8], [&Words; LISTS]) {
    let start = index.wrapping_mul(blocks + size_of::<Words>() * LISTS);
    let (blocks, rest) = all.get(start..).unwrap_or_default().split_at_checked(blocks).unwrap_or_default();
    let lists = rest.as_chunks().0.as_chunks::<BLOCK_ROWS>().0;
    (blocks, core::array::from_fn(|index| lists.get(index).unwrap_or(&NO_WORDS)))
}
