//! A whole GRU layer in assembler: one turn for every four units.
//!
//! A turn has two halves. First the pre-activations of the four parts (reset gate, update gate, candidate
//! from the input, candidate from the state; four units each) go to a table on the stack. Then each unit
//! takes its four rows from that table. The bits are those of `cells::gru`.
//!
//! Interrupts are safe as in all kernels of this folder: nothing lives below sp, which stays a multiple of
//! eight.

use core::mem::offset_of;

use super::super::gru_args::{FRAME, GruArgs, NOW, OUT, PART, PartArgs, RESULTS, argument_offset, gru_asm, part_weight_vars};
use super::super::list_args::ListArgs;

/// Pre-activations of the four units of one part, from the copy of its [`PartArgs`] on the stack: means, then
/// mantissas of the variances, to the table.
///
/// | registers | |
/// |---|---|
/// | in | the stack: part, weights, squares, place in the table |
/// | out | r1: next place in the table |
/// | clobbered | r0 to r12, lr |
macro_rules! part {
    () => {
        concat!(
            "ldr     r0, [sp, #{weights}]\n",
            "ldr     r2, [sp, #{means}]\n",
            rows!("2", "2b", "21", "{mean_entry}", "{means_end}"),
            "ldmia   r0!, {{r1-r3, r8-r12}}  @ biases and scales\n",
            "smmla   r4, r4, r9, r1\n",
            "smmla   r5, r5, r10, r2\n",
            "smmla   r6, r6, r11, r3\n",
            "smmla   r7, r7, r12, r8\n",
            "str     r0, [sp, #{weights}]\n",
            "ldr     r1, [sp, #{out}]\n",
            "stmia   r1!, {{r4-r7}}\n",
            "str     r1, [sp, #{out}]\n",
            "ldr     r0, [sp, #{squares}]\n",
            "ldr     r2, [sp, #{vars}]\n",
            rows!("3", "3b", "31", "{var_entry}", "{vars_end}"),
            "ldmia   r0!, {{r1-r3, r8}}      @ scales\n",
            "smmul   r4, r4, r1\n",
            "smmul   r5, r5, r2\n",
            "smmul   r6, r6, r3\n",
            "smmul   r7, r7, r8\n",
            "str     r0, [sp, #{squares}]\n",
            part_weight_vars!(),
            "ldr     r1, [sp, #{out}]\n",
            "stmia   r1!, {{r4-r7}}\n",
            "str     r1, [sp, #{out}]\n",
        )
    };
}

/// a_x + σ(r) ⊙ a_h (`cells::gru::candidate`): mean in r0, variance without a shift in r6.
///
/// | registers | |
/// |---|---|
/// | in | r0, r1: moments of the reset gate as tanh; r2: shift; r6: the unit's column of the table |
/// | out | r0, r6 |
/// | clobbered | r1, r4, r5, r7 to r9 |
macro_rules! candidate {
    () => {
        concat!(
            sigmoid_mean!("r0"),
            "ldr     r4, [r6, #96]\n",
            "ldr     r5, [r6, #112]\n",
            "ssat    r4, #19, r4\n",
            "lsr     r5, r5, r2\n",
            "usat    r5, #24, r5\n",
            "asr     r9, r4, #4\n",
            "mla     r9, r9, r9, r5\n",
            "usat    r1, #15, r1, asr #5\n",
            "smulwb  r9, r9, r1\n",
            "lsl     r4, r4, #1\n",
            "smulwb  r4, r4, r0\n",
            "smulwb  r5, r5, r0\n",
            "smulwb  r5, r5, r0\n",
            "ldr     r7, [r6, #64]\n",
            "ldr     r8, [r6, #80]\n",
            "add     r0, r7, r4\n",
            "lsr     r8, r8, r2\n",
            "usat    r8, #24, r8\n",
            "add     r6, r8, r5, lsl #2\n",
            "add     r6, r6, r9, asr #1\n",
        )
    };
}

/// (1 − z) ⊙ n + z ⊙ h (`cells::gru::interpolate`), written over the unit's word.
///
/// | registers | |
/// |---|---|
/// | in | r0, r1: moments of the update gate as tanh; r5: mean of n, 15 bits; r6: its variance |
/// | out | the unit's word, the pointer to the next one on the stack |
/// | clobbered | r0, r1, r4 to r11 |
macro_rules! interpolate {
    () => {
        concat!(
            sigmoid_mean!("r0"),
            "ldr     r4, [sp, #{units}]\n",
            "ldr     r7, [r4]\n",
            "sxth    r8, r7\n",
            "sub     r8, r8, r5              @ h - n\n",
            "mul     r9, r8, r0\n",
            "add     r5, r5, r9, asr #15\n",
            "lsr     r7, r7, #16\n",
            "lsr     r9, r1, #7              @ variance of the gate, 15 bits\n",
            "mul     r10, r0, r0\n",
            "add     r10, r9, r10, asr #15\n",
            "usat    r10, #15, r10\n",
            "rsb     r11, r0, #32768\n",
            "mul     r11, r11, r11\n",
            "add     r11, r9, r11, asr #15\n",
            "usat    r11, #15, r11\n",
            "mul     r7, r7, r10\n",
            "smulwb  r6, r6, r11\n",
            "add     r6, r6, r7, lsr #12\n",
            "mul     r8, r8, r8\n",
            "lsr     r8, r8, #17\n",
            "smulwb  r1, r1, r8\n",
            "add     r6, r6, r1\n",
            "usat    r6, #16, r6, asr #3\n",
            "pkhbt   r5, r5, r6, lsl #16\n",
            "str     r5, [r4], #4\n",
            "str     r4, [sp, #{units}]\n",
        )
    };
}

/// # Safety
/// - behind the pointers must lie what [`GruArgs`] says, for as many groups of rows as there are units
///   (`GruArgs::new` compares all lengths)
/// - of listed pairs, what `tanh_layer` says
/// - the shift must be at most `LARGEST_SHIFT`, and what `roots` and `offset` were moved by
/// - mantissas must lie in 0 to 2³⁰ − 1, as for `tanh_layer`: scales of variances are not negative, and sums
///   of squares bounded (`validate::check_affine`). Both parts of a candidate's variance are saturated to
///   `CELL_LIMIT` here before they select an entry of the table of roots
/// - contents of units do not matter: whatever their bits, mean and variance are in range
///
/// The contents are those of flash: `Recheck` says whether they still are what was checked.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn gru_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: GruArgs<'_>) {
    gru_asm!(
        dsp_asm,
        // The arguments end up in one piece: the first four words arrive in registers, the others on the
        // stack.
        "push    {{r0-r3}}",
        "push    {{r4-r12, lr}}",
        "sub     sp, #{frame}",
        // Numbers of blocks become the addresses at which their sums are entered.
        "add     r0, sp, #{parts}",
        "add     r1, r0, #{all_parts}",
        "ldr     r2, [r0, #{part_mean_entry}]",
        ".if     {lists}",
        "cmp     r2, #0",
        "beq.w   71f",
        ".endif",
        "8:",
        "ldr     r2, [r0, #{part_mean_entry}]",
        entry!("r2", "2f"),
        "str     r2, [r0, #{part_mean_entry}]",
        "ldr     r2, [r0, #{part_var_entry}]",
        entry!("r2", "3f"),
        "str     r2, [r0, #{part_var_entry}]",
        "add     r0, r0, #{part_size}",
        "cmp     r0, r1",
        "bne     8b",
        "4:",
        "mov     r1, sp",
        "str     r1, [sp, #{out}]",
        "add     r0, sp, #{parts}",
        "5:",
        "ldmia   r0!, {{r4-r9}}",
        "str     r0, [sp, #{part}]",
        "add     r1, sp, #{now}",
        "stm     r1, {{r4-r9}}",
        part!(),
        "ldr     r0, [sp, #{part}]",
        "add     r2, sp, #{results}",
        "cmp     r1, r2",
        "bne.w   5b",
        "ldrd    r2, r3, [sp, #{shift}]",
        "ldrd    r12, lr, [sp, #{roots}]",
        "mov     r6, sp",
        "6:",
        "str     r6, [sp, #{out}]",
        "ldr     r0, [r6]",
        "ldr     r1, [r6, #16]",
        tanh!("r0", "r1"),
        candidate!(),
        tanh_of_cell!(),
        "asr     r5, r5, #13",
        "ldr     r4, [sp, #{out}]",
        "ldr     r0, [r4, #32]",
        "ldr     r1, [r4, #48]",
        tanh!("r0", "r1"),
        interpolate!(),
        "ldr     r6, [sp, #{out}]",
        "add     r6, r6, #4",
        "add     r7, sp, #16",
        "cmp     r6, r7",
        "bne.w   6b",
        "ldr     r5, [sp, #{units_end}]",
        "cmp     r4, r5",
        "bne.w   4b",
        "add     sp, #{frame}",
        "pop     {{r4-r12, lr}}",
        "add     sp, #16",
        "bx      lr",
        // Of maps that hold listed pairs.
        ".if     {lists}",
        "71:",
        "adr.w   r2, 72f",
        "adr.w   r3, 73f",
        "orr     r2, r2, #1",
        "orr     r3, r3, #1",
        "77:",
        "str     r2, [r0, #{part_mean_entry}]",
        "str     r3, [r0, #{part_var_entry}]",
        "add     r0, r0, #{part_size}",
        "cmp     r0, r1",
        "bne     77b",
        "b.w     4b",
        listed_entries!("0"),
        ".endif";
        means_end = const NOW + offset_of!(PartArgs, means_end),
        vars_end = const NOW + offset_of!(PartArgs, vars_end),
    )
}
