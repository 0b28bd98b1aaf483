//! Sums over blocks of four rows and eight columns: 114 instructions for 32 multiply-accumulates.

use core::arch::naked_asm;

use crate::quantized::kernels::portable::Sums;

/// Two columns of two rows, a word of weights, times two activations.
///
/// | registers | |
/// |---|---|
/// | in | `$word`: weights; r4, r5: activations; `$mixed`, `$lower`: sums so far |
/// | out | `$mixed`: 256·S_A + S_B; `$lower`: S_B |
/// | clobbered | `$word`, r7, flags |
macro_rules! rows {
    ($word:literal, $mixed:literal, $lower:literal) => {
        concat!(
            "sxth    r7, ", $word, "\n",
            "muls    r7, r4, r7\n",
            "add     ", $mixed, ", r7\n",
            "sxtb    r7, ", $word, "\n",
            "muls    r7, r4, r7\n",
            "add     ", $lower, ", r7\n",
            "asrs    ", $word, ", ", $word, ", #16\n",
            "sxtb    r7, ", $word, "\n",
            "muls    r7, r5, r7\n",
            "add     ", $lower, ", r7\n",
            "muls    ", $word, ", r5, ", $word, "\n",
            "add     ", $mixed, ", ", $word, "\n",
        )
    };
}

/// Two columns of four rows.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r8 to r11: sums so far |
/// | out | r0, r1: the next columns; r8, r10: 256·S_A + S_B of either pair of rows; r9, r11: S_B |
/// | clobbered | r3 to r7, flags |
macro_rules! columns {
    () => {
        concat!(
            "ldmia   r1!, {{r5}}\n",
            "ldmia   r0!, {{r3, r6}}\n",
            "sxth    r4, r5\n",
            "asrs    r5, r5, #16\n",
            rows!("r3", "r8", "r9"),
            rows!("r6", "r10", "r11"),
        )
    };
}

/// The same times codes without sign, `$first` and `$second` bytes behind r1, which stays.
macro_rules! var_columns {
    ($first:literal, $second:literal) => {
        concat!(
            "ldrh    r4, [r1, #", $first, "]\n",
            "ldrh    r5, [r1, #", $second, "]\n",
            "ldmia   r0!, {{r3, r6}}\n",
            rows!("r3", "r8", "r9"),
            rows!("r6", "r10", "r11"),
        )
    };
}

/// Two columns of four rows, which the next byte of a list names.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r2: list; r8 to r11: sums so far |
/// | out | r0, r2: the next pair; r8 to r11: as in [`columns`] |
/// | clobbered | r3 to r7, flags |
macro_rules! listed_columns {
    () => {
        concat!(
            "ldrb    r5, [r2]\n",
            "adds    r2, #1\n",
            "lsls    r5, r5, #2\n",
            "ldr     r5, [r1, r5]\n",
            "ldmia   r0!, {{r3, r6}}\n",
            "sxth    r4, r5\n",
            "asrs    r5, r5, #16\n",
            rows!("r3", "r8", "r9"),
            rows!("r6", "r10", "r11"),
        )
    };
}

/// Sums that begin at 0.
///
/// | registers | |
/// |---|---|
/// | in | none |
/// | out | r8 to r11: 0 |
/// | clobbered | r4, flags |
macro_rules! no_sums {
    () => {
        concat!(
            "movs    r4, #0\n",
            "mov     r8, r4\n",
            "mov     r9, r4\n",
            "mov     r10, r4\n",
            "mov     r11, r4\n",
        )
    };
}

/// The sums of four rows from those of their pairs.
///
/// | registers | |
/// |---|---|
/// | in | r8 to r11: as in [`columns`] |
/// | out | r4 to r7: 256 times each sum |
/// | clobbered | flags |
macro_rules! row_sums {
    () => {
        concat!(
            "mov     r4, r8\n",
            "mov     r5, r9\n",
            "mov     r6, r10\n",
            "mov     r7, r11\n",
            "subs    r4, r4, r5\n",
            "lsls    r5, r5, #8\n",
            "subs    r6, r6, r7\n",
            "lsls    r7, r7, #8\n",
        )
    };
}

/// Saves r3 to r11 and lr: ten words lie on the stack then. r3 only keeps sp a multiple of eight.
///
/// | registers | |
/// |---|---|
/// | in | none |
/// | out | none |
/// | clobbered | r4 to r7 |
macro_rules! save {
    () => {
        concat!(
            "push    {{r3-r7, lr}}\n",
            "mov     r4, r8\n",
            "mov     r5, r9\n",
            "mov     r6, r10\n",
            "mov     r7, r11\n",
            "push    {{r4-r7}}\n",
        )
    };
}

/// Takes r8 to r11 back from the stack, above which r3 to r7 and lr are left.
///
/// | registers | |
/// |---|---|
/// | in | none |
/// | out | r8 to r11, as they were at the call |
/// | clobbered | r4 to r7 |
macro_rules! restore_upper {
    () => {
        concat!(
            "pop     {{r4-r7}}\n",
            "mov     r8, r4\n",
            "mov     r9, r5\n",
            "mov     r10, r6\n",
            "mov     r11, r7\n",
        )
    };
}

/// 256 × Σ w x for four rows.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r2: blocks, not 0; lr: where to return |
/// | out | r0: behind the weights; r4 to r7: 256 times each sum |
/// | clobbered | r1 to r3, r8 to r11, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. Eight words must follow r0 for each block, and four r1.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sums_of_blocks() {
    naked_asm!(
        no_sums!(),
        "2:",
        columns!(),
        columns!(),
        columns!(),
        columns!(),
        "subs    r2, #1",
        "bne     2b",
        row_sums!(),
        "bx      lr",
    )
}

/// The same over variances, whose codes have no sign.
///
/// # Safety
/// As [`sums_of_blocks`].
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sums_of_vars() {
    naked_asm!(
        no_sums!(),
        "2:",
        var_columns!("0", "2"),
        var_columns!("4", "6"),
        var_columns!("8", "10"),
        var_columns!("12", "14"),
        "adds    r1, #16",
        "subs    r2, #1",
        "bne     2b",
        row_sums!(),
        "bx      lr",
    )
}

/// 256 × Σ w x for four rows over the pairs of a list.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r2: list; r3: its end; lr: where to return |
/// | out | r0: behind the weights; r4 to r7: 256 times each sum |
/// | clobbered | r1 to r3, r8 to r12, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. Two words must follow r0 for each byte of the list, which
/// must be below the number of words that follow r1.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sums_of_pairs() {
    naked_asm!(
        "mov     r12, r3",
        no_sums!(),
        "b       3f",
        "2:",
        listed_columns!(),
        "3:",
        "cmp     r2, r12",
        "bne     2b",
        row_sums!(),
        "bx      lr",
    )
}

/// 256 × Σ w x for four rows (`portable::dot`).
///
/// # Safety
/// `blocks` must be followed by `8 * count` words, `pairs` by `4 * count`, and `count` must not be 0.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn dot_blocks(
    blocks: *const u32,
    pairs: *const f32,
    count: usize,
    sums: &mut Sums,
) {
    naked_asm!(
        save!(),
        "bl      {sums_of_blocks}",
        "ldr     r0, [sp, #16]",
        "stm     r0!, {{r4-r7}}",
        restore_upper!(),
        "pop     {{r3-r7, pc}}",
        sums_of_blocks = sym sums_of_blocks,
    )
}

/// 256 × Σ w x for four rows over listed pairs (`portable::dot_listed`).
///
/// # Safety
/// `blocks` must be followed by `2 * count` words, and `list` by `count` bytes, each below the number of
/// words that follow `pairs`.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn dot_pairs(
    blocks: *const u32,
    pairs: *const f32,
    list: *const u8,
    count: usize,
    sums: &mut Sums,
) {
    naked_asm!(
        save!(),
        "adds    r3, r2, r3",
        "bl      {sums_of_pairs}",
        // The fifth argument lies above the registers.
        "ldr     r0, [sp, #40]",
        "stm     r0!, {{r4-r7}}",
        restore_upper!(),
        "pop     {{r3-r7, pc}}",
        sums_of_pairs = sym sums_of_pairs,
    )
}
