//! Sums over blocks of four rows and eight columns: 105 instructions for 32 multiply-accumulates.

use crate::quantized::kernels::portable::Sums;

/// One column of four rows, halfwords `$upper` and `$lower` bytes behind a0, times the activation `$x` bytes
/// behind a1.
///
/// | registers | |
/// |---|---|
/// | in | a0: weights; a1: activations; a3 to a6: sums so far |
/// | out | a3, a5: 256·S_A + S_B of either pair of rows; a4, a6: S_B |
/// | clobbered | t0 to t4 |
macro_rules! column {
    ($upper:literal, $lower:literal, $x:literal) => {
        concat!(
            "lh      t0, ", $x, "(a1)\n",
            column_of!($upper, $lower),
        )
    };
}

/// The same with the activation in t0.
macro_rules! column_of {
    ($upper:literal, $lower:literal) => {
        concat!(
            "lh      t1, ", $upper, "(a0)\n",
            "lb      t2, ", $upper, "(a0)\n",
            "lh      t3, ", $lower, "(a0)\n",
            "lb      t4, ", $lower, "(a0)\n",
            "mul     t1, t1, t0\n",
            "mul     t2, t2, t0\n",
            "mul     t3, t3, t0\n",
            "mul     t4, t4, t0\n",
            "add     a3, a3, t1\n",
            "add     a4, a4, t2\n",
            "add     a5, a5, t3\n",
            "add     a6, a6, t4\n",
        )
    };
}

/// Sums that begin at 0.
///
/// | registers | |
/// |---|---|
/// | in | none |
/// | out | a3 to a6: 0 |
/// | clobbered | none |
macro_rules! no_sums {
    () => {
        concat!("li      a3, 0\n", "li      a4, 0\n", "li      a5, 0\n", "li      a6, 0\n")
    };
}

/// The sums of four rows from those of their pairs.
///
/// | registers | |
/// |---|---|
/// | in | a3, a5: 256·S_A + S_B of either pair of rows; a4, a6: S_B |
/// | out | a3 to a6: 256 times each sum |
/// | clobbered | none |
macro_rules! row_sums {
    () => {
        concat!(
            "sub     a3, a3, a4\n",
            "slli    a4, a4, 8\n",
            "sub     a5, a5, a6\n",
            "slli    a6, a6, 8\n",
        )
    };
}

/// 256 × Σ w x for four rows, two blocks a turn; an odd number of them is entered in the middle.
///
/// | registers | |
/// |---|---|
/// | in | a0: weights; a1: activations; a2: their end; ra: where to return |
/// | out | a0: behind the weights; a3 to a6: 256 times each sum |
/// | clobbered | a1, t0 to t4 |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. `a2 - a1` must be a multiple of 16, not 0, and two bytes
/// of weights must follow a0 for each byte of activations.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sums_of_blocks() {
    riscv_asm!(
        no_sums!(),
        "sub     t0, a2, a1",
        "andi    t0, t0, 16              # an odd number of blocks",
        "beqz    t0, 2f",
        "addi    a0, a0, -32",
        "addi    a1, a1, -16",
        "j       3f",
        "2:",
        column!("0", "4", "0"),
        column!("2", "6", "2"),
        column!("8", "12", "4"),
        column!("10", "14", "6"),
        column!("16", "20", "8"),
        column!("18", "22", "10"),
        column!("24", "28", "12"),
        column!("26", "30", "14"),
        "3:",
        column!("32", "36", "16"),
        column!("34", "38", "18"),
        column!("40", "44", "20"),
        column!("42", "46", "22"),
        column!("48", "52", "24"),
        column!("50", "54", "26"),
        column!("56", "60", "28"),
        column!("58", "62", "30"),
        "addi    a0, a0, 64",
        "addi    a1, a1, 32",
        "bne     a1, a2, 2b",
        row_sums!(),
        "ret";
    )
}

/// 256 × Σ w x for four rows over the pairs of a list.
///
/// | registers | |
/// |---|---|
/// | in | a0: weights; a1: activations; a2: list; a7: its end; ra: where to return |
/// | out | a0: behind the weights; a3 to a6: 256 times each sum |
/// | clobbered | a2, t0 to t5 |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. Two words must follow a0 for each byte of the list, which
/// must be below the number of words that follow a1.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn sums_of_pairs() {
    riscv_asm!(
        no_sums!(),
        "beq     a2, a7, 3f",
        "2:",
        "lbu     t5, 0(a2)",
        "addi    a2, a2, 1",
        "slli    t5, t5, 2",
        "add     t5, t5, a1",
        "lh      t0, 0(t5)",
        column_of!("0", "4"),
        "lh      t0, 2(t5)",
        column_of!("2", "6"),
        "addi    a0, a0, 8",
        "bne     a2, a7, 2b",
        "3:",
        row_sums!(),
        "ret";
    )
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
    riscv_asm!(
        "mv      t5, ra",
        "mv      t6, a3",
        "slli    a2, a2, 4",
        "add     a2, a2, a1",
        "call    {sums_of_blocks}",
        "sw      a3, 0(t6)",
        "sw      a4, 4(t6)",
        "sw      a5, 8(t6)",
        "sw      a6, 12(t6)",
        "jr      t5";
        sums_of_blocks = sym sums_of_blocks,
    )
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
    riscv_asm!(
        "mv      t6, a4",
        "add     a7, a2, a3",
        "addi    sp, sp, -16",
        "sw      ra, 0(sp)",
        "call    {sums_of_pairs}",
        "sw      a3, 0(t6)",
        "sw      a4, 4(t6)",
        "sw      a5, 8(t6)",
        "sw      a6, 12(t6)",
        "lw      ra, 0(sp)",
        "addi    sp, sp, 16",
        "ret";
        sums_of_pairs = sym sums_of_pairs,
    )
}
