//! Moments in assembler: `moments::tanh`, and products with gates. ⌊a·b / 2¹⁶⌋ is the upper half of a long
//! product with b in its upper half.

/// Moments of tanh (`moments::tanh`).
///
/// | registers | |
/// |---|---|
/// | in | a3: mean; a4: mantissa of the variance; ra: where to return |
/// | in, kept | s6: table of cells; s7: `ZEROS`; s8: 0x7FFF; a5: what the table of roots adds; a6: that table, moved by the shift; a7: the shift |
/// | out | a3, a4 |
/// | clobbered | a0, a1, t0 to t6 |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. The mantissa must lie in 0 to 2³⁰ − 1, and the shift in 0
/// to `LARGEST_SHIFT`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn tanh_moments() {
    riscv_asm!(
        "add     t0, a4, a5",
        "srli    t1, t0, 26",
        "seqz    t1, t1",
        "neg     t1, t1",
        "andi    t1, t1, 6",
        "sll     t0, t0, t1",
        "srli    t2, t0, 26",
        "add     t2, t2, s7",
        "lbu     t2, 0(t2)",
        "sll     t0, t0, t2              # v + 5/8, normalised",
        "add     t1, t1, t2              # its leading zeros",
        "srli    t2, t0, 26",
        "slli    t1, t1, 7",
        "slli    t2, t2, 2",
        "add     t1, t1, a6",
        "add     t1, t1, t2",
        "lw      t3, 0(t1)",
        "lh      t4, 0(t1)",
        "slli    t0, t0, 6",
        "srli    t0, t0, 17",
        "mul     t4, t4, t0",
        "add     t3, t3, t4",
        "srli    t3, t3, 16              # rho",
        "slli    t4, t3, 16              # and in the upper half",
        "mulh    a3, a3, t4              # tau",
        "srai    t5, a3, 31",
        "xor     t0, a3, t5",
        "bgeu    s8, t0, 2f",
        "mv      t0, s8",
        "2:",
        "srli    t1, t0, 5",
        "andi    t1, t1, -16             # column",
        "srli    t2, t3, 12",
        "slli    t2, t2, 10              # row",
        "add     t1, t1, s6",
        "add     t1, t1, t2",
        "lw      t2, 0(t1)",
        "lw      t6, 4(t1)",
        "lh      a0, 8(t1)",
        "lh      a1, 10(t1)",
        "mul     a0, a0, t0",
        "mul     a1, a1, t0",
        "add     t2, t2, a0",
        "add     t6, t6, a1",
        "lh      a0, 12(t1)",
        "lh      a1, 14(t1)",
        "mul     a0, a0, t3",
        "mul     a1, a1, t3",
        "add     t2, t2, a0              # magnitude of the mean",
        "add     t6, t6, a1              # ratio",
        "mulh    t6, t6, t4",
        "mulh    t6, t6, t4",
        "slli    t6, t6, 7",
        "mulhu   a4, a4, t6",
        "srl     a4, a4, a7",
        "xor     a3, t2, t5",
        "ret";
    )
}

/// σ ⊙ y (`cells::lstm::gated`), from mean and variance of a gate as tanh, and of y.
///
/// | registers | |
/// |---|---|
/// | in | t0, t1: gate; a3, a4: y |
/// | out | t2: mean with 30 fractional bits; t3: variance |
/// | clobbered | t0, t4, a3, a4 |
macro_rules! gated {
    () => {
        concat!(
            sigmoid_mean!("t0", "t4"),
            "srai    a3, a3, 13\n",
            "mul     t3, a3, a3\n",
            "srli    t3, t3, 16\n",
            "srai    t2, a4, 6\n",
            "add     t3, t3, t2\n",
            "srli    t2, s8, 1               # 0x3FFF\n",
            "bgeu    t2, t3, 20f\n",
            "mv      t3, t2\n",
            "20:\n",
            "slli    t3, t3, 16\n",
            "mulh    t3, t1, t3\n",
            "mulh    a4, a4, t4\n",
            "mulh    a4, a4, t4\n",
            "mul     t2, a3, t0\n",
            "slli    a4, a4, 2\n",
            "add     t3, t3, a4\n",
        )
    };
}

/// Mean of σ from that of tanh of half the argument, 15 bits.
///
/// | registers | |
/// |---|---|
/// | in | `$mean`: mean of tanh |
/// | out | `$mean`: mean of σ; `$upper`: the same in its upper half |
/// | clobbered | none |
macro_rules! sigmoid_mean {
    ($mean:literal, $upper:literal) => {
        concat!(
            "lui     ", $upper, ", 0x10000\n",
            "add     ", $mean, ", ", $mean, ", ", $upper, "\n",
            "srai    ", $mean, ", ", $mean, ", 14\n",
            "slli    ", $upper, ", ", $mean, ", 16\n",
        )
    };
}
