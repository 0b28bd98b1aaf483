//! Kernels for Armv7-M without DSP instructions, such as Cortex-M3: 2.5 instructions for each multiply-accumulate.
//!
//! One instruction multiplies and adds, one takes a byte or a halfword out of a word. The bits are those of `packed::dot`.

#![allow(unsafe_code)] // assembler, and the pointers it walks

pub(crate) use super::activations::{fill_pairs, shorten};
pub(crate) use super::portable_layers::{lstm_units, tanh_units};

use core::arch::naked_asm;

use super::packed::{self, Sums};
use super::words::words;

/// [`packed::dot`].
#[inline(always)]
pub(crate) fn dot(blocks: &[u8], pairs: &[f32]) -> Sums {
    let Some(words) = words(blocks) else { return packed::dot(blocks, pairs) };
    let count = (words.len() / 8).min(pairs.len() / 4);
    let mut sums = [0; 4];
    if count > 0 {
        // SAFETY: `count` blocks of eight words and as many times four words lie behind the pointers, and four words to write.
        unsafe { dot_blocks(words.as_ptr(), pairs.as_ptr(), count, &mut sums) };
    }
    sums
}

/// Two columns of two rows, a word of weights: gathers 256·S_A + S_B in the first sum and S_B in the second; uses r12.
macro_rules! rows {
    ($word:literal, $mixed:literal, $lower:literal) => {
        concat!(
            "sxth    r12, ", $word, "\n",
            "mla     ", $mixed, ", r12, r10, ", $mixed, "\n",
            "sxtb    r12, ", $word, "\n",
            "mla     ", $lower, ", r12, r10, ", $lower, "\n",
            "asr     r12, ", $word, ", #16\n",
            "mla     ", $mixed, ", r12, r11, ", $mixed, "\n",
            "sxtb    r12, ", $word, ", ror #16\n",
            "mla     ", $lower, ", r12, r11, ", $lower, "\n",
        )
    };
}

/// Two columns of four rows: r0 at the weights, r1 at the activations.
macro_rules! columns {
    ($at:literal, $after:literal) => {
        concat!(
            "ldrd    r8, r9, [r0], #8\n",
            "ldrsh   r10, [r1, #", $at, "]\n",
            "ldrsh   r11, [r1, #", $after, "]\n",
            rows!("r8", "r4", "r5"),
            rows!("r9", "r6", "r7"),
        )
    };
}

/// # Safety
/// `blocks` must be followed by `8 * count` words, `pairs` by `4 * count`, and `count` must not be 0.
#[unsafe(naked)]
unsafe extern "C" fn dot_blocks(blocks: *const u32, pairs: *const f32, count: usize, sums: &mut Sums) {
    naked_asm!(
        "push    {{r4-r11, lr}}",
        "movs    r4, #0",
        "movs    r5, #0",
        "movs    r6, #0",
        "movs    r7, #0",
        "2:",
        columns!("0", "2"),
        columns!("4", "6"),
        columns!("8", "10"),
        columns!("12", "14"),
        "adds    r1, #16",
        "subs    r2, #1",
        "bne.w   2b",
        "subs    r4, r4, r5",
        "lsls    r5, r5, #8",
        "subs    r6, r6, r7",
        "lsls    r7, r7, #8",
        "stm     r3, {{r4-r7}}",
        "pop     {{r4-r11, pc}}",
    )
}
