//! GRU layers: four units a turn.
//!
//! A turn has two halves. First the pre-activations of the four parts (reset gate, update gate, candidate
//! from the input, candidate from the state; four units each) go to a table on the stack. Then vectors take
//! the units through `cells::gru`.

use core::mem::offset_of;

use super::super::dsp;
use super::super::gru_args::{GruArgs, PartArgs};
use super::blocks::{group_sums, group_sums_entry, one_group_sums};
use super::moments::tanh_four;

/// For each part a vector of means and one of mantissas.
const RESULTS: usize = 0;
/// What [`tanh_four`] reads, in its order.
const TABLES: usize = RESULTS + 4 * 32;
/// Mean and variance of tanh of the candidate.
const CANDIDATE: usize = TABLES + 32;
/// What [`group_sums`] takes in r9.
const ENTRY: usize = CANDIDATE + 32;
/// Bytes from the blocks of the reset gate to those of the update gate: of weights and of squares.
const STRIDES: usize = ENTRY + 4;
/// Bytes of the frame.
const FRAME: usize = STRIDES + 12;
/// Bytes between the frame and the arguments: d8 to d15, r4 to r12 and lr.
const PUSHED: usize = 64 + 40;

const _: () = assert!(FRAME.is_multiple_of(8) && PUSHED.is_multiple_of(8), "sp stays aligned");

/// Offset from sp of an argument.
const fn argument(offset: usize) -> usize {
    FRAME + PUSHED + offset
}

/// Offset from sp of the means of the part `index`, behind which is their end.
const fn means(index: usize) -> usize {
    argument(offset_of!(GruArgs<'_>, parts)) + index * size_of::<PartArgs>() + offset_of!(PartArgs, means)
}

/// Offset from sp of the variances of the part `index`, behind which is their end.
const fn vars(index: usize) -> usize {
    argument(offset_of!(GruArgs<'_>, parts)) + index * size_of::<PartArgs>() + offset_of!(PartArgs, vars)
}

// Loaded in pairs.
const _: () = {
    assert!(offset_of!(PartArgs, means_end) == offset_of!(PartArgs, means) + 4);
    assert!(offset_of!(PartArgs, vars_end) == offset_of!(PartArgs, vars) + 4);
};

/// Sums of four rows from those of their pairs, in the lanes of q0.
///
/// | registers | |
/// |---|---|
/// | in | `$ab`, `$cd`: 256·S_A + S_B of either pair of rows; `$b`, `$d`: S_B |
/// | out | q0: 256 times each sum |
/// | clobbered | those named, flags |
macro_rules! row_sums {
    ($ab:literal, $b:literal, $cd:literal, $d:literal) => {
        concat!(
            "sub     ", $ab, ", ", $ab, ", ", $b, "\n",
            "lsl     ", $b, ", ", $b, ", #8\n",
            "sub     ", $cd, ", ", $cd, ", ", $d, "\n",
            "lsl     ", $d, ", ", $d, ", #8\n",
            "vmov    d0, ", $ab, ", ", $b, "\n",
            "vmov    d1, ", $cd, ", ", $d, "\n",
        )
    };
}

/// Means of pre-activations from q0 and what `$at` points to, to the table.
macro_rules! scaled_means {
    ($at:literal, $part:literal) => {
        concat!(
            "vldrw.u32 q1, [", $at, ", #16]\n",
            "vldrw.u32 q2, [", $at, "]\n",
            "vmulh.s32 q0, q0, q1\n",
            "vadd.i32 q0, q0, q2\n",
            "vstrw.32 q0, [sp, #({results} + 32 * ", $part, ")]\n",
        )
    };
}

/// Mantissas of variances likewise.
macro_rules! scaled_vars {
    ($at:literal, $part:literal) => {
        concat!(
            "vldrw.u32 q1, [", $at, "]\n",
            "vmulh.s32 q0, q0, q1\n",
            "vstrw.32 q0, [sp, #({results} + 16 + 32 * ", $part, ")]\n",
        )
    };
}

/// All parts over one stream, whose groups are followed by `$between` bytes.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | the frame: pre-activations, and the stream behind the four groups |
/// | clobbered | r0 to r12, lr, q0 to q3, flags |
macro_rules! parts {
    ($stream:literal, $stride:literal, $scaled:ident, $gates:literal, $input:literal, $state:literal, $between:literal) => {
        concat!(
            "ldr     r1, [sp, #", $stream, "]\n",
            "ldr     r3, [sp, #", $stride, "]\n",
            "ldrd    r5, r7, [sp, #", $gates, "]\n",
            "ldr     r9, [sp, #{entry}]\n",
            "add     r3, r3, r1\n",
            "bl      {group_sums}\n",
            row_sums!("r0", "r2", "r4", "r6"),
            $scaled!("r1", "0"),
            row_sums!("r8", "r10", "r12", "lr"),
            $scaled!("r3", "1"),
            "add     r1, r3, #", $between, "\n",
            "ldrd    r5, r7, [sp, #", $input, "]\n",
            "bl      {one_group_sums}\n",
            row_sums!("r0", "r2", "r4", "r6"),
            $scaled!("r1", "2"),
            "add     r1, r1, #", $between, "\n",
            "ldrd    r5, r7, [sp, #", $state, "]\n",
            "bl      {one_group_sums}\n",
            row_sums!("r0", "r2", "r4", "r6"),
            $scaled!("r1", "3"),
            "add     r1, r1, #", $between, "\n",
            "str     r1, [sp, #", $stream, "]\n",
        )
    };
}

/// a_x + σ(r) ⊙ a_h (`cells::gru::candidate`), without a shift.
///
/// | registers | |
/// |---|---|
/// | in | q0, q1: moments of the reset gate as tanh; r2: shift, negated; r9: 2²⁸; the table |
/// | out | q0, q1 |
/// | clobbered | q2 to q6 |
macro_rules! candidate {
    () => {
        concat!(
            "vadd.i32 q0, q0, r9\n",
            "vldrw.u32 q2, [sp, #({results} + 96)]\n",
            "vldrw.u32 q3, [sp, #({results} + 112)]\n",
            "vshr.s32 q0, q0, #14\n",
            "vshl.i32 q0, q0, #16\n",
            "vqshl.s32 q2, q2, #13\n",
            "vshr.s32 q2, q2, #13\n",
            "vshl.u32 q3, r2\n",
            "vmov.i32 q5, #0xFFFFFF\n",
            "vmin.s32 q3, q3, q5\n",
            "vshr.s32 q4, q2, #4\n",
            "vmul.i32 q4, q4, q4\n",
            "vadd.i32 q4, q4, q3\n",
            "vmov.i32 q6, #0\n",
            "vqshrnt.s32 q6, q1, #5\n",
            "vmulh.s32 q4, q4, q6\n",
            "vshl.i32 q2, q2, #1\n",
            "vmulh.s32 q2, q2, q0\n",
            "vmulh.s32 q3, q3, q0\n",
            "vmulh.s32 q3, q3, q0\n",
            "vldrw.u32 q0, [sp, #({results} + 64)]\n",
            "vldrw.u32 q1, [sp, #({results} + 80)]\n",
            "vshr.s32 q4, q4, #1\n",
            "vshl.i32 q3, q3, #2\n",
            "vshl.u32 q1, r2\n",
            "vadd.i32 q0, q0, q2\n",
            "vmin.s32 q1, q1, q5\n",
            "vadd.i32 q3, q3, q4\n",
            "vadd.i32 q1, q1, q3\n",
        )
    };
}

/// (1 − z) ⊙ n + z ⊙ h (`cells::gru::interpolate`), written over the units' words.
///
/// | registers | |
/// |---|---|
/// | in | q0, q1: moments of the update gate as tanh; r9: 2²⁸; r11: units; the frame |
/// | out | r11: the next units |
/// | clobbered | r12, q0 to q7 |
macro_rules! interpolate {
    () => {
        concat!(
            "vadd.i32 q0, q0, r9\n",
            "vldrw.u32 q2, [r11]\n",
            "vldrw.u32 q4, [sp, #{candidate}]\n",
            "vshr.s32 q0, q0, #14            @ z\n",
            "vmovlb.s16 q3, q2\n",
            "vshr.u32 q2, q2, #16\n",
            "vshl.i32 q2, q2, #4\n",
            "vsub.i32 q3, q3, q4             @ h - n\n",
            "vmul.i32 q5, q3, q0\n",
            "vmul.i32 q3, q3, q3\n",
            "vshr.s32 q5, q5, #15\n",
            "vadd.i32 q4, q4, q5             @ mean\n",
            "vshr.u32 q3, q3, #17\n",
            "vshl.i32 q3, q3, #16\n",
            "vmulh.s32 q3, q3, q1            @ from z\n",
            "vshr.s32 q1, q1, #7             @ variance of the gate, 15 bits\n",
            // Second moments, limited to 15 bits in the upper half.
            "vmul.i32 q5, q0, q0\n",
            "vneg.s32 q0, q0\n",
            "mov     r12, #32768\n",
            "vadd.i32 q0, q0, r12\n",
            "vmul.i32 q6, q0, q0\n",
            "vshr.s32 q5, q5, #15\n",
            "vshr.s32 q6, q6, #15\n",
            "vadd.i32 q5, q5, q1\n",
            "vadd.i32 q6, q6, q1\n",
            "vmov.i32 q7, #0\n",
            "vqmovnt.s32 q7, q5\n",
            "vmulh.s32 q2, q2, q7            @ from h\n",
            "vqmovnt.s32 q7, q6\n",
            "vldrw.u32 q6, [sp, #({candidate} + 16)]\n",
            "vmulh.s32 q6, q6, q7            @ from n\n",
            "vadd.i32 q2, q2, q3\n",
            "vadd.i32 q2, q2, q6\n",
            "vqshrnt.u32 q4, q2, #3\n",
            "vstrw.32 q4, [r11], #16\n",
        )
    };
}

/// Replaces units of a GRU layer by their next state (`dsp::gru_layer`, which runs pruned maps and those with
/// weight variances).
///
/// # Safety
/// As `dsp::gru_layer`.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn gru_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: GruArgs<'_>) {
    mve_asm!(
        ".if     {falls_back}",
        "ldr     r12, [sp, #{blocks_at_entry}]",
        "cmp     r12, #0",
        "beq     9f",
        "ldr     r12, [sp, #{weight_vars_at_entry}]",
        "cmp     r12, #0",
        "bne     9f",
        ".endif",
        "push    {{r0-r3}}",
        "push    {{r4-r12, lr}}",
        "vpush   {{d8-d15}}",
        "sub     sp, sp, #{frame}",
        "ldr     r0, [sp, #{gate_blocks}]",
        "lsls    r3, r0, #5",
        "adds    r4, r3, #16",
        "adds    r3, #32",
        "strd    r3, r4, [sp, #{strides}]",
        "bl      {group_sums_entry}",
        "str     r0, [sp, #{entry}]",
        "ldrd    r0, r5, [sp, #{shift}]",
        "ldrd    r4, r3, [sp, #{roots}]",
        "rsbs    r2, r0, #0",
        "adds    r4, #128",
        "sub     r9, r4, r0, lsl #7",
        "add     r6, r5, #4",
        "add     r7, r5, #8",
        "add     r8, r5, #12",
        "add     r10, sp, #{tables}",
        "stm     r10, {{r2-r9}}",
        "4:",
        parts!("{weights}", "{strides}", scaled_means, "{gate_means}", "{input_means}", "{state_means}", "32"),
        parts!("{squares}", "({strides} + 4)", scaled_vars, "{gate_vars}", "{input_vars}", "{state_vars}", "16"),
        "add     r10, sp, #{tables}",
        "ldm     r10, {{r2-r8}}",
        "mov     r9, #0x10000000",
        "vldrw.u32 q0, [sp, #{results}]",
        "vldrw.u32 q1, [sp, #({results} + 16)]",
        "bl      {tanh_four}",
        candidate!(),
        "movs    r2, #0",
        "mov     r3, #655360             @ 5/8",
        "ldr     r4, [sp, #({tables} + 28)]",
        "bl      {tanh_four}",
        "vshr.s32 q0, q0, #13",
        "vstrw.32 q0, [sp, #{candidate}]",
        "vstrw.32 q1, [sp, #({candidate} + 16)]",
        "ldm     r10, {{r2-r4}}",
        "vldrw.u32 q0, [sp, #({results} + 32)]",
        "vldrw.u32 q1, [sp, #({results} + 48)]",
        "bl      {tanh_four}",
        "ldrd    r11, r10, [sp, #{units}]",
        interpolate!(),
        "str     r11, [sp, #{units}]",
        "cmp     r11, r10",
        "bne.w   4b",
        "add     sp, sp, #{frame}",
        "vpop    {{d8-d15}}",
        "pop     {{r4-r12, lr}}",
        "add     sp, #16",
        "bx      lr",
        ".if     {falls_back}",
        "9:",
        "b.w     {dsp}",
        ".endif";
        // The first four words are in registers.
        blocks_at_entry = const offset_of!(GruArgs<'_>, parts) + offset_of!(PartArgs, mean_blocks) - 16,
        weight_vars_at_entry = const offset_of!(GruArgs<'_>, weight_vars) - 16,
        frame = const FRAME,
        results = const RESULTS,
        tables = const TABLES,
        candidate = const CANDIDATE,
        entry = const ENTRY,
        strides = const STRIDES,
        weights = const argument(offset_of!(GruArgs<'_>, weights)),
        squares = const argument(offset_of!(GruArgs<'_>, squares)),
        shift = const argument(offset_of!(GruArgs<'_>, shift)),
        roots = const argument(offset_of!(GruArgs<'_>, roots)),
        units = const argument(offset_of!(GruArgs<'_>, units)),
        gate_blocks = const argument(offset_of!(GruArgs<'_>, parts) + offset_of!(PartArgs, mean_blocks)),
        gate_means = const means(0),
        input_means = const means(2),
        state_means = const means(3),
        gate_vars = const vars(0),
        input_vars = const vars(2),
        state_vars = const vars(3),
        group_sums = sym group_sums,
        group_sums_entry = sym group_sums_entry,
        one_group_sums = sym one_group_sums,
        tanh_four = sym tanh_four,
        falls_back = const (LISTS | WEIGHT_VARS) as usize,
        dsp = sym dsp::gru_layer::<LISTS, WEIGHT_VARS>,
    )
}
