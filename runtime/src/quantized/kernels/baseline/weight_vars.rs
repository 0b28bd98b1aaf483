//! The variance of four rows' pre-activations that is due to the variances of weights.

use core::arch::naked_asm;
use core::mem::offset_of;

use super::blocks::{sums_of_blocks, sums_of_pairs};
use super::moments::scale_sums;
use crate::quantized::kernels::weight_var_args::WeightVarArgs;

/// Adds Σ m̃² τ + τ_b of the next four rows to Σ ṽ (μ² + τ), as `cells::group` defines it.
///
/// | registers | |
/// |---|---|
/// | in | r0: four mantissas of Σ ṽ (μ² + τ); r1: variances; r2: blocks, 0 if pairs are listed; r3: [`WeightVarArgs`]; lr: where to return |
/// | out | behind r0: mantissas of all terms; stream and lists of the arguments: the next four rows |
/// | clobbered | r0 to r12, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. There must be variances, four words to each block, as many
/// squared means at the distance in the arguments, and in the stream as many blocks, or two words for each
/// byte of the next list, with four scales and four variances behind them.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn weight_var_terms() {
    naked_asm!(
        // At sp: four sums, the mantissas, the arguments, a word that keeps sp a multiple of eight, lr.
        "push    {{r2, lr}}",
        "push    {{r0, r3}}",
        "sub     sp, #16",
        "ldr     r0, [r3, #{to_squares}]",
        "adds    r1, r1, r0",
        "ldr     r0, [r3, #{stream}]",
        "cmp     r2, #0",
        "beq     4f",
        "bl      {sums_of_blocks}",
        "3:",
        "mov     r1, sp",
        "stm     r1!, {{r4-r7}}",
        "mov     r1, sp",
        "bl      {scale_sums}",
        "ldr     r3, [sp, #20]",
        "movs    r1, r0",
        "adds    r1, #16",
        "str     r1, [r3, #{stream}]",
        "ldrb    r4, [r3, #{vars}]",
        "ldrb    r5, [r3, #{squares}]",
        "ldrb    r6, [r3, #{biases}]",
        "ldr     r1, [sp, #16]",
        // r0: variances of biases; r1: mantissas; r7: sums, up to what lies above.
        "mov     r7, sp",
        "2:",
        "ldmia   r0!, {{r2}}",
        "lsrs    r2, r6",
        "ldmia   r7!, {{r3}}",
        "lsrs    r3, r5",
        "adds    r2, r2, r3",
        "ldr     r3, [r1]",
        "lsrs    r3, r4",
        "adds    r2, r2, r3",
        "stmia   r1!, {{r2}}",
        "add     r3, sp, #16",
        "cmp     r7, r3",
        "bne     2b",
        "add     sp, #24",
        "pop     {{r2, pc}}",
        "4:",
        "ldr     r2, [r3, #{list}]",
        "ldr     r4, [r3, #{ends}]",
        "ldmia   r4!, {{r5}}",
        "str     r4, [r3, #{ends}]",
        "ldr     r4, [r3, #{indices}]",
        "adds    r5, r5, r4",
        "str     r5, [r3, #{list}]",
        "movs    r3, r5",
        "bl      {sums_of_pairs}",
        "b       3b",
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
        scale_sums = sym scale_sums,
    )
}
