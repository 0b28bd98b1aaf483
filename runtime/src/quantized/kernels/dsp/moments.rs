//! Moments in assembler: `moments::tanh` in 26 instructions, and what gates make of them.
//!
//! r2 has the shift of a layer's variances, r3 and r12 the tables of cells and of roots, the latter moved by the shift, and lr what
//! the table of roots adds to a variance. r5 and r6 are kept unless they are named.

/// Moments of tanh: r0 has the mean, r1 the variance's mantissa. Leaves mean and variance in the registers named; uses r0, r1, r4 and
/// r7 to r11.
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

/// Moments of tanh of a cell, whose variance is in r6 and has no shift; leaves them in r5 and r6.
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

/// The rest of both, from v + 5/8 in r4, normal, and its octave in r8.
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

/// σ from tanh of half the argument, in place, 15 bits.
macro_rules! sigmoid_mean {
    ($gate:literal) => {
        concat!(
            "add     ", $gate, ", ", $gate, ", #0x10000000\n",
            "asr     ", $gate, ", ", $gate, ", #14\n",
        )
    };
}

/// σ ⊙ y (`cells::lstm::gated`), from mean and variance of a gate as tanh, and of y. Leaves the mean with 30 fractional bits and the
/// variance in the registers named last; uses all that are named, r7 and r8.
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
