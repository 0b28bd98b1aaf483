//! Sums over blocks of four rows and eight columns: 74 instructions for 32 multiply-accumulates.

use core::arch::naked_asm;

use crate::quantized::kernels::portable::Sums;

/// Two columns of two rows, a word of weights, times two activations.
///
/// | registers | |
/// |---|---|
/// | in | `$word`: weights; r10, r11: activations; `$mixed`, `$lower`: sums so far |
/// | out | `$mixed`: 256·S_A + S_B; `$lower`: S_B |
/// | clobbered | r12 |
macro_rules! two_rows {
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

/// One block of four rows and eight columns.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r4 to r7: sums so far |
/// | out | r0, r1: the next block; r4, r6: 256·S_A + S_B of either pair of rows; r5, r7: S_B |
/// | clobbered | r3, r8 to r12, lr |
macro_rules! block {
    () => {
        concat!(
            "ldmia   r0!, {{r3, r8, r9, lr}}\n",
            "ldrsh   r10, [r1], #16\n",
            "ldrsh   r11, [r1, #-14]\n",
            two_rows!("r3", "r4", "r5"),
            two_rows!("r8", "r6", "r7"),
            "ldrsh   r10, [r1, #-12]\n",
            "ldrsh   r11, [r1, #-10]\n",
            two_rows!("r9", "r4", "r5"),
            two_rows!("lr", "r6", "r7"),
            "ldmia   r0!, {{r3, r8, r9, lr}}\n",
            "ldrsh   r10, [r1, #-8]\n",
            "ldrsh   r11, [r1, #-6]\n",
            two_rows!("r3", "r4", "r5"),
            two_rows!("r8", "r6", "r7"),
            "ldrsh   r10, [r1, #-4]\n",
            "ldrsh   r11, [r1, #-2]\n",
            two_rows!("r9", "r4", "r5"),
            two_rows!("lr", "r6", "r7"),
        )
    };
}

/// The sums of four rows from those of their pairs.
///
/// | registers | |
/// |---|---|
/// | in | r4, r6: 256·S_A + S_B of either pair of rows; r5, r7: S_B |
/// | out | r4 to r7: 256 times each sum |
/// | clobbered | flags |
macro_rules! row_sums {
    () => {
        concat!("subs    r4, r4, r5\n", "lsls    r5, r5, #8\n", "subs    r6, r6, r7\n", "lsls    r7, r7, #8\n")
    };
}

/// Sums of four rows, two blocks a turn; an odd number of them is entered at `$middle`, an even one at
/// `$label`; `$join` labels the end of the loop, where another loop may come in.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r2: their end; r4 to r7: 0, see [`no_sums`] |
/// | out | r0: behind the weights; r4 to r7: 256 times each sum |
/// | clobbered | r1, r3, r8 to r12, lr, flags |
macro_rules! rows {
    ($label:literal, $middle:literal, $back:literal, $join:literal) => {
        concat!(
            $label, ":\n",
            block!(),
            $middle, ":\n",
            block!(),
            "cmp     r1, r2\n",
            "bne.w   ", $back, "\n",
            $join, ":\n",
            row_sums!(),
        )
    };
}

/// Sums that begin at 0.
///
/// | registers | |
/// |---|---|
/// | in | none |
/// | out | r4 to r7: 0 |
/// | clobbered | flags |
macro_rules! no_sums {
    () => {
        concat!("movs    r4, #0\n", "movs    r5, #0\n", "movs    r6, #0\n", "movs    r7, #0\n")
    };
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
        "push    {{r3-r11, lr}}",
        no_sums!(),
        "lsrs    r3, r2, #1              @ carry: an odd number",
        "add     r2, r1, r2, lsl #4",
        "bcs.w   5f",
        rows!("2", "5", "2b", "21"),
        "ldr     r3, [sp]",
        "stm     r3, {{r4-r7}}",
        "pop     {{r3-r11, pc}}",
    )
}
