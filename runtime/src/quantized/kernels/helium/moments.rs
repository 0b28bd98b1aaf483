//! Moments of four numbers at a time: `moments::tanh` in 40 instructions.

/// Moments of tanh of four pre-activations.
///
/// | registers | |
/// |---|---|
/// | in | q0: means; q1: mantissas of variances, not negative; r2: shift, negated; r3: 5/8 with that shift |
/// | in | r4: table of roots, from the octave of the shift on; r5 to r8: the four words of the table's first cell |
/// | out | q0: means; q1: variances |
/// | clobbered | q2 to q7 |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. Mantissas must lie in 0 to 2³⁰ − 1, for they select an
/// entry of the table of roots.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn tanh_four() {
    mve_asm!(
        "vadd.i32 q2, q1, r3",
        "vclz.i32 q3, q2",
        "vshl.u32 q2, q2, q3",
        // Five bits below the highest one, and the leading zeros above them.
        "vshr.u32 q4, q2, #26",
        "vsli.32 q4, q3, #5",
        "vldrw.u32 q3, [r4, q4, uxtw #2]",
        "vshr.u32 q2, q2, #11",
        "vbic.i32 q2, #0x8000",
        "vmullb.s16 q4, q3, q2",
        "vadd.i32 q3, q3, q4             @ rho, in the upper half",
        "vshllt.s16 q2, q3, #16",
        "vmulh.s32 q0, q0, q2            @ tau",
        "vshr.s32 q4, q0, #31",
        "veor    q0, q0, q4",
        "vqmovnb.s32 q3, q0              @ size, in the lower half",
        // The cell's place: three bits of rho, six bits of size, times 16.
        "vshl.i32 q0, q3, #17",
        "vshr.u32 q5, q3, #18",
        "vsri.32 q5, q0, #22",
        "vbic.i32 q5, #15",
        "vldrw.u32 q0, [r7, q5]          @ slopes by tau",
        "vldrw.u32 q2, [r8, q5]          @ slopes by rho",
        "vldrw.u32 q6, [r5, q5]",
        "vldrw.u32 q7, [r6, q5]",
        "vmullb.s16 q5, q0, q3",
        "vadd.i32 q6, q6, q5",
        "vmullt.s16 q5, q2, q3",
        "vadd.i32 q7, q7, q5",
        "vrev32.16 q3, q3",
        "vmullt.s16 q5, q0, q3",
        "vadd.i32 q7, q7, q5             @ ratio",
        "vmullb.s16 q5, q2, q3",
        "vadd.i32 q6, q6, q5             @ magnitude of the mean",
        "vshllb.s16 q3, q3, #16",
        "vmulh.s32 q7, q7, q3",
        "vmulh.s32 q7, q7, q3",
        "vshl.i32 q7, q7, #7",
        "veor    q0, q6, q4",
        "vmulh.u32 q1, q1, q7",
        "vshl.u32 q1, r2",
        "bx      lr";
    )
}

/// tanh of four deterministic pre-activations (`moments::deterministic_tanh`).
///
/// | registers | |
/// |---|---|
/// | in | q0: means; r5, r7, r8: first, third and fourth word of the table's first cell where ρ is largest |
/// | out | q0 |
/// | clobbered | q1 to q5 |
///
/// # Safety
/// Called by kernels alone, not by the rules of C.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn mean_tanh_four() {
    mve_asm!(
        "vshr.s32 q0, q0, #1             @ tau",
        "vshr.s32 q4, q0, #31",
        "veor    q0, q0, q4",
        // Limited to 15 bits, in the upper ones.
        "vqshlu.s32 q0, q0, #17",
        "vshr.u32 q5, q0, #22",
        "vbic.i32 q5, #15",
        "vshr.u32 q0, q0, #17            @ size",
        "vldrw.u32 q1, [r5, q5]",
        "vldrw.u32 q2, [r7, q5]          @ slope by tau",
        "vldrw.u32 q3, [r8, q5]          @ slope by rho",
        "vmov.i32 q5, #0x7FFF",
        "vmullb.s16 q2, q2, q0",
        "vmullb.s16 q3, q3, q5",
        "vadd.i32 q1, q1, q2",
        "vadd.i32 q1, q1, q3",
        "veor    q0, q1, q4",
        "bx      lr";
    )
}
