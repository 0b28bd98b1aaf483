//! The variance of four groups' pre-activations that is due to the variances of weights.

use core::mem::offset_of;

use super::super::weight_var_args::WeightVarArgs;
use super::blocks::group_sums;

/// Row `$row` of every group: Σ m̃² τ + τ_b, brought to the exponent of all terms, to the frame.
///
/// | registers | |
/// |---|---|
/// | in | `$sum`: 256 times the sums; q7: addresses of scales; r2, r3: shifts of both terms, negated |
/// | out | the frame |
/// | clobbered | `$sum`, q4, q5 |
macro_rules! term {
    ($row:literal, $sum:literal) => {
        concat!(
            "vldrw.u32 q4, [q7, #(4 * ", $row, ")]\n",
            "vldrw.u32 q5, [q7, #(16 + 4 * ", $row, ")]\n",
            "vmulh.s32 ", $sum, ", ", $sum, ", q4\n",
            "vshl.u32 q5, r3\n",
            "vshl.u32 ", $sum, ", r2\n",
            "vadd.i32 ", $sum, ", ", $sum, ", q5\n",
            "vstrw.32 ", $sum, ", [sp, #({terms} + 16 * ", $row, ")]\n",
        )
    };
}

/// Terms of the next groups of rows, up to four, as `cells::group` defines them.
///
/// | registers | |
/// |---|---|
/// | in | r1: [`WeightVarArgs`]; the frame |
/// | out | the frame: terms, and the shift of the other one; the stream of the arguments: behind the groups |
/// | clobbered | r0 to r12, lr, q0 to q7, VPR, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. The stream must hold as many blocks as there are variances
/// for, with four scales and four variances of biases behind them, and as many squared means must follow at
/// the distance in the arguments.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn weight_var_four() {
    frame_asm!(
        // Two groups a turn; an odd one is summed twice. In the first vector of the frame: where to return,
        // groups done, arguments.
        "movs    r2, #0",
        "add     r3, sp, #{first}",
        "str     lr, [r3]",
        "strd    r2, r1, [r3, #4]",
        "ldr     r1, [r1]",
        "5:",
        "ldr     r0, [sp, #{left}]",
        "ldrd    r2, r9, [sp, #({first} + 4)]",
        "ldr     r3, [sp, #{strides}]",
        "adds    r2, #1",
        "cmp     r2, r0",
        "it      ge",
        "movge   r3, #0",
        "add     r3, r3, r1",
        "ldr     r9, [r9, #{to_squares}]",
        "ldrd    r5, r7, [sp, #({input} + 8)]",
        "add     r5, r5, r9",
        "add     r7, r7, r9",
        "ldr     r9, [sp, #{entry}]",
        "bl      {group_sums}",
        "ldr     r7, [sp, #({first} + 4)]",
        "add     r5, sp, #{terms}",
        "add     r5, r5, r7, lsl #4",
        "stm     r5, {{r0, r2, r4, r6, r8, r10, r12, lr}}",
        "adds    r7, #2",
        "str     r7, [sp, #({first} + 4)]",
        "add     r1, r3, #32",
        "ldr     r0, [sp, #{left}]",
        "cmp     r0, #4",
        "it      gt",
        "movgt   r0, #4",
        "cmp     r7, r0",
        "blt     5b",
        // Addresses of scales; zeros for groups that are not there.
        "vctp.32 r0",
        "ldr     r9, [sp, #({first} + 8)]",
        "ldr     r2, [r9]",
        "str     r1, [r9]",
        "ldr     r3, [sp, #{strides}]",
        "movs    r0, #0",
        "vidup.u32 q7, r0, #1",
        "vmul.i32 q7, q7, r3",
        "add     r2, r2, r3",
        "subs    r2, #32",
        "vadd.i32 q7, q7, r2",
        "add     r2, sp, #{zeros}",
        "vdup.32 q6, r2",
        "vpsel   q7, q7, q6",
        "vldrw.u32 q6, [sp, #{sums_at}]",
        "vldrw.u32 q0, [q6, #({terms} - {sums})]",
        "vldrw.u32 q1, [q6, #({terms} - {sums} + 4)]",
        "vldrw.u32 q2, [q6, #({terms} - {sums} + 8)]",
        "vldrw.u32 q3, [q6, #({terms} - {sums} + 12)]",
        "vsub.i32 q0, q0, q1",
        "vsub.i32 q2, q2, q3",
        "vshl.i32 q1, q1, #8",
        "vshl.i32 q3, q3, #8",
        "ldrb    r2, [r9, #{shift_squares}]",
        "ldrb    r3, [r9, #{shift_biases}]",
        "ldrb    r4, [r9, #{shift_vars}]",
        "rsbs    r2, r2, #0",
        "rsbs    r3, r3, #0",
        "rsbs    r4, r4, #0",
        "str     r4, [sp, #{term_shift}]",
        term!("0", "q0"),
        term!("1", "q1"),
        term!("2", "q2"),
        term!("3", "q3"),
        "ldr     pc, [sp, #{first}]";
        ;
        group_sums = group_sums;
        ;
        to_squares = offset_of!(WeightVarArgs, to_squares),
        shift_vars = offset_of!(WeightVarArgs, terms.vars),
        shift_squares = offset_of!(WeightVarArgs, terms.squares),
        shift_biases = offset_of!(WeightVarArgs, terms.biases)
    )
}
