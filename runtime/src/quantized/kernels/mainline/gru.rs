//! A whole GRU layer in assembler: one turn for every four units, as in `dsp::gru`, without DSP instructions.

use core::mem::offset_of;

use super::super::gru_args::{FRAME, GruArgs, NOW, OUT, PART, PartArgs, RESULTS, argument_offset, gru_asm, part_weight_vars};
use super::super::list_args::ListArgs;

/// Pre-activations of the four units of one part, from the copy of its [`PartArgs`] on the stack: mantissas
/// of the variances, then means, to the table.
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
            "ldrd    r1, r2, [sp, #{means}]\n",
            no_sums!(),
            "ldr     pc, [sp, #{mean_entry}]\n",
            rows!("2", "5", "2b", "21"),
            "ldmia   r0!, {{r1-r3, r8-r12}}  @ biases and scales\n",
            "smull   lr, r4, r4, r9\n",
            "smull   lr, r5, r5, r10\n",
            "smull   lr, r6, r6, r11\n",
            "smull   lr, r7, r7, r12\n",
            "add     r4, r4, r1\n",
            "add     r5, r5, r2\n",
            "add     r6, r6, r3\n",
            "add     r7, r7, r8\n",
            "str     r0, [sp, #{weights}]\n",
            "ldr     r1, [sp, #{out}]\n",
            "add     r2, r1, #16\n",
            "stm     r2, {{r4-r7}}\n",
            "ldr     r0, [sp, #{squares}]\n",
            "ldrd    r1, r2, [sp, #{vars}]\n",
            no_sums!(),
            "ldr     pc, [sp, #{var_entry}]\n",
            rows!("3", "6", "3b", "31"),
            "ldmia   r0!, {{r1-r3, r8}}      @ scales\n",
            "smull   lr, r4, r4, r1\n",
            "smull   lr, r5, r5, r2\n",
            "smull   lr, r6, r6, r3\n",
            "smull   lr, r7, r7, r8\n",
            "str     r0, [sp, #{squares}]\n",
            part_weight_vars!(),
            "ldr     r1, [sp, #{out}]\n",
            "stm     r1, {{r4-r7}}\n",
            "add     r1, r1, #32\n",
            "str     r1, [sp, #{out}]\n",
        )
    };
}

/// a_x + σ(r) ⊙ a_h (`cells::gru::candidate`): mean in r0, variance without a shift in r10.
///
/// | registers | |
/// |---|---|
/// | in | r0, r1: moments of the reset gate as tanh; r6: the unit's column of the table; the stack: shift |
/// | out | r0, r10 |
/// | clobbered | r1, r2, r4, r5, r7 to r9 |
macro_rules! candidate {
    () => {
        concat!(
            sigmoid_mean!(),
            "ldr     r2, [sp, #{shift}]\n",
            "ldr     r7, [r6, #112]\n",
            "ldr     r8, [r6, #96]\n",
            "ssat    r7, #19, r7\n",
            "lsr     r8, r8, r2\n",
            "usat    r8, #24, r8\n",
            "asr     r4, r7, #4\n",
            "mla     r4, r4, r4, r8\n",
            "usat    r1, #15, r1, asr #5\n",
            "lsl     r1, r1, #16\n",
            "smull   r10, r4, r4, r1\n",
            "lsl     r7, r7, #1\n",
            "smull   r10, r7, r7, r9\n",
            "smull   r10, r8, r8, r9\n",
            "smull   r10, r8, r8, r9\n",
            "ldr     r5, [r6, #80]\n",
            "ldr     r10, [r6, #64]\n",
            "add     r0, r5, r7\n",
            "lsr     r10, r10, r2\n",
            "usat    r10, #24, r10\n",
            "add     r10, r10, r8, lsl #2\n",
            "add     r10, r10, r4, asr #1\n",
        )
    };
}

/// (1 − z) ⊙ n + z ⊙ h (`cells::gru::interpolate`), written over the unit's word.
///
/// | registers | |
/// |---|---|
/// | in | r0, r1: moments of the update gate as tanh; r5: mean of n, 15 bits; r4: its variance |
/// | out | r11: pointer to the next unit's word, also on the stack |
/// | clobbered | r0 to r2, r4, r5, r7 to r10 |
macro_rules! interpolate {
    () => {
        concat!(
            sigmoid_mean!(),
            "ldr     r11, [sp, #{units}]\n",
            "ldr     r7, [r11]\n",
            "sxth    r8, r7\n",
            "sub     r8, r8, r5              @ h - n\n",
            "mul     r2, r8, r0\n",
            "add     r5, r5, r2, asr #15\n",
            "lsr     r7, r7, #16\n",
            "lsr     r9, r1, #7              @ variance of the gate, 15 bits\n",
            "mul     r10, r0, r0\n",
            "add     r10, r9, r10, asr #15\n",
            "usat    r10, #15, r10\n",
            "mul     r7, r7, r10\n",
            "rsb     r0, r0, #32768\n",
            "mul     r0, r0, r0\n",
            "add     r0, r9, r0, asr #15\n",
            "usat    r0, #15, r0\n",
            "lsl     r0, r0, #16\n",
            "smull   r2, r4, r4, r0\n",
            "add     r4, r4, r7, lsr #12\n",
            "mul     r8, r8, r8\n",
            // The upper 15 bits, in the upper half of a word.
            "lsr     r8, r8, #17\n",
            "lsl     r8, r8, #16\n",
            "smull   r2, r1, r1, r8\n",
            "add     r4, r4, r1\n",
            "usat    r4, #16, r4, asr #3\n",
            "bfi     r5, r4, #16, #16\n",
            "str     r5, [r11], #4\n",
            "str     r11, [sp, #{units}]\n",
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
        mainline_asm,
        // The arguments end up in one piece: the first four words arrive in registers, the others on the
        // stack.
        "push    {{r0-r3}}",
        "push    {{r4-r12, lr}}",
        "sub     sp, #{frame}",
        // Numbers of blocks become the addresses at which their sums are entered, in Thumb state.
        "adr.w   r1, 2f",
        "adr.w   r2, 5f",
        "adr.w   r3, 3f",
        "adr.w   r4, 6f",
        "add     r0, sp, #{parts}",
        "add     r6, r0, #{all_parts}",
        "ldr     r5, [r0, #{part_mean_entry}]",
        ".if     {lists}",
        "cmp     r5, #0",
        "beq.w   71f",
        ".endif",
        "8:",
        "ldr     r5, [r0, #{part_mean_entry}]",
        "lsrs    r5, r5, #1              @ carry: an odd number",
        "ite     cs",
        "orrcs   r5, r2, #1",
        "orrcc   r5, r1, #1",
        "str     r5, [r0, #{part_mean_entry}]",
        "ldr     r5, [r0, #{part_var_entry}]",
        "lsrs    r5, r5, #1",
        "ite     cs",
        "orrcs   r5, r4, #1",
        "orrcc   r5, r3, #1",
        "str     r5, [r0, #{part_var_entry}]",
        "add     r0, r0, #{part_size}",
        "cmp     r0, r6",
        "bne     8b",
        "4:",
        "mov     r1, sp",
        "str     r1, [sp, #{out}]",
        "add     r0, sp, #{parts}",
        "91:",
        "ldmia   r0!, {{r4-r9}}",
        "str     r0, [sp, #{part}]",
        "add     r1, sp, #{now}",
        "stm     r1, {{r4-r9}}",
        part!(),
        "ldr     r0, [sp, #{part}]",
        "add     r2, sp, #{results}",
        "cmp     r1, r2",
        "bne.w   91b",
        "ldr     r3, [sp, #{cells}]",
        "ldrd    r12, lr, [sp, #{roots}]",
        "mov     r6, sp",
        "7:",
        tanh_of_row!("{shift}"),
        candidate!(),
        "str     r6, [sp, #{out}]",
        "mov     r6, r10",
        tanh_unshifted!("{shift}"),
        "ldr     r6, [sp, #{out}]",
        // The reset gate's place in the table is free.
        "str     r2, [r6, #16]",
        "str     r4, [r6]",
        "add     r6, r6, #32",
        tanh_of_row!("{shift}"),
        "sub     r6, r6, #32",
        "ldr     r5, [r6, #16]",
        "ldr     r4, [r6], #4",
        "asr     r5, r5, #13",
        interpolate!(),
        "add     r7, sp, #16",
        "cmp     r6, r7",
        "bne.w   7b",
        "ldr     r5, [sp, #{units_end}]",
        "cmp     r11, r5",
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
        "cmp     r0, r6",
        "bne     77b",
        "b.w     4b",
        listed_entries!("0"),
        ".endif";
        cells = const argument_offset(offset_of!(GruArgs<'_>, cells)),
    )
}
