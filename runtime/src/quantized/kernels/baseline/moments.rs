//! Moments in assembler: `moments::tanh`, and products with gates.

use core::arch::naked_asm;

use crate::quantized::kernels::zeros::ZEROS;
use crate::quantized::moments::{CELLS, ROOTS};

/// ⌊a·b / 2¹⁶⌋ for a `b` of 15 bits, not negative: two short products (`arithmetic::mul_word`).
///
/// | registers | |
/// |---|---|
/// | in | `$a`, `$b` |
/// | out | `$a` |
/// | clobbered | `$other`, flags |
macro_rules! mul_word {
    ($a:literal, $b:literal, $other:literal) => {
        concat!(
            "asrs    ", $other, ", ", $a, ", #16\n",
            "muls    ", $other, ", ", $b, ", ", $other, "\n",
            "uxth    ", $a, ", ", $a, "\n",
            "muls    ", $a, ", ", $b, ", ", $a, "\n",
            "lsrs    ", $a, ", ", $a, ", #16\n",
            "adds    ", $a, ", ", $a, ", ", $other, "\n",
        )
    };
}

/// Moments of tanh (`moments::tanh`).
///
/// | registers | |
/// |---|---|
/// | in | r0: mean; r1: mantissa of the variance; r2: its shift; lr: where to return |
/// | out | r0: mean; r1: variance, not yet shifted |
/// | clobbered | r2 to r8, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. The mantissa must lie in 0 to 2³⁰ − 1, and the shift in 0
/// to `LARGEST_SHIFT`.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn tanh_moments() {
    naked_asm!(
        "movs    r3, #5",
        "lsls    r3, r3, #17",
        "lsls    r3, r2",
        "adds    r3, r3, r1",
        "movs    r4, r2",
        "lsrs    r5, r3, #26",
        "bne     2f",
        "lsls    r3, r3, #6",
        "adds    r4, #6",
        "2:",
        "ldr     r6, 90f",
        "lsrs    r5, r3, #26",
        "ldrb    r5, [r6, r5]",
        "lsls    r3, r5                  @ v + 5/8, normalised",
        "adds    r4, r4, r5              @ its leading zeros, and the shift",
        "lsls    r4, r4, #5",
        "lsrs    r5, r3, #26",
        "adds    r4, r4, r5",
        "lsls    r4, r4, #2",
        "ldr     r6, 91f",
        "ldr     r6, [r6, r4]",
        "sxth    r5, r6",
        "lsls    r3, r3, #6",
        "lsrs    r3, r3, #17",
        "muls    r5, r3, r5",
        "adds    r6, r6, r5",
        "lsrs    r6, r6, #16             @ rho",
        mul_word!("r0", "r6", "r3"),
        "asrs    r3, r0, #31             @ r0: tau",
        "eors    r0, r3",
        "lsrs    r5, r0, #15",
        "beq     3f",
        "ldr     r0, 92f",
        "3:",
        "lsrs    r4, r6, #12",
        "lsls    r4, r4, #10             @ row",
        "lsrs    r5, r0, #9",
        "lsls    r5, r5, #4              @ column",
        "adds    r4, r4, r5",
        "ldr     r5, 93f",
        "adds    r5, r5, r4",
        "mov     r8, r3",
        "ldm     r5, {{r2-r5}}",
        "sxth    r7, r4",
        "muls    r7, r0, r7",
        "adds    r2, r2, r7",
        "asrs    r4, r4, #16",
        "muls    r4, r0, r4",
        "adds    r3, r3, r4",
        "sxth    r7, r5",
        "muls    r7, r6, r7",
        "adds    r2, r2, r7              @ magnitude of the mean",
        "asrs    r5, r5, #16",
        "muls    r5, r6, r5",
        "adds    r3, r3, r5              @ ratio",
        "mov     r0, r8",
        "eors    r0, r2",
        mul_word!("r3", "r6", "r4"),
        mul_word!("r3", "r6", "r4"),
        "lsls    r3, r3, #7",
        // The upper half of a long product without signs; the mantissa has 30 bits.
        "uxth    r4, r1",
        "lsrs    r5, r1, #16",
        "uxth    r6, r3",
        "lsrs    r7, r3, #16",
        "movs    r2, r4",
        "muls    r2, r6, r2",
        "lsrs    r2, r2, #16",
        "muls    r6, r5, r6",
        "adds    r2, r2, r6",
        "uxth    r6, r2",
        "lsrs    r2, r2, #16",
        "muls    r4, r7, r4",
        "adds    r4, r4, r6",
        "lsrs    r4, r4, #16",
        "muls    r5, r7, r5",
        "adds    r2, r2, r4",
        "adds    r1, r2, r5",
        "bx      lr",
        ".p2align 2",
        "90: .word {zeros}",
        // The highest bit of a normal number counts an octave too many.
        "91: .word {roots} - 128",
        "92: .word 0x7FFF",
        "93: .word {cells}",
        zeros = sym ZEROS,
        roots = sym ROOTS,
        cells = sym CELLS,
    )
}

/// Scales a sum: ⌊a·b / 2³²⌋ by four short products.
///
/// | registers | |
/// |---|---|
/// | in | r0: scale; r1: sum |
/// | out | r0, r1: the next ones |
/// | clobbered | r2 to r6, flags |
macro_rules! scale_sum {
    () => {
        concat!(
            "ldmia   r0!, {{r3}}\n",
            "ldr     r2, [r1]\n",
            "asrs    r4, r2, #16\n",
            "uxth    r2, r2\n",
            "asrs    r5, r3, #16\n",
            "uxth    r3, r3\n",
            "movs    r6, r2\n",
            "muls    r6, r3, r6\n",
            "lsrs    r6, r6, #16\n",
            "muls    r3, r4, r3\n",
            "adds    r3, r3, r6\n",
            "muls    r2, r5, r2\n",
            "uxth    r6, r3\n",
            "adds    r2, r2, r6\n",
            "asrs    r2, r2, #16\n",
            "asrs    r3, r3, #16\n",
            "muls    r4, r5, r4\n",
            "adds    r4, r4, r3\n",
            "adds    r4, r4, r2\n",
            "stmia   r1!, {{r4}}\n",
        )
    };
}

/// Scales four sums.
///
/// | registers | |
/// |---|---|
/// | in | r0: scales; r1: sums; lr: where to return |
/// | out | r0, r1: behind them |
/// | clobbered | r2 to r6, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C. Four words must follow r0, and four r1.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn scale_sums() {
    naked_asm!(scale_sum!(), scale_sum!(), scale_sum!(), scale_sum!(), "bx      lr")
}

/// Mean of σ from that of tanh of half the argument, 15 bits.
///
/// | registers | |
/// |---|---|
/// | in | r0: mean of tanh |
/// | out | r0: mean of σ |
/// | clobbered | r4, flags |
macro_rules! sigmoid_mean {
    () => {
        concat!(
            "movs    r4, #1\n",
            "lsls    r4, r4, #28\n",
            "adds    r0, r0, r4\n",
            "asrs    r0, r0, #14\n",
        )
    };
}

/// A number without sign, limited to `$bits` bits.
///
/// | registers | |
/// |---|---|
/// | in | `$value` |
/// | out | `$value` |
/// | clobbered | `$other`, flags |
macro_rules! limit {
    ($value:literal, $bits:literal, $other:literal) => {
        concat!(
            "lsrs    ", $other, ", ", $value, ", #", $bits, "\n",
            "beq     20f\n",
            "movs    ", $value, ", #1\n",
            "lsls    ", $value, ", ", $value, ", #", $bits, "\n",
            "subs    ", $value, ", #1\n",
            "20:\n",
        )
    };
}

/// σ ⊙ y (`cells::lstm::gated`), from mean and variance of a gate as tanh, and of y.
///
/// | registers | |
/// |---|---|
/// | in | r0, r1: gate; r2, r3: y |
/// | out | r0: mean with 30 fractional bits; r1: variance |
/// | clobbered | r2 to r5, flags |
macro_rules! gated {
    () => {
        concat!(
            sigmoid_mean!(),
            "asrs    r2, r2, #13\n",
            "movs    r4, r2\n",
            "muls    r4, r2, r4\n",
            "lsrs    r4, r4, #16\n",
            "asrs    r5, r3, #6\n",
            "adds    r4, r4, r5\n",
            limit!("r4", "14", "r5"),
            mul_word!("r1", "r4", "r5"),
            mul_word!("r3", "r0", "r5"),
            mul_word!("r3", "r0", "r5"),
            "lsls    r3, r3, #2\n",
            "adds    r1, r1, r3\n",
            "muls    r0, r2, r0\n",
        )
    };
}
