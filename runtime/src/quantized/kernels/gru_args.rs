//! Arguments of a whole GRU layer in assembler, and the frame that the assembler keeps.

#![allow(unsafe_code)] // assembler, and the pointers it walks

use core::marker::PhantomData;

use super::super::fixed::LARGEST_SHIFT;
use super::super::format::{Columns, GruPart, QuantizedView};
use super::super::moments::{CELLS, ROOT_OFFSET, ROOT_PARTS, ROOTS};
use super::core_kernels::gru_layer;
use super::input::QuantizedInput;
use super::layer_args::layer_kernel;
use super::list_args::ListArgs;
use super::weight_var_args::WeightVarArgs;
use super::words::words;
use crate::spec::Architecture;

/// Activations that the rows of one part read.
#[repr(C)]
pub(super) struct PartArgs {
    pub(super) means: *const f32,
    pub(super) means_end: *const f32,
    /// Blocks of each four rows, zero if pairs are listed; the assembler replaces it by the address at which
    /// to enter the sums.
    pub(super) mean_blocks: usize,
    pub(super) vars: *const f32,
    pub(super) vars_end: *const f32,
    /// As `mean_blocks`.
    pub(super) var_blocks: usize,
}

/// What a layer's turns read and where they write.
///
/// Passed by value: the first four words arrive in registers and the others on the stack. The assembler
/// pushes the former below the latter, so that the structure stands in one piece.
#[repr(C)]
pub(super) struct GruArgs<'w> {
    pub(super) weights: *const u32,
    pub(super) squares: *const u32,
    pub(super) shift: u32,
    pub(super) cells: *const i32,
    /// Moved by the shift, and by the octave that the highest bit of a normal number counts too many.
    pub(super) roots: *const i32,
    pub(super) offset: u32,
    pub(super) units: *mut f32,
    pub(super) units_end: *const f32,
    pub(super) parts: [PartArgs; 4],
    pub(super) lists: ListArgs,
    /// Null without weight variances.
    pub(super) weight_vars: Option<&'w mut WeightVarArgs>,
    pub(super) borrowed: PhantomData<&'w mut [f32]>,
}

/// Bytes of the table of pre-activations at the bottom of the frame: for each part the mantissas of four
/// variances and four means.
pub(super) const RESULTS: usize = 4 * 32;
/// Where the frame holds a copy of the part whose sums are computed.
pub(super) const NOW: usize = RESULTS;
/// Where the frame holds a place in the table.
pub(super) const OUT: usize = NOW + size_of::<PartArgs>();
/// Where the frame holds the next part.
pub(super) const PART: usize = OUT + 4;
/// Bytes of the frame.
pub(super) const FRAME: usize = PART + 4;
/// Bytes pushed between the frame and the arguments: r4 to r12 and lr. r12 need not be kept; it makes the
/// push a multiple of eight.
const PUSHED: usize = 40;

const _: () = assert!(FRAME.is_multiple_of(8) && PUSHED.is_multiple_of(8), "sp stays aligned");

/// Where the assembler finds the argument at `offset` in [`GruArgs`], counted from sp below its frame.
pub(super) const fn argument_offset(offset: usize) -> usize {
    FRAME + PUSHED + offset
}

/// Passes lines of assembler to the macro `$asm`, with the frame's places and the offsets of arguments as
/// operands: those that every core reads, and `$also`.
macro_rules! gru_asm {
    ($asm:ident, $($line:expr),+ $(,)?; $($also:tt)*) => {
        $asm!(
            $($line),+;
            frame = const FRAME,
            results = const RESULTS,
            out = const OUT,
            part = const PART,
            now = const NOW,
            means = const NOW + offset_of!(PartArgs, means),
            mean_entry = const NOW + offset_of!(PartArgs, mean_blocks),
            vars = const NOW + offset_of!(PartArgs, vars),
            var_entry = const NOW + offset_of!(PartArgs, var_blocks),
            weights = const argument_offset(offset_of!(GruArgs<'_>, weights)),
            squares = const argument_offset(offset_of!(GruArgs<'_>, squares)),
            shift = const argument_offset(offset_of!(GruArgs<'_>, shift)),
            roots = const argument_offset(offset_of!(GruArgs<'_>, roots)),
            units = const argument_offset(offset_of!(GruArgs<'_>, units)),
            units_end = const argument_offset(offset_of!(GruArgs<'_>, units_end)),
            parts = const argument_offset(offset_of!(GruArgs<'_>, parts)),
            all_parts = const 4 * size_of::<PartArgs>(),
            part_size = const size_of::<PartArgs>(),
            part_mean_entry = const offset_of!(PartArgs, mean_blocks),
            part_var_entry = const offset_of!(PartArgs, var_blocks),
            list = const argument_offset(offset_of!(GruArgs<'_>, lists) + offset_of!(ListArgs, list)),
            list_end = const argument_offset(offset_of!(GruArgs<'_>, lists) + offset_of!(ListArgs, list_end)),
            ends = const argument_offset(offset_of!(GruArgs<'_>, lists) + offset_of!(ListArgs, ends)),
            weight_vars = const argument_offset(offset_of!(GruArgs<'_>, weight_vars)),
            lists = const LISTS as usize,
            weight_variances = const WEIGHT_VARS as usize,
            weight_var_terms = sym $crate::quantized::kernels::core_kernels::weight_var_terms::<LISTS>,
            $($also)*
        )
    };
}
pub(super) use gru_asm;

/// Adds what weight variances contribute to the mantissas of four rows of the current part.
///
/// | registers | |
/// |---|---|
/// | in | r4 to r7: mantissas of Σ ṽ (μ² + τ); the stack |
/// | out | r4 to r7: mantissas of all terms |
/// | clobbered | r0 to r3, r8 to r12, lr |
macro_rules! part_weight_vars {
    () => {
        $crate::quantized::kernels::weight_var_args::call_weight_var_terms!(
            "{weight_vars}",
            "{vars}",
            "({vars} + 4)"
        )
    };
}
pub(super) use part_weight_vars;

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(PartArgs, vars_end) == offset_of!(PartArgs, vars) + 4, "loaded as a pair");
};

impl<'w> GruArgs<'w> {
    /// `None` if there are fewer than `fours` times four units, none at all, no squares, several lists of
    /// pairs for a group, or bytes whose address is no multiple of four.
    #[inline(always)]
    fn new<A: Architecture>(
        map: &QuantizedView<'w, A>,
        input: &QuantizedInput<'w>,
        fours: usize,
        units: &'w mut [f32],
        weight_vars: Option<&'w mut WeightVarArgs>,
    ) -> Option<Self> {
        let [weights, squares] = map.streams();
        let (weights, squares) = (words(weights)?, words(squares)?);
        let lists = ListArgs::new(map)?;
        let padded = map.padded;
        let stored = fours * GruPart::ALL.len() <= padded.groups && padded.split && map.has_squares();
        let vars = WeightVarArgs::words(weight_vars.as_deref(), padded.cols / 2);
        let filled = input.means.len() == padded.cols / 2 && input.vars.len() == vars;
        let blocks = padded.inputs >= 8 && padded.cols >= padded.inputs + 8;
        let args = || {
            let part = |part: GruPart| {
                let columns = part.columns();
                let start = if columns == Columns::State { padded.inputs } else { 0 };
                let blocks = if map.lists().is_empty() { padded.width(columns) / 8 } else { 0 };
                PartArgs::new(&input.columns_from(start), blocks)
            };
            let units = units.as_mut_ptr_range();
            GruArgs {
                weights: weights.as_ptr(),
                squares: squares.as_ptr(),
                shift: input.shift,
                cells: CELLS.as_ptr().cast(),
                roots: ROOTS
                    .as_ptr()
                    .wrapping_add(ROOT_PARTS * input.shift as usize)
                    .wrapping_sub(ROOT_PARTS),
                offset: ROOT_OFFSET << input.shift,
                units: units.start,
                units_end: units.end,
                parts: GruPart::ALL.map(part),
                lists,
                weight_vars,
                borrowed: PhantomData,
            }
        };
        (stored && filled && blocks && fours > 0 && input.shift <= LARGEST_SHIFT).then(args)
    }
}

impl PartArgs {
    /// The first `blocks` blocks of columns.
    #[inline(always)]
    fn new(input: &QuantizedInput<'_>, blocks: usize) -> Self {
        let (means, vars) = (input.means.as_ptr(), input.vars.as_ptr());
        PartArgs {
            means,
            means_end: means.wrapping_add(4 * blocks),
            mean_blocks: blocks,
            vars,
            vars_end: vars.wrapping_add(4 * blocks),
            var_blocks: blocks,
        }
    }
}

/// Replaces units of a GRU layer by their next state, as many as the kernel can, and returns their number: a
/// multiple of four.
#[inline(always)]
pub(in crate::quantized) fn gru_units<A: Architecture>(map: &QuantizedView<'_, A>, input: &QuantizedInput<'_>, h: &mut [f32]) -> usize {
    let units = h.len() / 4 * 4;
    let h = h.get_mut(..units).unwrap_or_default();
    let mut weight_vars = WeightVarArgs::new(map, input);
    match GruArgs::new(map, input, units / 4, h, weight_vars.as_mut()) {
        // SAFETY: the pointers borrow from `map`, `input` and `h`. The streams hold four groups of rows for
        // every four units, each of as many blocks as its part has in `input`, followed by its biases and
        // scales; the shift is within the table of roots. Contents: see the safety section of `gru_layer`;
        // the checks that it names were made while loading.
        Some(args) => unsafe { layer_kernel!(A, gru_layer)(args) },
        None => return 0,
    }
    units
}
