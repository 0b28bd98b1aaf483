//! Sums over listed pairs of columns (layout `sparse`): nine instructions for eight multiply-accumulates.

use crate::quantized::kernels::portable::Sums;

/// Two columns of four rows, which the next byte of a list names. All its instructions have four bytes, 36
/// together.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r2: activations; r4 to r7: sums so far; r8: list |
/// | out | r0, r8: the next pair; r4, r6: 256·S_A + S_B of either pair of rows; r5, r7: S_B |
/// | clobbered | r1, r3, r9 |
macro_rules! pair {
    () => {
        concat!(
            "ldrb    r9, [r8], #1\n",
            "ldrd    r1, r3, [r0], #8\n",
            "ldr     r9, [r2, r9, lsl #2]\n",
            "smlad   r4, r1, r9, r4\n",
            "sxtb16  r1, r1\n",
            "smlad   r6, r3, r9, r6\n",
            "sxtb16  r3, r3\n",
            "smlad   r5, r1, r9, r5\n",
            "smlad   r7, r3, r9, r7\n",
        )
    };
}

/// A function, called at label 75, that adds the pairs of a list: eight a turn, entered where their number
/// requires it.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r2: activations; r4 to r7: 0; r8: list; r10: its end; lr: where to return |
/// | out | r0: behind the weights; r4 to r7: as in [`pair`] |
/// | clobbered | r1, r3, r8, r9, r11, flags |
macro_rules! listed_sums {
    () => {
        concat!(
            "75:\n",
            "subs    r11, r8, r10\n",
            "it      eq\n",
            "bxeq    lr\n",
            // Pairs to leave out of the first turn; the table counts halfwords from its own start.
            "and     r11, r11, #7\n",
            "tbb     [pc, r11]\n",
            ".byte   4, 22, 40, 58, 76, 94, 112, 130\n",
            "76:\n",
            pair!(), pair!(), pair!(), pair!(), pair!(), pair!(), pair!(), pair!(),
            "cmp     r8, r10\n",
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
/// | in | r0: weights; r2: activations; r4 to r7: 0; the frame |
/// | out | as [`listed_sums`]; the frame: at the next list |
/// | clobbered | r1, r3, r8 to r11, lr, flags |
macro_rules! listed_entries {
    ($pushed:literal) => {
        concat!(
            "72:\n",
            "ldr     r8, [sp, #{list}]\n",
            "ldrd    r9, r11, [sp, #{ends}]\n",
            "ldr     r10, [r9], #4\n",
            "str     r9, [sp, #{ends}]\n",
            "add     r10, r10, r11\n",
            "str     r10, [sp, #{list_end}]\n",
            "bl      75f\n",
            "b.w     21b\n",
            "73:\n",
            "ldrd    r8, r10, [sp, #({list} + ", $pushed, ")]\n",
            "str     r10, [sp, #({list} + ", $pushed, ")]\n",
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
    dsp_asm!(
        // Ten words, of which r3 only keeps sp a multiple of eight; the fifth argument lies above them.
        "push    {{r3-r11, lr}}",
        "mov     r8, r2",
        "add     r10, r2, r3",
        "mov     r2, r1",
        "movs    r4, #0",
        "movs    r5, #0",
        "movs    r6, #0",
        "movs    r7, #0",
        "bl      75f",
        row_sums!(),
        "ldr     r3, [sp, #40]",
        "stm     r3, {{r4-r7}}",
        "pop     {{r3-r11, pc}}",
        listed_sums!();
    )
}
