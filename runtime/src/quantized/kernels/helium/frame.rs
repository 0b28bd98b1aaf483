//! What a layer keeps on the stack, below its arguments and the registers it saves.

use core::mem::offset_of;

use crate::quantized::kernels::layer_args::LayerArgs;

/// Bytes below the saved registers.
pub(super) const LOCALS: usize = TERM_SHIFT + 4;
/// Bytes between sp and what `layer_args::frame_offset` counts from: also d8 to d15.
pub(super) const BELOW: usize = LOCALS + 64;

/// Sums of four groups of rows as `blocks::group_sums` returns them: of means, then of variances.
pub(super) const SUMS: usize = 0;
/// Bytes from the sums of means to those of variances.
pub(super) const TO_VARS: usize = 64;
/// Addresses of the sums of each group.
pub(super) const SUMS_AT: usize = SUMS + 2 * TO_VARS;
/// Addresses of the biases of each group, behind which are its scales of means.
pub(super) const BIASES_AT: usize = SUMS_AT + 16;
/// Addresses of the scales of variances of each group.
pub(super) const SCALES_AT: usize = BIASES_AT + 16;
/// Two vectors of a layer's own.
pub(super) const FIRST: usize = SCALES_AT + 16;
pub(super) const SECOND: usize = FIRST + 16;
/// Bytes from the blocks of a group to those of the next: of weights, then of squares.
pub(super) const STRIDES: usize = SECOND + 16;
/// What `blocks::group_sums` takes in r9.
pub(super) const ENTRY: usize = STRIDES + 8;
/// The function that turns sums into units, and where it returns to.
pub(super) const FINISH: usize = ENTRY + 4;
pub(super) const RETURN: usize = FINISH + 4;
/// Groups that are left, those of this turn included.
pub(super) const LEFT: usize = RETURN + 4;
/// The least number of groups with which a turn is a whole one: four, or any if pairs are listed.
pub(super) const WHOLE: usize = LEFT + 4;
/// Means and their end, variances and their end.
pub(super) const INPUT: usize = WHOLE + 4;
/// What `moments::tanh_four` reads, in its order.
pub(super) const TABLES: usize = INPUT + 16;
/// In the last turn, biases and scales of groups that are not there.
pub(super) const ZEROS: usize = TABLES + 32;
/// With weight variances, the terms that are due to them: of row 0 of every group, of row 1, and so on.
pub(super) const TERMS: usize = ZEROS + 32;
/// With weight variances, the shift of the other term, negated.
pub(super) const TERM_SHIFT: usize = TERMS + 64;

const _: () = assert!(LOCALS.is_multiple_of(8), "sp stays aligned");

/// [`mve_asm`] with the offsets of this frame from sp as operands, those of arguments that are named,
/// functions, other offsets of `layer_args`, and numbers.
macro_rules! frame_asm {
    ($($line:expr),+ $(,)?; $($argument:ident),*; $($symbol:ident = $function:path),*) => {
        frame_asm!($($line),+; $($argument),*; $($symbol = $function),*;)
    };
    ($($line:expr),+ $(,)?; $($argument:ident),*; $($symbol:ident = $function:path),*; $($other:ident = $offset:path),*) => {
        frame_asm!($($line),+; $($argument),*; $($symbol = $function),*; $($other = $offset),*;)
    };
    ($($line:expr),+ $(,)?; $($argument:ident),*; $($symbol:ident = $function:path),*; $($other:ident = $offset:path),*;
        $($number:ident = $value:expr),*) => {
        mve_asm!(
            $($line,)+
            // An operand that no line needs is an error.
            "@ {locals} {sums} {to_vars} {sums_at} {biases_at} {scales_at} {first} {second} {strides} {entry}",
            "@ {finish} {return_to} {left} {input} {tables} {zeros} {terms} {term_shift}";
            $($argument = const $crate::quantized::kernels::helium::frame::BELOW
                + $crate::quantized::kernels::layer_args::frame_offset(core::mem::offset_of!(
                    $crate::quantized::kernels::layer_args::LayerArgs<'_>, $argument
                )),)*
            $($symbol = sym $function,)*
            $($other = const $crate::quantized::kernels::helium::frame::BELOW + $offset,)*
            $($number = const $value,)*
            locals = const $crate::quantized::kernels::helium::frame::LOCALS,
            sums = const $crate::quantized::kernels::helium::frame::SUMS,
            to_vars = const $crate::quantized::kernels::helium::frame::TO_VARS,
            sums_at = const $crate::quantized::kernels::helium::frame::SUMS_AT,
            biases_at = const $crate::quantized::kernels::helium::frame::BIASES_AT,
            scales_at = const $crate::quantized::kernels::helium::frame::SCALES_AT,
            first = const $crate::quantized::kernels::helium::frame::FIRST,
            second = const $crate::quantized::kernels::helium::frame::SECOND,
            strides = const $crate::quantized::kernels::helium::frame::STRIDES,
            entry = const $crate::quantized::kernels::helium::frame::ENTRY,
            finish = const $crate::quantized::kernels::helium::frame::FINISH,
            return_to = const $crate::quantized::kernels::helium::frame::RETURN,
            left = const $crate::quantized::kernels::helium::frame::LEFT,
            input = const $crate::quantized::kernels::helium::frame::INPUT,
            tables = const $crate::quantized::kernels::helium::frame::TABLES,
            zeros = const $crate::quantized::kernels::helium::frame::ZEROS,
            terms = const $crate::quantized::kernels::helium::frame::TERMS,
            term_shift = const $crate::quantized::kernels::helium::frame::TERM_SHIFT,
        )
    };
}

/// Mean and mantissa of the pre-activation of row `$row` in every group, `upper` or `lower` of its pair of
/// rows.
///
/// | registers | |
/// |---|---|
/// | in | the frame; r1: zero without weight variances |
/// | out | q0: means; q1: mantissas |
/// | clobbered | r0, q2 to q7 |
macro_rules! row {
    ($row:literal, $sum:ident) => {
        concat!(
            "vldrw.u32 q7, [sp, #{sums_at}]\n",
            "vldrw.u32 q6, [sp, #{biases_at}]\n",
            "vldrw.u32 q5, [sp, #{scales_at}]\n",
            $sum!("q0", "q2", $row, "0"),
            "vldrw.u32 q2, [q6, #(16 + 4 * ", $row, ")]\n",
            $sum!("q1", "q3", $row, "{to_vars}"),
            "vldrw.u32 q3, [q6, #(4 * ", $row, ")]\n",
            "vldrw.u32 q4, [q5, #(4 * ", $row, ")]\n",
            "vmulh.s32 q0, q0, q2\n",
            "vmulh.s32 q1, q1, q4\n",
            "vadd.i32 q0, q0, q3\n",
            "cbz     r1, 1f\n",
            "ldr     r0, [sp, #{term_shift}]\n",
            "vldrw.u32 q2, [sp, #({terms} + 16 * ", $row, ")]\n",
            "vshl.u32 q1, r0\n",
            "vadd.i32 q1, q1, q2\n",
            "1:\n",
        )
    };
}

/// Mean of the pre-activation of row `$row` in every group; as [`row`].
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | q0: means |
/// | clobbered | q1 to q3, q6, q7 |
macro_rules! mean_row {
    ($row:literal, $sum:ident) => {
        concat!(
            "vldrw.u32 q7, [sp, #{sums_at}]\n",
            "vldrw.u32 q6, [sp, #{biases_at}]\n",
            $sum!("q0", "q1", $row, "0"),
            "vldrw.u32 q2, [q6, #(16 + 4 * ", $row, ")]\n",
            "vldrw.u32 q3, [q6, #(4 * ", $row, ")]\n",
            "vmulh.s32 q0, q0, q2\n",
            "vadd.i32 q0, q0, q3\n",
        )
    };
}

/// 256 × Σ w x of row A of a pair, from 256·S_A + S_B and S_B.
macro_rules! upper {
    ($sum:literal, $other:literal, $row:literal, $from:literal) => {
        concat!(
            "vldrw.u32 ", $sum, ", [q7, #(", $from, " + 4 * ", $row, ")]\n",
            "vldrw.u32 ", $other, ", [q7, #(", $from, " + 4 * ", $row, " + 4)]\n",
            "vsub.i32 ", $sum, ", ", $sum, ", ", $other, "\n",
        )
    };
}

/// 256 × Σ w x of row B of a pair, from S_B.
macro_rules! lower {
    ($sum:literal, $other:literal, $row:literal, $from:literal) => {
        concat!(
            "vldrw.u32 ", $sum, ", [q7, #(", $from, " + 4 * ", $row, ")]\n",
            "vshl.i32 ", $sum, ", ", $sum, ", #8\n",
        )
    };
}

/// Addresses of the units of every group of an Elman layer.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | the frame: the addresses, and where the units of the next turn are |
/// | clobbered | r0, r9, q0 |
macro_rules! unit_addresses {
    () => {
        concat!(
            "ldr     r9, [sp, #{units}]\n",
            "movs    r0, #0\n",
            "vidup.u32 q0, r0, #8\n",
            "vshl.i32 q0, q0, #1\n",
            "vadd.i32 q0, q0, r9\n",
            "vstrw.32 q0, [sp, #{first}]\n",
            "adds    r9, #64\n",
            "str     r9, [sp, #{units}]\n",
        )
    };
}

/// Where a layer finds arguments before it has pushed any: the first four words are in registers.
pub(super) const BLOCKS_AT_ENTRY: usize = offset_of!(LayerArgs<'_>, mean_blocks) - 16;
pub(super) const WEIGHT_VARS_AT_ENTRY: usize = offset_of!(LayerArgs<'_>, weight_vars) - 16;

/// Goes to `dsp` with maps that are pruned and have weight variances, whose lists no vectors walk.
///
/// | registers | |
/// |---|---|
/// | in | as a layer |
/// | out | the same |
/// | clobbered | r12, flags |
macro_rules! falls_back {
    () => {
        concat!(
            ".if     {falls_back}\n",
            "ldr     r12, [sp, #{blocks_at_entry}]\n",
            "cmp     r12, #0\n",
            "bne     9f\n",
            "ldr     r12, [sp, #{weight_vars_at_entry}]\n",
            "cmp     r12, #0\n",
            "beq     9f\n",
            "b.w     {dsp}\n",
            "9:\n",
            ".endif\n",
        )
    };
}

/// Runs [`layer`](super::turns::layer) with the function `$finish`, and `$bytes` as log₂ of a group's bytes
/// of units.
macro_rules! enter {
    ($bytes:literal) => {
        concat!(
            "push    {{r0-r12, lr}}\n",
            "movw    r4, #:lower16:{finish}\n",
            "movt    r4, #:upper16:{finish}\n",
            "movs    r5, #", $bytes, "\n",
            "b.w     {layer}\n",
        )
    };
}
