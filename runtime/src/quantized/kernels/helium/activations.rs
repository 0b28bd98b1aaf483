//! Filling the input of a map: 13 instructions for four units, four more to narrow their variances.

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
    unsafe { fill(units.as_ptr(), means.as_mut_ptr(), vars.as_mut_ptr(), noise, 2 * pairs) }
}

/// Writes codes of means alone, two to a word, and returns the number of pairs.
pub(in crate::quantized) fn fill_means(noise: &NoiseScales, units: &[[f32; 2]], means: &mut [f32]) -> usize {
    let pairs = units.len().min(means.len());
    if pairs > 0 {
        // SAFETY: `pairs` is not zero, and neither of the slices is shorter. Any contents will do.
        unsafe { mean_codes(units.as_ptr(), means.as_mut_ptr(), noise.mean, 2 * pairs) }
    }
    pairs
}

/// [`fill::narrow`].
pub(in crate::quantized) fn narrow(words: &mut [f32], shift: u32) {
    if words.is_empty() || !words.len().is_multiple_of(2) || shift > 31 {
        return fill::narrow(words, shift);
    }
    // SAFETY: there are words. Any contents will do.
    unsafe { narrow_words(words.as_mut_ptr(), words.len(), 0_i32.wrapping_sub_unsigned(shift)) }
}

/// Fills `count` units and returns the bitwise or of their variances.
///
/// # Safety
/// `count` must not be 0, and as many units must lie behind the pointers.
#[rustfmt::skip] // assembler keeps its own form
#[unsafe(naked)]
unsafe extern "C" fn fill(
    units: *const [f32; 2],
    means: *mut f32,
    vars: *mut [f32; 2],
    noise: &NoiseScales,
    count: usize,
) -> u32 {
    mve_asm!(
        "push    {{r4-r7, r8, lr}}",
        "vpush   {{d8-d11}}",
        "ldm     r3, {{r4-r7}}",
        "ldr     r3, [sp, #56]",
        "vdup.32 q3, r4",
        "lsl     r5, r5, #16",
        "vdup.32 q4, r5",
        // For the upper halves of units.
        "lsl     r6, r6, #16",
        "vdup.32 q5, r6",
        "vmov.i32 q2, #0",
        "dlstp.32 lr, r3",
        "2:",
        "vldrw.u32 q0, [r0], #16",
        "vmullb.s16 q1, q0, q3",
        "vrshr.s32 q1, q1, #16",
        "vstrh.32 q1, [r1], #8",
        "vmullb.s16 q1, q0, q0",
        "vmullt.u16 q0, q0, q5",
        "vmulh.s32 q1, q1, q4",
        "vadd.i32 q0, q0, q1",
        "vshr.u32 q0, q0, #10",
        "vadd.i32 q0, q0, r7",
        "vstrw.32 q0, [r2], #16",
        "vorr    q2, q2, q0",
        "letp    lr, 2b",
        "vmov    r0, r1, d4",
        "vmov    r2, r3, d5",
        "orrs    r0, r1",
        "orrs    r2, r3",
        "orrs    r0, r2",
        "vpop    {{d8-d11}}",
        "pop     {{r4-r7, r8, pc}}";
    )
}

/// Writes the codes of the means of `count` units.
///
/// # Safety
/// `count` must not be 0, and as many units and half as many words must lie behind the pointers.
#[rustfmt::skip] // assembler keeps its own form
#[unsafe(naked)]
unsafe extern "C" fn mean_codes(units: *const [f32; 2], means: *mut f32, scale: i32, count: usize) {
    mve_asm!(
        "push    {{r4, lr}}",
        "vdup.32 q1, r2",
        "dlstp.32 lr, r3",
        "2:",
        "vldrw.u32 q0, [r0], #16",
        "vmullb.s16 q0, q0, q1",
        "vrshr.s32 q0, q0, #16",
        "vstrh.32 q0, [r1], #8",
        "letp    lr, 2b",
        "pop     {{r4, pc}}";
    )
}

/// Narrows `count` words by a shift, given as its negative.
///
/// # Safety
/// `count` must not be 0, and as many words must lie behind the pointer.
#[rustfmt::skip] // assembler keeps its own form
#[unsafe(naked)]
unsafe extern "C" fn narrow_words(words: *mut f32, count: usize, shift: i32) {
    mve_asm!(
        "push    {{r4, lr}}",
        "mov     r3, r0",
        "dlstp.32 lr, r1",
        "2:",
        "vldrw.u32 q0, [r0], #16",
        "vrshl.u32 q0, r2",
        "vstrh.32 q0, [r3], #8",
        "letp    lr, 2b",
        "pop     {{r4, pc}}";
    )
}
