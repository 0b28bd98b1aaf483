//! The loop of a layer: four groups of rows a turn, and what is left of them in the last.

use crate::quantized::kernels::layer_args::end_layer;

use super::blocks::{group_sums, group_sums_entry};
use super::listed::listed_four;
use super::weight_vars::weight_var_four;

/// Sums of four groups of rows over one stream: `$weights`, `$stride`, `$input` and `$sums` are offsets from
/// sp,
/// `$between` the bytes between the blocks of a group and those of the next.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | the frame: sums, and the stream behind the four groups |
/// | clobbered | r0 to r12, lr, q0 to q3, flags |
macro_rules! four_sums {
    ($weights:literal, $stride:literal, $input:literal, $sums:literal, $between:literal) => {
        concat!(
            "ldr     r1, [sp, #", $weights, "]\n",
            two_sums!($stride, $input, $sums),
            "add     r1, r3, #", $between, "\n",
            two_sums!($stride, $input, $sums, " + 32"),
            "add     r3, r3, #", $between, "\n",
            "str     r3, [sp, #", $weights, "]\n",
        )
    };
}

/// Sums of two groups of rows, from r1 on; as [`four_sums`].
macro_rules! two_sums {
    ($stride:literal, $input:literal, $($sums:literal),+) => {
        concat!(
            "ldr     r3, [sp, #", $stride, "]\n",
            "ldrd    r5, r7, [sp, #", $input, "]\n",
            "ldr     r9, [sp, #{entry}]\n",
            "add     r3, r3, r1\n",
            "bl      {group_sums}\n",
            "add     r5, sp, #(", $($sums,)+ ")\n",
            "stm     r5, {{r0, r2, r4, r6, r8, r10, r12, lr}}\n",
        )
    };
}

/// As [`four_sums`] for the groups that are left, fewer than four, one after another.
macro_rules! last_sums {
    ($weights:literal, $input:literal, $sums:literal, $between:literal) => {
        concat!(
            "ldr     r1, [sp, #", $weights, "]\n",
            "add     r5, sp, #(", $sums, ")\n",
            "str     r5, [sp, #{return_to}]\n",
            "5:\n",
            "mov     r3, r1\n",
            "ldrd    r5, r7, [sp, #", $input, "]\n",
            "ldr     r9, [sp, #{entry}]\n",
            "bl      {group_sums}\n",
            "ldr     r5, [sp, #{return_to}]\n",
            "stm     r5!, {{r0, r2, r4, r6}}\n",
            "str     r5, [sp, #{return_to}]\n",
            "add     r1, r1, #", $between, "\n",
            "ldr     r0, [sp, #{left}]\n",
            "add     r2, sp, #(", $sums, ")\n",
            "add     r2, r2, r0, lsl #4\n",
            "cmp     r5, r2\n",
            "bne     5b\n",
        )
    };
}

/// Addresses of the four groups' scales, from the stream and the stride in registers.
///
/// | registers | |
/// |---|---|
/// | in | q1: 0, 1, 2, 3; r4: bytes of blocks; `$stride`; `$stream` |
/// | out | the vector at the offset `$at` from sp |
/// | clobbered | q0, `$stream` |
macro_rules! scale_addresses {
    ($stream:literal, $stride:literal, $at:literal) => {
        concat!(
            "add     ", $stream, ", ", $stream, ", r4\n",
            "vmul.i32 q0, q1, ", $stride, "\n",
            "vadd.i32 q0, q0, ", $stream, "\n",
            "vstrw.32 q0, [sp, #", $at, "]\n",
        )
    };
}

/// Replaces the addresses of groups that are not there by that of zeros, for which a lane computes the
/// moments of zero.
macro_rules! zeros_beyond {
    ($at:literal) => {
        concat!(
            "vldrw.u32 q0, [sp, #", $at, "]\n",
            "vpsel   q0, q0, q1\n",
            "vstrw.32 q0, [sp, #", $at, "]\n",
        )
    };
}

/// Advances the addresses of scales by four groups.
macro_rules! next_scales {
    ($stride:literal, $at:literal) => {
        concat!(
            "lsl     ", $stride, ", ", $stride, ", #2\n",
            "vldrw.u32 q0, [sp, #", $at, "]\n",
            "vadd.i32 q0, q0, ", $stride, "\n",
            "vstrw.32 q0, [sp, #", $at, "]\n",
        )
    };
}

/// Runs a whole layer and returns to its caller.
///
/// | registers | |
/// |---|---|
/// | in | r4: the function that turns the sums of four groups into units; r5: log₂ of a group's bytes of units |
/// | in | the stack: `LayerArgs` as `layer_args::frame_offset` says |
///
/// Without variances (`var_blocks` is zero) there are sums of means alone. The function finds sums and
/// addresses in the frame (`frame`) and may clobber every register but sp.
///
/// # Safety
/// Branched to by kernels alone, after `push {r0-r12, lr}`; see `lstm::lstm_layer`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn layer() {
    frame_asm!(
        "vpush   {{d8-d15}}",
        "sub     sp, sp, #{locals}",
        "str     r4, [sp, #{finish}]",
        "ldrd    r6, r7, [sp, #{units}]",
        "subs    r7, r7, r6",
        "lsrs    r7, r5",
        "str     r7, [sp, #{left}]",
        "ldr     r6, [sp, #{means}]",
        "ldr     r7, [sp, #{means_end}]",
        "ldr     r8, [sp, #{vars}]",
        "ldr     r9, [sp, #{vars_end}]",
        "add     r10, sp, #{input}",
        "stm     r10, {{r6-r9}}",
        "ldr     r0, [sp, #{mean_blocks}]",
        "movs    r1, #4",
        "cmp     r0, #0",
        "it      eq",
        "mvneq   r1, #0x80000000         @ no turn is whole",
        "str     r1, [sp, #({left} + 4)]",
        "lsls    r4, r0, #5",
        "bl      {group_sums_entry}",
        "str     r0, [sp, #{entry}]",
        // Tables.
        "ldrd    r0, r5, [sp, #{shift}]",
        "ldrd    r9, r3, [sp, #{roots}]",
        "rsbs    r2, r0, #0",
        "add     r1, r9, #128",
        "sub     r9, r1, r0, lsl #7",
        "add     r6, r5, #4",
        "add     r7, r5, #8",
        "add     r8, r5, #12",
        "mov     r0, r4",
        "mov     r4, r1",
        "add     r10, sp, #{tables}",
        "stm     r10, {{r2-r9}}",
        // Addresses.
        "mov     r4, r0",
        "movs    r0, #0",
        "vidup.u32 q0, r0, #8",
        "vshl.i32 q0, q0, #1",
        "add     r1, sp, #{sums}",
        "vadd.i32 q0, q0, r1",
        "vstrw.32 q0, [sp, #{sums_at}]",
        "movs    r0, #0",
        "vidup.u32 q1, r0, #1",
        "add     r2, r4, #32",
        "add     r3, r4, #16",
        "strd    r2, r3, [sp, #{strides}]",
        "ldr     r6, [sp, #{weights}]",
        "ldr     r7, [sp, #{squares}]",
        scale_addresses!("r6", "r2", "{biases_at}"),
        scale_addresses!("r7", "r3", "{scales_at}"),
        "4:",
        "ldrd    r0, r1, [sp, #{left}]",
        "cmp     r0, r1",
        "blt     8f",
        four_sums!("{weights}", "{strides}", "{input}", "{sums}", "32"),
        "ldr     r0, [sp, #{var_blocks}]",
        "cmp     r0, #0",
        "beq     6f",
        four_sums!("{squares}", "({strides} + 4)", "({input} + 8)", "{sums} + {to_vars}", "16"),
        "6:",
        "ldr     r1, [sp, #{weight_vars}]",
        "cbz     r1, 3f",
        "bl      {weight_var_four}",
        "3:",
        "ldr     r0, [sp, #{finish}]",
        "blx     r0",
        "ldrd    r0, r1, [sp, #{strides}]",
        next_scales!("r0", "{biases_at}"),
        next_scales!("r1", "{scales_at}"),
        "ldr     r0, [sp, #{left}]",
        "subs    r0, r0, #4",
        "str     r0, [sp, #{left}]",
        "bgt     4b",
        "add     sp, sp, #{locals}",
        "vpop    {{d8-d15}}",
        end_layer!(),
        "8:",
        "ldr     r1, [sp, #{mean_blocks}]",
        "cbnz    r1, 9f",
        "bl      {listed_four}",
        "ldr     r0, [sp, #{left}]",
        "b       7f",
        "9:",
        last_sums!("{weights}", "{input}", "{sums}", "32"),
        "ldr     r2, [sp, #{var_blocks}]",
        "cmp     r2, #0",
        "beq     7f",
        last_sums!("{squares}", "({input} + 8)", "{sums} + {to_vars}", "16"),
        "7:",
        "vctp.32 r0",
        "vmov.i32 q1, #0",
        "vstrw.32 q1, [sp, #{zeros}]",
        "vstrw.32 q1, [sp, #({zeros} + 16)]",
        "add     r1, sp, #{zeros}",
        "vdup.32 q1, r1",
        zeros_beyond!("{biases_at}"),
        zeros_beyond!("{scales_at}"),
        "b       6b";
        weights, means, squares, vars, means_end, mean_blocks, vars_end, var_blocks, shift, roots, units,
        weight_vars;
        group_sums = group_sums, group_sums_entry = group_sums_entry,
        listed_four = listed_four, weight_var_four = weight_var_four
    )
}
