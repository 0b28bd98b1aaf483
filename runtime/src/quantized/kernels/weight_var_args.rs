//! Weight variances in kernels of whole layers: their arguments, and what the kernels of all cores share.
//!
//! A kernel calls `weight_var_terms` of its core after the sums over variances, if its map has weight
//! variances. Of a map without any it costs a load and a branch for each four rows.

use core::ptr::NonNull;

use super::super::format::QuantizedView;
use super::input::{QuantizedInput, TermShifts};
use super::list_args::ListArgs;
use super::words::words;
use crate::spec::Architecture;

/// What `weight_var_terms` reads, and where the next rows are.
#[repr(C)]
pub(super) struct WeightVarArgs {
    /// For each group its blocks, scales and variances of biases.
    pub(super) stream: NonNull<u32>,
    /// Bytes from a variance to the squared mean of its column.
    pub(super) to_squares: usize,
    /// Where the lists of the next rows are: sums over weight variances walk them for themselves.
    pub(super) lists: ListArgs,
    pub(super) terms: TermShifts,
}

// Loaded as a pair.
const _: () = assert!(core::mem::offset_of!(WeightVarArgs, to_squares) == 4);

impl WeightVarArgs {
    /// `None` without weight variances, if the address of the stream is no multiple of four, or if a layer's
    /// kernel cannot walk the lists either.
    #[inline(always)]
    pub(super) fn new<A: Architecture>(map: &QuantizedView<'_, A>, input: &QuantizedInput<'_>) -> Option<Self> {
        let stream = if input.terms.present { words(map.weight_vars().stream())? } else { return None };
        Some(WeightVarArgs {
            stream: NonNull::from(stream).cast(),
            to_squares: 2 * map.padded.cols,
            lists: ListArgs::new(map)?,
            terms: input.terms,
        })
    }

    /// Words of variances, and of squared means if there are weight variances, of an input of `pairs` pairs
    /// of columns.
    #[inline(always)]
    pub(super) fn words(this: Option<&Self>, pairs: usize) -> usize {
        if this.is_some() { 2 * pairs } else { pairs }
    }
}

/// Calls `weight_var_terms` if the map has weight variances: `$args` is the offset of the pointer to
/// [`WeightVarArgs`] from sp, `$vars` and `$end` are those of the activations whose squared means follow.
///
/// | registers | |
/// |---|---|
/// | in | r4 to r7: mantissas of Σ ṽ (μ² + τ) |
/// | out | r4 to r7: mantissas of all terms |
/// | clobbered | r0 to r3, r8 to r12, lr |
macro_rules! call_weight_var_terms {
    ($args:literal, $vars:literal, $end:literal) => {
        concat!(
            ".if     {weight_variances}\n",
            "ldr     r1, [sp, #", $args, "]\n",
            "cbz     r1, 90f\n",
            "ldr     r2, [sp, #", $vars, "]\n",
            "ldr     r3, [sp, #", $end, "]\n",
            "bl      {weight_var_terms}\n",
            "90:\n",
            ".endif\n",
        )
    };
}
pub(super) use call_weight_var_terms;

/// Brings Σ m̃² τ, τ_b and Σ ṽ (μ² + τ) to their common exponent, adds them and returns.
///
/// | registers | |
/// |---|---|
/// | in | r1: [`WeightVarArgs`]; r4 to r7: Σ m̃² τ; r10 to r12, lr: τ_b; the stack: r1, Σ ṽ (μ² + τ), return address |
/// | out | r4 to r7 |
/// | clobbered | r1, r2, r8 to r12, lr |
macro_rules! add_terms {
    () => {
        concat!(
            "ldrb    r2, [r1, #{shift_squares}]\n",
            "lsr     r4, r4, r2\n",
            "lsr     r5, r5, r2\n",
            "lsr     r6, r6, r2\n",
            "lsr     r7, r7, r2\n",
            "ldrb    r2, [r1, #{shift_biases}]\n",
            "lsr     r10, r10, r2\n",
            "lsr     r11, r11, r2\n",
            "lsr     r12, r12, r2\n",
            "lsr     lr, lr, r2\n",
            "add     r4, r4, r10\n",
            "add     r5, r5, r11\n",
            "add     r6, r6, r12\n",
            "add     r7, r7, lr\n",
            "ldrb    r2, [r1, #{shift_vars}]\n",
            "ldm     sp, {{r1, r8-r11}}\n",
            "lsr     r8, r8, r2\n",
            "lsr     r9, r9, r2\n",
            "lsr     r10, r10, r2\n",
            "lsr     r11, r11, r2\n",
            "add     r4, r4, r8\n",
            "add     r5, r5, r9\n",
            "add     r6, r6, r10\n",
            "add     r7, r7, r11\n",
            "pop     {{r1, r8-r11, pc}}\n",
        )
    };
}
pub(super) use add_terms;

/// Passes lines of assembler to the macro `$asm`, with the offsets of lists and shifts in [`WeightVarArgs`]
/// as operands, and whether there may be lists (`LISTS`).
macro_rules! weight_var_asm {
    ($asm:ident, $($line:expr),+ $(,)?) => {
        $asm!(
            $($line),+;
            lists = const LISTS as usize,
            list = const core::mem::offset_of!(WeightVarArgs, lists.list),
            ends = const core::mem::offset_of!(WeightVarArgs, lists.ends),
            shift_vars = const core::mem::offset_of!(WeightVarArgs, terms.vars),
            shift_squares = const core::mem::offset_of!(WeightVarArgs, terms.squares),
            shift_biases = const core::mem::offset_of!(WeightVarArgs, terms.biases),
        )
    };
}
pub(super) use weight_var_asm;
