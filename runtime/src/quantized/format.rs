//! Affine maps in quantized layouts: blocks of bytes, and the scales around them.

use core::marker::PhantomData;

use super::fixed::{LARGEST_SHIFT, MIN_NARROWING, VAR_BITS, WIDE_VAR_BITS};
use super::pairs::{Form, GroupPairs, PAIR_BYTES, PairLists, spans};
use super::sections::{SectionBytes, read_form, stores_squares};
use super::weight_vars::{WeightVarGroup, WeightVars};
use crate::format::{AffineShape, Cursor, aligned};
use crate::spec::{AnyArchitecture, Architecture};

/// Rows of a block.
pub(super) const BLOCK_ROWS: usize = 4;
/// Columns of a block.
const BLOCK_COLS: usize = 8;

/// Bytes of [`QuantParams`].
pub(super) const QUANT_PARAMS: usize = 16;

/// Which columns a group of four rows reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Columns {
    /// Those of the input and of the state.
    All,
    /// Those of the input: the first part of a GRU's candidate.
    Input,
    /// Those of the state: the second part of a GRU's candidate.
    State,
}

/// Groups of the rows of four units of a GRU, in the order of the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GruPart {
    Reset,
    Update,
    FromInput,
    FromState,
}

impl GruPart {
    pub(super) const ALL: [GruPart; 4] =
        [GruPart::Reset, GruPart::Update, GruPart::FromInput, GruPart::FromState];

    /// Which columns the rows of a part read.
    pub(super) const fn columns(self) -> Columns {
        match self {
            GruPart::Reset | GruPart::Update => Columns::All,
            GruPart::FromInput => Columns::Input,
            GruPart::FromState => Columns::State,
        }
    }
}

/// Sizes of a map whose rows and columns are padded to whole blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PaddedShape {
    /// Groups of four rows.
    pub(super) groups: usize,
    /// Columns of the input, padded so that the state begins a new pair, or a new block if the map is split.
    pub(super) inputs: usize,
    pub(super) cols: usize,
    /// Whether groups are those of [`GruPart::ALL`], again and again.
    pub(super) split: bool,
}

impl PaddedShape {
    #[inline(always)] // constants, where the shape is one
    pub(super) const fn new(shape: AffineShape) -> Self {
        let split = shape.is_split();
        let inputs = shape.inputs.next_multiple_of(if split { BLOCK_COLS } else { 2 });
        PaddedShape {
            groups: if split {
                GruPart::ALL.len() * shape.units().div_ceil(BLOCK_ROWS)
            } else {
                shape.rows.div_ceil(BLOCK_ROWS)
            },
            inputs,
            cols: (inputs + shape.cols - shape.inputs).next_multiple_of(BLOCK_COLS),
            split,
        }
    }

    /// Columns that group `index` reads.
    pub(super) const fn columns(self, index: usize) -> Columns {
        if self.split { GruPart::ALL[index % GruPart::ALL.len()].columns() } else { Columns::All }
    }

    /// Number of these columns.
    pub(super) const fn width(self, columns: Columns) -> usize {
        match columns {
            Columns::All => self.cols,
            Columns::Input => self.inputs,
            Columns::State => self.cols - self.inputs,
        }
    }

    /// Columns of all groups before group `index`, added up.
    pub(super) const fn columns_before(self, index: usize) -> usize {
        if !self.split {
            return index.wrapping_mul(self.cols);
        }
        // Both parts of the candidate read as many columns as one gate.
        let partly = match index % GruPart::ALL.len() {
            0 => 0,
            1 => self.cols,
            2 => 2 * self.cols,
            _ => 2 * self.cols + self.inputs,
        };
        (index / GruPart::ALL.len()).wrapping_mul(3 * self.cols).wrapping_add(partly)
    }
}

/// Fixed-point scales that all rows of a map share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct QuantParams {
    /// Codes of activations per unit of their value.
    pub(super) unit: f32,
    /// Largest magnitude of an input's code.
    pub(super) input_limit: i32,
    /// Bits of the codes of variances.
    pub(super) variance_bits: u32,
    /// v = accumulator × row scale / 2³² · 2^(shift − exponent), with the shift by which variances were
    /// narrowed.
    pub(super) variance_exponent: u32,
}

/// Sums of bytes times activations, and of squares times variances, stay below this: kernels return 256 times
/// as much.
pub(super) const SUM_LIMIT: u32 = (1 << 23) - 1;
/// Sums of squared bytes times variances, where squares are not stored, stay within this.
pub(super) const SQUARE_SUM_LIMIT: u32 = (1 << 31) - 1;
/// Magnitudes of biases stay below this: it leaves room for a product of 30 bits.
pub(super) const BIAS_LIMIT: u32 = 1 << 29;
/// Most codes per unit: twice as many still fit a halfword.
pub(super) const LARGEST_UNIT: f32 = 16383.0;
/// Bits of the largest wide variance: 64.
const LARGEST_WIDE_BITS: u32 = WIDE_VAR_BITS + 6;
/// Least exponent of a variance, for a shift of zero in `BlockFloat`.
const LEAST_EXPONENT: u32 = VAR_BITS;
/// Largest exponent of a variance, for the largest shift in `BlockFloat`.
pub(super) const LARGEST_EXPONENT: u32 = VAR_BITS + LARGEST_SHIFT + MIN_NARROWING;

impl QuantParams {
    pub(super) fn read(bytes: [u8; QUANT_PARAMS]) -> Self {
        let [unit, input_limit, variance_bits, variance_exponent] = words(bytes);
        QuantParams {
            unit: f32::from_bits(unit),
            input_limit: input_limit as i32,
            variance_bits,
            variance_exponent,
        }
    }

    #[cfg(feature = "write")]
    pub(super) fn to_bytes(self) -> [u8; QUANT_PARAMS] {
        bytes([self.unit.to_bits(), self.input_limit as u32, self.variance_bits, self.variance_exponent])
    }

    /// Bits of the largest wide variance that the exponent leaves room for.
    fn wide_bits(&self) -> u32 {
        (self.variance_bits + self.variance_exponent).saturating_sub(LEAST_EXPONENT).min(LARGEST_WIDE_BITS)
    }

    /// The largest wide variance.
    pub(super) fn wide_var_limit(&self) -> u32 {
        (1 << self.wide_bits()) - 1
    }

    /// Whether a step with these scales stays inside its integers, and resolves variances of units.
    pub(super) fn is_sound(&self) -> bool {
        (1.0..=LARGEST_UNIT).contains(&self.unit)
            && (0..=32767).contains(&self.input_limit)
            && (1..=14).contains(&self.variance_bits)
            && (LEAST_EXPONENT..=LARGEST_EXPONENT).contains(&self.variance_exponent)
            && self.missing_bits() == 0
    }

    /// How many more bits the codes of variances need for a wide variance of one.
    pub(super) fn missing_bits(&self) -> u32 {
        WIDE_VAR_BITS.saturating_sub(self.wide_bits())
    }
}

pub(super) fn words(bytes: [u8; 16]) -> [u32; 4] {
    let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3] = bytes;
    [[a0, a1, a2, a3], [b0, b1, b2, b3], [c0, c1, c2, c3], [d0, d1, d2, d3]].map(u32::from_le_bytes)
}

#[cfg(feature = "write")]
pub(super) fn bytes(words: [u32; 4]) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes.as_chunks_mut().0.iter_mut().zip(words).for_each(|(bytes, word)| *bytes = word.to_le_bytes());
    bytes
}

/// One quantized affine map, its bytes still in the checkpoint.
///
/// A step keeps one per map on the stack: it holds no more of the shape than kernels need.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantizedView<'m, A = AnyArchitecture> {
    /// Sizes; no groups if bytes are missing.
    pub(super) padded: PaddedShape,
    propagates: bool,
    has_squares: bool,
    quant_params: &'m [u8; QUANT_PARAMS],
    lists: PairLists<'m>,
    weights: &'m [u8],
    squares: &'m [u8],
    weight_vars: WeightVars<'m>,
    architecture: PhantomData<A>,
}

/// Four rows of a map. Words are little-endian; biases and scales have the fractional bits of `fixed.rs`.
#[derive(Clone, Copy, Debug)]
pub(super) struct QuantizedGroup<'m> {
    /// Blocks of weights, by columns.
    pub(super) weights: &'m [u8],
    pub(super) biases: &'m Words,
    pub(super) mean_scales: &'m Words,
    /// Blocks of squares; empty when the layout has none.
    pub(super) squares: &'m [u8],
    pub(super) var_scales: &'m Words,
    /// The pairs of columns that the blocks hold.
    pub(super) pairs: GroupPairs<'m>,
}

/// A word for each of four rows.
pub(super) type Words = [[u8; 4]; BLOCK_ROWS];

/// Stands in the place of a list that the map does not have.
const NO_WORDS: Words = [[0; 4]; BLOCK_ROWS];

impl<'m, A: Architecture> QuantizedView<'m, A> {
    /// The next affine map of the payload.
    #[inline(always)]
    pub(super) fn read(cursor: &mut Cursor<'m>, shape: AffineShape) -> Self {
        // A shape that is known makes constants of nearly all of it.
        if A::SPEC.is_some() { Self::read_here(cursor, shape) } else { Self::read_any(cursor, shape) }
    }

    #[inline(never)] // called in many places
    fn read_any(cursor: &mut Cursor<'m>, shape: AffineShape) -> Self {
        Self::read_here(cursor, shape)
    }

    #[inline(always)]
    fn read_here(cursor: &mut Cursor<'m>, shape: AffineShape) -> Self {
        let padded = PaddedShape::new(shape);
        let quant_params = cursor.take(QUANT_PARAMS).first_chunk().unwrap_or(&[0; QUANT_PARAMS]);
        let form = read_form(cursor, shape.layout);
        let form_or_dense = form.unwrap_or(Form::Dense);
        let bytes = match A::SPEC {
            Some(_) => SectionBytes::here(shape, padded, form_or_dense),
            None => SectionBytes::new(shape, padded, form_or_dense),
        };
        let lists = match form {
            Some(Form::Listed { pairs }) => {
                let section = cursor.take(aligned(bytes.list));
                PairLists::new(section, padded.groups * spans(padded), pairs as usize)
            }
            _ => PairLists::NONE,
        };
        let (weights, squares) = (cursor.take(aligned(bytes.weight)), cursor.take(aligned(bytes.square)));
        let weight_vars = cursor.take(aligned(bytes.weight_var));
        let complete = weights.len() >= bytes.weight
            && squares.len() >= bytes.square
            && weight_vars.len() >= bytes.weight_var
            && form.is_some_and(|form| lists.form() == form);
        QuantizedView {
            padded: PaddedShape { groups: if complete { padded.groups } else { 0 }, ..padded },
            propagates: shape.propagates,
            has_squares: shape.propagates && stores_squares(shape.layout),
            quant_params,
            lists,
            weights,
            squares,
            weight_vars: WeightVars(weight_vars),
            architecture: PhantomData,
        }
    }

    /// Whether variances go through the map.
    #[inline(always)]
    pub(super) fn propagates(&self) -> bool {
        A::USES.variances && (self.propagates || !A::USES.means_only)
    }

    /// Whether squares of weights are stored.
    #[inline(always)]
    pub(super) fn has_squares(&self) -> bool {
        A::USES.variances && (self.has_squares || !(A::USES.unsquared || A::USES.means_only))
    }

    /// Pairs of columns that are left.
    #[inline(always)]
    pub(super) fn lists(&self) -> &PairLists<'m> {
        if A::USES.lists { &self.lists } else { &PairLists::NONE }
    }

    /// Variances of the weights, if they have any.
    #[inline(always)]
    pub(super) fn weight_vars(&self) -> WeightVars<'m> {
        if A::USES.weight_vars { self.weight_vars } else { WeightVars(&[]) }
    }

    /// The scales that all rows share.
    #[inline(always)]
    pub(super) fn quant_params(&self) -> QuantParams {
        QuantParams::read(*self.quant_params)
    }

    /// Both sections, for kernels that walk through whole layers: for each four rows their blocks, then their
    /// biases and scales.
    #[inline(always)]
    pub(super) fn streams(&self) -> [&'m [u8]; 2] {
        [self.weights, self.squares]
    }

    /// What pads the sections, whose lengths are these.
    pub(super) fn padding(&self, bytes: SectionBytes) -> [&'m [u8]; 4] {
        let behind = |section: &'m [u8], bytes: usize| section.get(bytes..).unwrap_or_default();
        [
            self.lists.padding,
            behind(self.weights, bytes.weight),
            behind(self.squares, bytes.square),
            behind(self.weight_vars.0, bytes.weight_var),
        ]
    }

    /// The rows in groups of four.
    pub(super) fn groups(&self) -> impl Iterator<Item = QuantizedGroup<'m>> {
        (0..self.padded.groups).map(|index| self.any_group(index))
    }

    #[inline(never)] // for checks, which are long enough
    fn any_group(&self, index: usize) -> QuantizedGroup<'m> {
        if self.padded.split { self.split_group(index) } else { self.group(index) }
    }

    /// Group `index` of four rows, of a map whose groups all read every column. Apart from
    /// [`split_group`](Self::split_group), so that a step without variances computes nothing about squares.
    #[inline(always)]
    pub(super) fn group(&self, index: usize) -> QuantizedGroup<'m> {
        if self.lists().is_empty() { self.dense_group(index) } else { self.listed_group(index) }
    }

    /// Group `index` of a map whose groups read different columns.
    #[inline(always)]
    pub(super) fn split_group(&self, index: usize) -> QuantizedGroup<'m> {
        if self.lists().is_empty() { self.dense_split_group(index) } else { self.listed_group(index) }
    }

    /// [`group`](Self::group) of a map without lists.
    #[inline(always)]
    pub(super) fn dense_group(&self, index: usize) -> QuantizedGroup<'m> {
        let width = BLOCK_ROWS * self.padded.cols;
        self.group_at(index, index.wrapping_mul(width), width, GroupPairs::ALL)
    }

    /// [`split_group`](Self::split_group) of a map without lists.
    #[inline(always)]
    pub(super) fn dense_split_group(&self, index: usize) -> QuantizedGroup<'m> {
        let width = self.padded.width(self.padded.columns(index));
        let before = BLOCK_ROWS * self.padded.columns_before(index);
        self.group_at(index, before, BLOCK_ROWS * width, GroupPairs::ALL)
    }

    /// Group `index` of a map that holds listed pairs of columns.
    #[inline(never)] // apart from the registers of a dense map
    pub(super) fn listed_group(&self, index: usize) -> QuantizedGroup<'m> {
        let ([before, blocks], pairs) = self.listed_at(index);
        self.group_at(index, before, blocks, pairs)
    }

    /// Bytes of blocks before those of group `index` of such a map, bytes of its own, and its lists.
    #[inline(never)]
    fn listed_at(&self, index: usize) -> ([usize; 2], GroupPairs<'m>) {
        let pairs = self.lists().group(index, spans(self.padded));
        ([pairs.start, pairs.indices.len()].map(|pairs| pairs.wrapping_mul(PAIR_BYTES)), pairs)
    }

    /// Weight variances of group `index` of four rows, as of [`group`](Self::group).
    #[inline(always)]
    pub(super) fn weight_var_group(&self, index: usize) -> WeightVarGroup<'m> {
        let (at, pairs) = if self.lists().is_empty() {
            let columns = self.padded.columns(index);
            let (before, blocks) = (self.padded.columns_before(index), self.padded.width(columns));
            ([BLOCK_ROWS * before, BLOCK_ROWS * blocks], GroupPairs::ALL)
        } else {
            self.listed_at(index)
        };
        let (codes, [scales, bias_vars]) = rows(self.weight_vars().stream(), index, at);
        WeightVarGroup { codes, scales, bias_vars, pairs }
    }

    /// Group `index`, whose blocks take `blocks` bytes and stand behind `before` bytes of other blocks.
    #[inline(always)]
    fn group_at(
        &self,
        index: usize,
        before: usize,
        blocks: usize,
        pairs: GroupPairs<'m>,
    ) -> QuantizedGroup<'m> {
        let [weights, squares] = self.streams();
        let (weights, [biases, mean_scales]) = rows(weights, index, [before, blocks]);
        let stored = if self.has_squares() { [before, blocks] } else { [0; 2] };
        let (squares, [var_scales]) = rows(squares, index, stored);
        QuantizedGroup { weights, biases, mean_scales, squares, var_scales, pairs }
    }
}

/// Four rows of a section: their blocks, of which `before` bytes stand before those of group `index`, then
/// `LISTS` lists of one word per row.
#[inline(always)]
fn rows<const LISTS: usize>(
    all: &[u8],
    index: usize,
    [before, blocks]: [usize; 2],
) -> (&[u8], [&Words; LISTS]) {
    let start = before.wrapping_add(index.wrapping_mul(size_of::<Words>() * LISTS));
    let (blocks, rest) = all.get(start..).unwrap_or_default().split_at_checked(blocks).unwrap_or_default();
    let lists = rest.as_chunks().0.as_chunks::<BLOCK_ROWS>().0;
    (blocks, core::array::from_fn(|index| lists.get(index).unwrap_or(&NO_WORDS)))
}
