//! Moments in assembler: `moments::tanh` in 26 instructions, and products with gates.
//!
//! All macros read these registers and keep them: r2, the shift of a layer's variances; r3, the table of
//! cells; r12, the table of roots, moved by the shift; lr, what the table of roots adds to a variance.

/// Moments of tanh of a row.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean; r1: mantissa of the variance, not negative |
/// | out | `$mean`, `$var`, which may be r0, r1, r5 or r6 |
/// | clobbered | r0, r1, r4, r7 to r11 |
macro_rules! tanh {
    ($mean:literal, $var:literal) => {
        concat!(
            "add     r4, r1, lr\n",
            "clz     r8, r4\n",
            "lsl     r4, r4, r8\n",
            from_root!("r1", $mean, $var),
            "lsr     ", $var, ", ", $var, ", r2\n",
        )
    };
}

/// Moments of tanh of a cell, whose variance has no shift.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean; r6: variance, from 0 to `CELL_LIMIT` |
/// | out | r5, r6 |
/// | clobbered | r0, r4, r7 to r11 |
macro_rules! tanh_of_cell {
    () => {
        concat!(
            "add     r4, r6, #655360         @ 5/8\n",
            "clz     r8, r4\n",
            "lsl     r4, r4, r8\n",
            "sub     r8, r8, r2\n",
            from_root!("r6", "r5", "r6"),
        )
    };
}

/// The common end of both.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean; `$mantissa`: mantissa of the variance; r4: v + 5/8, normalised; r8: its leading zeros |
/// | out | `$mean`, `$var`, not yet shifted |
/// | clobbered | r0, r4, r7 to r11 |
macro_rules! from_root {
    ($mantissa:literal, $mean:literal, $var:literal) => {
        concat!(
            "lsr     r9, r4, #26\n",
            "add     r8, r9, r8, lsl #5\n",
            "ldr     r7, [r12, r8, lsl #2]\n",
            "ubfx    r4, r4, #11, #15\n",
            "smlabb  r7, r7, r4, r7          @ rho, in the upper half\n",
            "smulwt  r0, r0, r7              @ tau\n",
            "eor     r4, r0, r0, asr #31\n",
            "usat    r4, #15, r4\n",
            "lsr     r8, r4, #9              @ column\n",
            "lsr     r9, r7, #28             @ row\n",
            "add     r8, r3, r8, lsl #4\n",
            "add     r8, r8, r9, lsl #10\n",
            "ldm     r8, {{r8-r11}}\n",
            "smlabb  r8, r10, r4, r8\n",
            "smlatb  r9, r10, r4, r9\n",
            "smlabt  r8, r11, r7, r8         @ magnitude of the mean\n",
            "smlatt  r9, r11, r7, r9         @ ratio\n",
            "smulwt  r9, r9, r7\n",
            "smulwt  r9, r9, r7\n",
            "lsl     r9, r9, #7\n",
            "eor     ", $mean, ", r8, r0, asr #31\n",
            "umull   r4, ", $var, ", ", $mantissa, ", r9\n",
        )
    };
}

/// Mean of σ from that of tanh of half the argument, 15 bits.
///
/// | registers | |
/// |---|---|
/// | in | `$gate`: mean of tanh |
/// | out | `$gate`: mean of σ |
/// | clobbered | none |
macro_rules! sigmoid_mean {
    ($gate:literal) => {
        concat!(
            "add     ", $gate, ", ", $gate, ", #0x10000000\n",
            "asr     ", $gate, ", ", $gate, ", #14\n",
        )
    };
}

/// σ ⊙ y (`cells::lstm::gated`), from mean and variance of a gate as tanh, and of y.
///
/// | registers | |
/// |---|---|
/// | in | `$gate`, `$gate_var`, `$y`, `$y_var` |
/// | out | `$mean`: 30 fractional bits; `$var`; both may be among the former |
/// | clobbered | all that are named, r7, r8 |
macro_rules! gated {
    ($gate:literal, $gate_var:literal, $y:literal, $y_var:literal, $mean:literal, $var:literal) => {
        concat!(
            sigmoid_mean!($gate),
            "asr     ", $y, ", ", $y, ", #13\n",
            "mul     r7, ", $y, ", ", $y, "\n",
            "asr     r8, ", $y_var, ", #6\n",
            "add     r8, r8, r7, asr #16\n",
            "usat    r8, #14, r8\n",
            "smulwb  r8, ", $gate_var, ", r8\n",
            "smulwb  ", $y_var, ", ", $y_var, ", ", $gate, "\n",
            "smulwb  ", $y_var, ", ", $y_var, ", ", $gate, "\n",
            "mul     ", $mean, ", ", $y, ", ", $gate, "\n",
            "add     ", $var, ", r8, ", $y_var, ", lsl #2\n",
        )
    };
}
