//! The kernels of `packed` with the DSP instructions of Cortex-M4, M7 and M33: two products and two sums in one.
//!
//! Fourteen instructions for sixteen multiply-accumulates, with every register in use; hence a function of its own in
//! assembler, without a compiler's frame. The bits are those of the portable kernels: sums wrap in both.

#![allow(unsafe_code)] // assembler

use core::arch::naked_asm;

use super::packed::{self, Sums};
use super::words::words;

/// [`super::packed::dot`].
#[inline(always)]
pub(crate) fn dot(blocks: &[u8], pairs: &[f32]) -> Sums {
    match words(blocks) {
        Some(blocks) => dot_aligned(blocks, pairs),
        None => packed::dot(blocks, pairs),
    }
}

#[inline(always)]
fn dot_aligned(blocks: &[u32], pairs: &[f32]) -> Sums {
    let count = (blocks.len() / 4).min(pairs.len() / 2);
    let mut sums = [0; 4];
    // SAFETY: `count` blocks of four words and as many pairs of words lie behind the pointers, and four words to write.
    unsafe { dot_blocks(blocks.as_ptr(), count, pairs.as_ptr(), &mut sums) };
    sums
}

/// One block of four rows and four columns: r0 at the weights, r2 at the activations; r4 and r6 gather 256·S_A + S_B of
/// either pair of rows, r5 and r7 gather S_B.
macro_rules! block {
    () => {
        "
        ldmia   r0!, {{r10, r11, r12, lr}}
        ldrd    r8, r9, [r2], #8
        smlad   r4, r10, r8, r4
        sxtb16  r10, r10
        smlad   r6, r11, r8, r6
        sxtb16  r11, r11
        smlad   r5, r10, r8, r5
        smlad   r7, r11, r8, r7
        smlad   r4, r12, r9, r4
        sxtb16  r12, r12
        smlad   r6, lr, r9, r6
        sxtb16  lr, lr
        smlad   r5, r12, r9, r5
        smlad   r7, lr, r9, r7
        "
    };
}

/// # Safety
/// `blocks` must be followed by `4 * count` words, `pairs` by `2 * count`.
#[unsafe(naked)]
unsafe extern "C" fn dot_blocks(blocks: *const u32, count: usize, pairs: *const f32, sums: &mut Sums) {
    naked_asm!(
        // Armv8-M has these instructions as an extension, which its assembler wants to be told.
        ".arch armv7e-m",
        "push    {{r3-r11, lr}}",
        "movs    r4, #0",
        "movs    r5, #0",
        "movs    r6, #0",
        "movs    r7, #0",
        "ands    r3, r1, #3",
        "beq     3f",
        // Blocks that do not fill a turn of the main loop.
        "2:",
        block!(),
        "subs    r3, #1",
        "bne     2b",
        "3:",
        "lsrs    r1, r1, #2",
        "beq     5f",
        "4:",
        block!(),
        block!(),
        block!(),
        block!(),
        "subs    r1, #1",
        "bne     4b",
        "5:",
        "pop     {{r3}}",
        "subs    r4, r4, r5",
        "lsls    r5, r5, #8",
        "subs    r6, r6, r7",
        "lsls    r7, r7, #8",
        "stm     r3, {{r4-r7}}",
        "pop     {{r4-r11, pc}}",
    )
}
