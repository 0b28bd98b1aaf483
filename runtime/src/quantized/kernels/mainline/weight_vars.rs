//! The variance of four rows' pre-activations that is due to the variances of weights, as in
//! `dsp::weight_vars`, without DSP instructions.

use super::super::weight_var_args::{WeightVarArgs, add_terms, weight_var_asm};

/// Adds Σ m̃² τ + τ_b of the next four rows to Σ ṽ (μ² + τ), as `cells::group` defines it.
///
/// | registers | |
/// |---|---|
/// | in | r1: [`WeightVarArgs`]; r2, r3: variances and their end; r4 to r7: mantissas of Σ ṽ (μ² + τ) |
/// | out | r4 to r7: mantissas of all terms; stream and lists of the arguments: the next four rows |
/// | clobbered | r0 to r3, r8 to r12, lr, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. There must be variances, a multiple of four words, as many
/// squared means at the distance in the arguments, and in the stream as many blocks, or two words for each
/// byte of the next list, with four scales and four variances behind them.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn weight_var_terms<const LISTS: bool>() {
    weight_var_asm!(
        mainline_asm,
        "push    {{r1, r4-r7, lr}}",
        ".if     {lists}",
        "ldrd    r4, r5, [r1, #{ends}]   @ ends, and the first list",
        "cmp     r4, #0",
        "bne.w   4f",
        ".endif",
        "ldrd    r0, r1, [r1]            @ stream, to_squares",
        "add     r2, r2, r1",
        "add     r3, r3, r1",
        "mov     r1, r2",
        "mov     r2, r3",
        "sub     r3, r2, r1",
        no_sums!(),
        "lsrs    r3, r3, #5              @ carry: an odd number of blocks",
        "bcs.w   5f",
        rows!("2", "5", "2b", "21"),
        "3:",
        "ldr     r1, [sp]",
        "ldmia   r0!, {{r2, r3, r8-r12, lr}}  @ scales and variances of biases",
        "str     r0, [r1]",
        "smull   r0, r4, r4, r2",
        "smull   r0, r5, r5, r3",
        "smull   r0, r6, r6, r8",
        "smull   r0, r7, r7, r9",
        add_terms!(),
        ".if     {lists}",
        "4:",
        "ldr     r8, [r1, #{list}]",
        "ldr     r9, [r4], #4",
        "str     r4, [r1, #{ends}]",
        "add     r9, r9, r5",
        "str     r9, [r1, #{list}]",
        "ldrd    r0, r1, [r1]",
        "add     r1, r1, r2",
        "mov     r2, r8",
        no_sums!(),
        "bl      75f",
        row_sums!(),
        "b.w     3b",
        listed_sums!(),
        ".endif",
    )
}
