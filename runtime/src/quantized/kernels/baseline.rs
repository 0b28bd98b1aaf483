//! Kernels for Armv6-M, such as Cortex-M0: 3.6 instructions for each multiply-accumulate.
//!
//! Only the lower eight registers multiply; sums live in the upper ones, which can be added to. The bits are
//! those of `portable::dot` and `portable::dot_listed`.
//!
//! An interrupt may come at any instruction. Nothing lives below sp, and sp is a multiple of eight
//! throughout, as AAPCS32 asks where another function may be entered: a handler's frame overwrites nothing
//! and is aligned, whatever CCR.STKALIGN is. Exception entry saves r0 to r3, r12, lr and the flags, and a
//! handler keeps r4 to r11. A load or store of several registers that was abandoned is completed or begun
//! again with its base unchanged, also where the base is one of the registers loaded; what it reads is
//! written by the interrupted thread alone.

#![allow(unsafe_code)] // assembler, and the pointers it walks

pub(in crate::quantized) use super::fill::{fill_pairs, narrow, narrow_squares, squares_seen};
pub(in crate::quantized) use super::dot::{dot, dot_listed};
pub(in crate::quantized) use super::portable_layers::{gru_units, lstm_units, tanh_units};

use core::arch::naked_asm;

use super::portable::Sums;

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

/// Saves registers and begins sums at 0. Ten words lie on the stack then.
///
/// | registers | |
/// |---|---|
/// | in | none |
/// | out | r8 to r11: 0 |
/// | clobbered | r4 to r7, flags |
macro_rules! begin_sums {
    () => {
        concat!(
            "push    {{r3-r7, lr}}\n",
            "mov     r4, r8\n",
            "mov     r5, r9\n",
            "mov     r6, r10\n",
            "mov     r7, r11\n",
            "push    {{r4-r7}}\n",
            "movs    r4, #0\n",
            "mov     r8, r4\n",
            "mov     r9, r4\n",
            "mov     r10, r4\n",
            "mov     r11, r4\n",
        )
    };
}

/// Writes the sums to the address at an offset from sp, and returns.
///
/// | registers | |
/// |---|---|
/// | in | r8 to r11: as in [`columns`] |
/// | out | r4 to r11, as they were at the call |
/// | clobbered | r0, r3, flags |
macro_rules! end_sums {
    ($sums:literal) => {
        concat!(
            "mov     r4, r8\n",
            "mov     r5, r9\n",
            "mov     r6, r10\n",
            "mov     r7, r11\n",
            "subs    r4, r4, r5\n",
            "lsls    r5, r5, #8\n",
            "subs    r6, r6, r7\n",
            "lsls    r7, r7, #8\n",
            "ldr     r0, [sp, #", $sums, "]\n",
            "stm     r0!, {{r4-r7}}\n",
            "pop     {{r4-r7}}\n",
            "mov     r8, r4\n",
            "mov     r9, r5\n",
            "mov     r10, r6\n",
            "mov     r11, r7\n",
            "pop     {{r3-r7, pc}}\n",
        )
    };
}

/// 256 × Σ w x for four rows (`portable::dot`).
///
/// # Safety
/// `blocks` must be followed by `8 * count` words, `pairs` by `4 * count`, and `count` must not be 0.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn dot_blocks(blocks: *const u32, pairs: *const f32, count: usize, sums: &mut Sums) {
    naked_asm!(
        begin_sums!(),
        "2:",
        columns!(),
        columns!(),
        columns!(),
        columns!(),
        "subs    r2, #1",
        "beq     3f",
        "b       2b",
        "3:",
        end_sums!("16"),
    )
}

/// 256 × Σ w x for four rows over listed pairs (`portable::dot_listed`).
///
/// # Safety
/// `blocks` must be followed by `2 * count` words, and `list` by `count` bytes, each below the number of
/// words that follow `pairs`; `count` must not be 0.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn dot_pairs(
    blocks: *const u32,
    pairs: *const f32,
    list: *const u8,
    count: usize,
    sums: &mut Sums,
) {
    naked_asm!(
        begin_sums!(),
        "adds    r3, r2, r3",
        "mov     r12, r3",
        "2:",
        listed_columns!(),
        "cmp     r2, r12",
        "bne     2b",
        // The fifth argument lies above the registers.
        end_sums!("40"),
    )
}
