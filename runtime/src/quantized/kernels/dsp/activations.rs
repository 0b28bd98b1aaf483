//! Filling the input of a map: ten instructions for each unit, two more to narrow its variance, five for its
//! squared mean where weights have variances.

use crate::quantized::kernels::fill::{self, NoiseScales};

/// [`fill::fill_pairs`].
pub(in crate::quantized) fn fill_pairs(
    noise: &NoiseScales,
    units: &[[f32; 2]],
    means: &mut [f32],
    vars: &mut [[f32; 2]],
) -> u32 {
    let pairs = units.len().min(means.len()).min(vars.len());
    if pairs == 0 {
        return 0;
    }
    // SAFETY: `pairs` is not zero, and none of the slices is shorter. Any contents will do: nothing is used
    // as an index.
    unsafe { fill(units.as_ptr(), means.as_mut_ptr(), vars.as_mut_ptr(), noise, pairs) }
}

/// [`fill::narrow`] of words in eights, as maps have columns, by a shift from 2 to 31, as of words of 32
/// bits.
pub(in crate::quantized) fn narrow(words: &mut [f32], shift: u32) {
    let chunks = words.as_chunks::<8>().0.len();
    if chunks > 0 {
        // SAFETY: there are chunks, and eight words in each. Any contents and any factor will do.
        unsafe { narrow_eights(words.as_mut_ptr(), chunks, 1_u32.wrapping_shl(32_u32.wrapping_sub(shift))) }
    }
}

/// [`fill::squares_seen`].
pub(in crate::quantized) fn squares_seen(means: &[f32]) -> u32 {
    let (chunks, rest) = means.as_chunks::<4>();
    if chunks.is_empty() || !rest.is_empty() {
        return fill::squares_seen(means);
    }
    // SAFETY: there are chunks, and four words in each. Any contents will do.
    unsafe { or_squares(means.as_ptr(), means.len() / 4) }
}

/// [`fill::narrow_squares`].
pub(in crate::quantized) fn narrow_squares(means: &[f32], codes: &mut [f32], shift: u32) {
    let (chunks, rest) = means.as_chunks::<4>();
    if chunks.is_empty() || !rest.is_empty() || codes.len() < means.len() || !(2..=31).contains(&shift) {
        return fill::narrow_squares(means, codes, shift);
    }
    // SAFETY: there are chunks, four words in each, and as many words for codes. Any contents will do.
    unsafe { square_fours(means.as_ptr(), codes.as_mut_ptr(), means.len() / 4, 1 << (32 - shift)) }
}

/// Codes of means and wide variances of one pair of units.
///
/// | registers | |
/// |---|---|
/// | in | r0: units; r1, r2: where means and variances go; r4 to r7: [`NoiseScales`]; lr: 2¹⁵; r12: variances so far |
/// | out | r0, r1, r2: the next pair; r12: bitwise or of all variances |
/// | clobbered | r8 to r11 |
macro_rules! fill_pair {
    () => {
        concat!(
            "ldrd    r8, r9, [r0], #8\n",
            "smlabb  r10, r8, r4, lr\n",
            "smlabb  r11, r9, r4, lr\n",
            "pkhtb   r10, r11, r10, asr #16\n",
            "str     r10, [r1], #4\n",
            "smulbb  r10, r8, r8\n",
            "smulbb  r11, r9, r9\n",
            "smulwb  r10, r10, r5\n",
            "smulwb  r11, r11, r5\n",
            "lsr     r8, r8, #16\n",
            "lsr     r9, r9, #16\n",
            "mla     r10, r8, r6, r10\n",
            "mla     r11, r9, r6, r11\n",
            "add     r10, r7, r10, lsr #10\n",
            "add     r11, r7, r11, lsr #10\n",
            "strd    r10, r11, [r2], #8\n",
            "orr     r12, r12, r10\n",
            "orr     r12, r12, r11\n",
        )
    };
}

/// Fills `pairs` pairs of units and returns the bitwise or of their variances.
///
/// # Safety
/// `pairs` must not be 0, and as many pairs must lie behind the pointers.
#[unsafe(naked)]
unsafe extern "C" fn fill(
    units: *const [f32; 2],
    means: *mut f32,
    vars: *mut [f32; 2],
    noise: &NoiseScales,
    pairs: usize,
) -> u32 {
    dsp_asm!(
        // Ten words, of which r3 only keeps sp a multiple of eight; the fifth argument lies above them.
        "push    {{r3-r11, lr}}",
        "ldm     r3, {{r4-r7}}",
        "ldr     r3, [sp, #40]",
        "movs    r12, #0",
        "mov     lr, #32768",
        // Two pairs a turn; an odd one enters in the middle.
        "adds    r3, #1",
        "lsrs    r3, r3, #1",
        "bcc     3f",
        "2:",
        fill_pair!(),
        "3:",
        fill_pair!(),
        "subs    r3, #1",
        "bne     2b",
        "mov     r0, r12",
        "pop     {{r3-r11, pc}}";
    )
}

/// Narrows eight words after another to four: 2³² / `factor` is a power of two.
///
/// # Safety
/// `eights` must not be 0, and eight times as many words must lie behind the pointer.
#[unsafe(naked)]
unsafe extern "C" fn narrow_eights(words: *mut f32, eights: usize, factor: u32) {
    dsp_asm!(
        "push    {{r4-r11}}",
        "mov     r3, r0",
        "2:",
        "ldmia   r0!, {{r4-r11}}",
        // A product whose upper half is rounded is a shift that rounds.
        "smmulr  r4, r4, r2",
        "smmulr  r5, r5, r2",
        "smmulr  r6, r6, r2",
        "smmulr  r7, r7, r2",
        "smmulr  r8, r8, r2",
        "smmulr  r9, r9, r2",
        "smmulr  r10, r10, r2",
        "smmulr  r11, r11, r2",
        "pkhbt   r4, r4, r5, lsl #16",
        "pkhbt   r5, r6, r7, lsl #16",
        "pkhbt   r6, r8, r9, lsl #16",
        "pkhbt   r7, r10, r11, lsl #16",
        "stmia   r3!, {{r4-r7}}",
        "subs    r1, #1",
        "bne     2b",
        "pop     {{r4-r11}}",
        "bx      lr";
    )
}

/// Adds the squares of two halves of a word to those seen.
///
/// | registers | |
/// |---|---|
/// | in | `$pair`: codes of means; r0: bitwise or of squares so far |
/// | out | r0 |
/// | clobbered | r2, r3 |
macro_rules! or_pair {
    ($pair:literal) => {
        concat!(
            "smulbb  r2, ",
            $pair,
            ", ",
            $pair,
            "\n",
            "smultt  r3, ",
            $pair,
            ", ",
            $pair,
            "\n",
            "orr     r0, r0, r2\n",
            "orr     r0, r0, r3\n",
        )
    };
}

/// Bitwise or of the squares of four words' halves after another.
///
/// # Safety
/// `fours` must not be 0, and four times as many words must lie behind the pointer.
#[unsafe(naked)]
unsafe extern "C" fn or_squares(means: *const f32, fours: usize) -> u32 {
    dsp_asm!(
        "push    {{r4-r7}}",
        "mov     r12, r0",
        "movs    r0, #0",
        "2:",
        "ldmia   r12!, {{r4-r7}}",
        or_pair!("r4"),
        or_pair!("r5"),
        or_pair!("r6"),
        or_pair!("r7"),
        "subs    r1, #1",
        "bne     2b",
        "pop     {{r4-r7}}",
        "bx      lr";
    )
}

/// The narrowed squares of two halves of a word in its place.
///
/// | registers | |
/// |---|---|
/// | in | `$pair`: codes of means; r3: factor |
/// | out | `$pair`: codes of squares |
/// | clobbered | r12 |
macro_rules! square_pair {
    ($pair:literal) => {
        concat!(
            "smultt  r12, ",
            $pair,
            ", ",
            $pair,
            "\n",
            "smulbb  ",
            $pair,
            ", ",
            $pair,
            ", ",
            $pair,
            "\n",
            "smmulr  r12, r12, r3\n",
            "smmulr  ",
            $pair,
            ", ",
            $pair,
            ", r3\n",
            "pkhbt   ",
            $pair,
            ", ",
            $pair,
            ", r12, lsl #16\n",
        )
    };
}

/// Squares and narrows four words after another: 2³² / `factor` is a power of two.
///
/// # Safety
/// `fours` must not be 0, and four times as many words must lie behind the pointers.
#[unsafe(naked)]
unsafe extern "C" fn square_fours(means: *const f32, codes: *mut f32, fours: usize, factor: u32) {
    dsp_asm!(
        "push    {{r4-r7}}",
        "2:",
        "ldmia   r0!, {{r4-r7}}",
        square_pair!("r4"),
        square_pair!("r5"),
        square_pair!("r6"),
        square_pair!("r7"),
        "stmia   r1!, {{r4-r7}}",
        "subs    r2, #1",
        "bne     2b",
        "pop     {{r4-r7}}",
        "bx      lr";
    )
}
