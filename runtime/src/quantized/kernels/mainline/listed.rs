//! Sums over listed pairs of columns (layout `sparse`): 21 instructions for eight multiply-accumulates.

use core::arch::naked_asm;

use crate::quantized::kernels::portable::Sums;

/// Two columns of four rows, which the next byte of a list names. All its instructions have four bytes, 84
/// together.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r2: list; r4 to r7: sums so far |
/// | out | r0, r2: the next pair; r4, r6: 256·S_A + S_B of either pair of rows; r5, r7: S_B |
/// | clobbered | r3, r8, r10 to r12 |
macro_rules! pair {
    () => {
        concat!(
            "ldrb    r11, [r2], #1\n",
            "ldmia   r0!, {{r3, r8}}\n",
            "ldr     r11, [r1, r11, lsl #2]\n",
            "sxth    r10, r11\n",
            "asr     r11, r11, #16\n",
            two_rows!("r3", "r4", "r5"),
            two_rows!("r8", "r6", "r7"),
        )
    };
}

/// A function, called at label 75, that adds the pairs of a list: four a turn, entered where their number
/// requires it.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r2: list; r9: its end; r4 to r7: 0; lr: where to return |
/// | out | r0: behind the weights; r4 to r7: as in [`pair`] |
/// | clobbered | r2, r3, r8, r10 to r12, flags |
macro_rules! listed_sums {
    () => {
        concat!(
            "75:\n",
            "subs    r12, r2, r9\n",
            "it      eq\n",
            "bxeq    lr\n",
            // Pairs to leave out of the first turn; the table counts halfwords from its own start.
            "and     r12, r12, #3\n",
            "tbb     [pc, r12]\n",
            ".byte   2, 44, 86, 128\n",
            "76:\n",
            pair!(), pair!(), pair!(), pair!(),
            "cmp     r2, r9\n",
            "bne.w   76b\n",
            "bx      lr\n",
        )
    };
}

/// Where a layer whose maps hold listed pairs enters its sums: label 72 for means, which go on at 21, and 73
/// for variances, which go on at 31. `$pushed` is added to the frame's offsets in the latter.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r1: activations; r4 to r7: 0; the frame |
/// | out | as [`listed_sums`]; the frame: at the next list |
/// | clobbered | r2, r3, r8 to r12, lr, flags |
macro_rules! listed_entries {
    ($pushed:literal) => {
        concat!(
            "72:\n",
            "ldr     r2, [sp, #{list}]\n",
            "ldrd    r10, r11, [sp, #{ends}]\n",
            "ldr     r9, [r10], #4\n",
            "str     r10, [sp, #{ends}]\n",
            "add     r9, r9, r11\n",
            "str     r9, [sp, #{list_end}]\n",
            "bl      75f\n",
            "b.w     21b\n",
            "73:\n",
            "ldrd    r2, r9, [sp, #({list} + ", $pushed, ")]\n",
            "str     r9, [sp, #({list} + ", $pushed, ")]\n",
            "bl      75f\n",
            "b.w     31b\n",
            listed_sums!(),
        )
    };
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
        // Ten words, of which r3 only keeps sp a multiple of eight; the fifth argument lies above them.
        "push    {{r3-r11, lr}}",
        "add     r9, r2, r3",
        no_sums!(),
        "bl      75f",
        row_sums!(),
        "ldr     r3, [sp, #40]",
        "stm     r3, {{r4-r7}}",
        "pop     {{r3-r11, pc}}",
        listed_sums!(),
    )
}
