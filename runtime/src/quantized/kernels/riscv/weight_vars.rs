//! The variance of four rows' pre-activations that is due to the variances of weights.

use core::mem::offset_of;

use super::blocks::{sums_of_blocks, sums_of_pairs};
use crate::quantized::kernels::weight_var_args::WeightVarArgs;

/// Adds what weight variances contribute to the mantissa of a row, `$place` bytes behind sp.
///
/// | registers | |
/// |---|---|
/// | in | a0: scales and variances of biases; `$sum`: Σ m̃² τ; t1 to t3: shifts of Σ ṽ (μ² + τ), Σ m̃² τ and τ_b |
/// | out | none |
/// | clobbered | `$sum`, t0, t4 |
macro_rules! add_terms {
    ($sum:literal, $place:literal, $bias:literal) => {
        concat!(
            "lw      t0, ", $place, "(a0)\n",
            "lw      t4, ", $bias, "(a0)\n",
            "mulh    ", $sum, ", ", $sum, ", t0\n",
            "lw      t0, 16+", $place, "(sp)\n",
            "srl     ", $sum, ", ", $sum, ", t2\n",
            "srl     t4, t4, t3\n",
            "srl     t0, t0, t1\n",
            "add     ", $sum, ", ", $sum, ", t4\n",
            "add     ", $sum, ", ", $sum, ", t0\n",
            "sw      ", $sum, ", 16+", $place, "(sp)\n",
        )
    };
}

/// Adds Σ m̃² τ + τ_b of the next four rows to Σ ṽ (μ² + τ), as `cells::group` defines it.
///
/// | registers | |
/// |---|---|
/// | in | a7: [`WeightVarArgs`]; s3: bytes of activations; s4: variances; the frame of a layer: mantissas of Σ ṽ (μ² + τ) |
/// | out | the frame: mantissas of all terms; stream and lists of the arguments: the next four rows |
/// | clobbered | a0 to a6, t0 to t5 |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. There must be variances, a multiple of four words, as many
/// squared means at the distance in the arguments, and in the stream as many blocks, or two words for each
/// byte of the next list, with four scales and four variances behind them.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn weight_var_terms() {
    riscv_asm!(
        "addi    sp, sp, -16",
        "sw      ra, 0(sp)",
        "lw      a0, {stream}(a7)",
        "lw      a1, {to_squares}(a7)",
        "add     a1, a1, s4",
        "lw      t0, {ends}(a7)",
        "bnez    t0, 4f",
        "add     a2, a1, s3",
        "call    {sums_of_blocks}",
        "3:",
        "lbu     t1, {vars}(a7)",
        "lbu     t2, {squares}(a7)",
        "lbu     t3, {biases}(a7)",
        add_terms!("a3", "0", "16"),
        add_terms!("a4", "4", "20"),
        add_terms!("a5", "8", "24"),
        add_terms!("a6", "12", "28"),
        "addi    a0, a0, 32",
        "sw      a0, {stream}(a7)",
        "lw      ra, 0(sp)",
        "addi    sp, sp, 16",
        "ret",
        "4:",
        "sw      a7, 4(sp)",
        "lw      t1, 0(t0)",
        "addi    t0, t0, 4",
        "sw      t0, {ends}(a7)",
        "lw      t0, {indices}(a7)",
        "lw      a2, {list}(a7)",
        "add     t1, t1, t0",
        "sw      t1, {list}(a7)",
        "mv      a7, t1",
        "call    {sums_of_pairs}",
        "lw      a7, 4(sp)",
        "j       3b";
        stream = const offset_of!(WeightVarArgs, stream),
        to_squares = const offset_of!(WeightVarArgs, to_squares),
        vars = const offset_of!(WeightVarArgs, terms.vars),
        squares = const offset_of!(WeightVarArgs, terms.squares),
        biases = const offset_of!(WeightVarArgs, terms.biases),
        list = const offset_of!(WeightVarArgs, lists.list),
        ends = const offset_of!(WeightVarArgs, lists.ends),
        indices = const offset_of!(WeightVarArgs, lists.indices),
        sums_of_blocks = sym sums_of_blocks,
        sums_of_pairs = sym sums_of_pairs,
    )
}
