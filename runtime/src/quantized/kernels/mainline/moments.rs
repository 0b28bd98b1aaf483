//! Moments in assembler: `moments::tanh`, and products with gates.
//!
//! All macros read these registers and keep them: r3, the table of cells; r12, the table of roots, moved by
//! the shift of a layer's variances; lr, what the table of roots adds to a variance. ⌊a·b / 2¹⁶⌋ is the upper
//! half of a long product with b in its upper half.

/// Moments of tanh, the common end of a row's and a cell's.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean; r1: mantissa of the variance; r4: v + 5/8, normalised; r8: its leading zeros |
/// | out | `$mean`, `$var`, not yet shifted |
/// | clobbered | r0 to r2, r4, r5, r7 to r11 |
macro_rules! from_root {
    ($mean:literal, $var:literal) => {
        concat!(
            "lsr     r9, r4, #26\n",
            "add     r8, r9, r8, lsl #5\n",
            "ldr     r7, [r12, r8, lsl #2]\n",
            "ubfx    r4, r4, #11, #15\n",
            "sxth    r9, r7\n",
            "mla     r7, r9, r4, r7\n",
            "lsr     r5, r7, #16             @ rho\n",
            "lsl     r7, r5, #16             @ and in the upper half\n",
            "smull   r9, r0, r0, r7          @ tau\n",
            "eor     r4, r0, r0, asr #31\n",
            "usat    r4, #15, r4\n",
            "lsr     r8, r4, #9              @ column\n",
            "lsr     r9, r7, #28             @ row\n",
            "add     r8, r3, r8, lsl #4\n",
            "add     r8, r8, r9, lsl #10\n",
            "ldm     r8, {{r8-r11}}\n",
            "sxth    r2, r10\n",
            "mla     r8, r2, r4, r8\n",
            "asr     r10, r10, #16\n",
            "mla     r9, r10, r4, r9\n",
            "sxth    r2, r11\n",
            "mla     r8, r2, r5, r8          @ magnitude of the mean\n",
            "asr     r11, r11, #16\n",
            "mla     r9, r11, r5, r9         @ ratio\n",
            "smull   r2, r9, r9, r7\n",
            "smull   r2, r9, r9, r7\n",
            "lsl     r9, r9, #7\n",
            "umull   r9, ", $var, ", r1, r9\n",
            "eor     ", $mean, ", r8, r0, asr #31\n",
        )
    };
}

/// Moments of tanh of a row. `$shift_at` is the offset from sp of the shift.
///
/// | registers | |
/// |---|---|
/// | in | r6: address of the variance's mantissa, not negative; the mean is 16 bytes behind |
/// | out | r0, r1 |
/// | clobbered | r2, r4, r5, r7 to r11 |
macro_rules! tanh_of_row {
    ($shift_at:literal) => {
        concat!(
            "ldr     r0, [r6, #16]\n",
            "ldr     r1, [r6]\n",
            "add     r4, r1, lr\n",
            "clz     r8, r4\n",
            "lsl     r4, r4, r8\n",
            from_root!("r0", "r1"),
            "ldr     r2, [sp, #", $shift_at, "]\n",
            "lsr     r1, r1, r2\n",
        )
    };
}

/// Moments of tanh of a cell, whose variance has no shift. `$shift_at` is the offset from sp of the rows'
/// shift.
///
/// | registers | |
/// |---|---|
/// | in | r5: mean; r6: variance, from 0 to `CELL_LIMIT` |
/// | out | r2, r4 |
/// | clobbered | r0, r1, r5, r7 to r11 |
macro_rules! tanh_of_cell {
    ($shift_at:literal) => {
        concat!(
            "asr     r0, r5, #6\n",
            tanh_unshifted!($shift_at),
        )
    };
}

/// Moments of tanh of a pre-activation whose variance has no shift. `$shift_at` is the offset from sp of the
/// rows' shift.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean; r6: variance |
/// | out | r2: mean; r4: variance |
/// | clobbered | r0, r1, r5, r7 to r11 |
macro_rules! tanh_unshifted {
    ($shift_at:literal) => {
        concat!(
            "ldr     r2, [sp, #", $shift_at, "]\n",
            "mov     r1, r6\n",
            "add     r4, r6, #655360         @ 5/8\n",
            "clz     r8, r4\n",
            "lsl     r4, r4, r8\n",
            "sub     r8, r8, r2\n",
            from_root!("r2", "r4"),
        )
    };
}

/// Mean of σ from that of tanh of half the argument, 15 bits.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean of tanh |
/// | out | r0: mean of σ; r9: the same in its upper half |
/// | clobbered | none |
macro_rules! sigmoid_mean {
    () => {
        concat!(
            "add     r0, r0, #0x10000000\n",
            "asr     r0, r0, #14\n",
            "lsl     r9, r0, #16\n",
        )
    };
}

/// σ ⊙ y (`cells::lstm::gated`), from mean and variance of a gate as tanh, and of y.
///
/// | registers | |
/// |---|---|
/// | in | r0, r1: gate; r2, r4: y |
/// | out | r5: mean with 30 fractional bits; r6: variance |
/// | clobbered | r0, r2, r4, r7 to r9 |
macro_rules! gated {
    () => {
        concat!(
            sigmoid_mean!(),
            "asr     r2, r2, #13\n",
            "mul     r7, r2, r2\n",
            "asr     r8, r4, #6\n",
            "add     r8, r8, r7, asr #16\n",
            "usat    r8, #14, r8\n",
            "lsl     r8, r8, #16\n",
            "smull   r7, r8, r1, r8\n",
            "smull   r7, r4, r4, r9\n",
            "smull   r7, r4, r4, r9\n",
            "mul     r5, r2, r0\n",
            "add     r6, r8, r4, lsl #2\n",
        )
    };
}
