//! Kernels for Armv6-M, such as Cortex-M0: 3.6 instructions for each multiply-accumulate.
//!
//! Only the lower eight registers multiply; sums live in the upper ones, which can be added to. The bits are
//! those of `portable::dot`.
//!
//! An interrupt may come at any instruction. Nothing lives below sp, and sp is a multiple of eight
//! throughout, as AAPCS32 asks where another function may be entered: a handler's frame overwrites nothing
//! and is aligned, whatever CCR.STKALIGN is. Exception entry saves r0 to r3, r12, lr and the flags, and a
//! handler keeps r4 to r11. A load or store of several registers that was abandoned is completed or begun
//! again with its base unchanged, also where the base is one of the registers loaded; what it reads is
//! written by the interrupted thread alone.

#![allow(unsafe_code)] // assembler, and the pointers it walks

pub(in crate::quantized) use super::fill::{fill_pairs, narrow, narrow_squares, squares_seen};
pub(in crate::quantized) use super::dot::dot;
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

/// 256 × Σ w x for four rows (`portable::dot`).
///
/// # Safety
/// `blocks` must be followed by `8 * count` words, `pairs` by `4 * count`, and `count` must not be 0.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn dot_blocks(blocks: *const u32, pairs: *const f32, count: usize, sums: &mut Sums) {
    naked_asm!(
        "push    {{r3-r7, lr}}",
        "mov     r4, r8",
        "mov     r5, r9",
        "mov     r6, r10",
        "mov     r7, r11",
        "push    {{r4-r7}}",
        "movs    r4, #0",
        "mov     r8, r4",
        "mov     r9, r4",
        "mov     r10, r4",
        "mov     r11, r4",
        "2:",
        columns!(),
        columns!(),
        columns!(),
        columns!(),
        "subs    r2, #1",
        "beq     3f",
        "b       2b",
        "3:",
        "mov     r4, r8",
        "mov     r5, r9",
        "mov     r6, r10",
        "mov     r7, r11",
        "subs    r4, r4, r5",
        "lsls    r5, r5, #8",
        "subs    r6, r6, r7",
        "lsls    r7, r7, #8",
        "ldr     r0, [sp, #16]",
        "stm     r0!, {{r4-r7}}",
        "pop     {{r4-r7}}",
        "mov     r8, r4",
        "mov     r9, r5",
        "mov     r10, r6",
        "mov     r11, r7",
        "pop     {{r3-r7, pc}}",
    )
}
