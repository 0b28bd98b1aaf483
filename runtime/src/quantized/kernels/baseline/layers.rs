//! Whole layers in assembler: one turn for every four rows.

use core::arch::naked_asm;
use core::mem::offset_of;

use super::blocks::{sums_of_blocks, sums_of_pairs, sums_of_vars};
use super::moments::{scale_sums, tanh_moments};
use super::weight_vars::weight_var_terms;
use crate::quantized::kernels::layer_args::LayerArgs;
use crate::quantized::kernels::list_args::ListArgs;

/// Bytes of moments at the bottom of the frame: four variances, four means.
const MOMENTS: usize = 32;
/// Bytes between the frame's bottom and the arguments: moments, r8 to r11, r3 to r7 and lr.
const FRAME: usize = MOMENTS + 16 + 24;

const _: () = assert!((FRAME + 16).is_multiple_of(8), "sp stays aligned");

/// [`naked_asm!`] with the offsets of a layer's arguments from sp as operands of their names, and what layers
/// call: those that every layer reads, and `$also`.
macro_rules! layer_asm {
    ($($line:expr),+ $(,)?; $($also:ident),*) => {
        layer_asm!(@ $($line),+; weights, means, squares, vars, mean_blocks, shift, units, units_end,
            weight_vars, $($also),*)
    };
    (@ $($line:expr),+; $($field:ident),+ $(,)?) => {
        naked_asm!(
            $($line,)+
            $($field = const FRAME + offset_of!(LayerArgs<'_>, $field),)+
            list = const FRAME + offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, list),
            list_end = const FRAME + offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, list_end),
            ends = const FRAME + offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, ends),
            indices = const FRAME + offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, indices),
            sums_of_blocks = sym sums_of_blocks,
            sums_of_pairs = sym sums_of_pairs,
            weight_var_terms = sym weight_var_terms,
            sums_of_vars = sym sums_of_vars,
            scale_sums = sym scale_sums,
            tanh_moments = sym tanh_moments,
        )
    };
}

/// The unit of a row. The variance of tanh is below one.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | none |
/// | clobbered | r0 to r8, lr, flags |
macro_rules! unit_of_row {
    ($mean:literal, $var:literal) => {
        concat!(
            tanh_of_row!($mean, $var),
            "asrs    r0, r0, #13\n",
            "lsrs    r1, r1, #4\n",
            "ldr     r2, [sp, #{units}]\n",
            "strh    r0, [r2, #", $var, "]\n",
            "strh    r1, [r2, #", $var, "+2]\n",
        )
    };
}

/// Replaces units of an Elman layer by tanh of their rows.
///
/// # Safety
/// - the pointers must cover as many groups of rows as there are fours of units, each of as many blocks as
///   there are activations for, at addresses that are multiples of four (`LayerArgs::new` compares all
///   lengths)
/// - of listed pairs, the ends must be in order, none behind the last index, and every index below the number
///   of pairs of activations (`validate_pairs::check_form`)
/// - the shift must be at most `LARGEST_SHIFT`
/// - mantissas must lie in 0 to 2³⁰ − 1, for they select an entry of the table of roots: codes of squares and
///   scales of variances are not negative and sums are bounded by `SUM_LIMIT` (`validate::check_affine`),
///   codes of variances have `variance_bits` bits (`Activations::finish`); next to weight variances all
///   scales are so much smaller that the sum of three terms is in the same range (`weight_vars`)
///
/// The lists and the last are contents of flash: `Recheck` says whether they still are what was checked.
/// Means and units may have any bits; nothing of theirs selects an entry without being limited first.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn tanh_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: LayerArgs<'_>) {
    layer_asm!(
        begin!(),
        "4:",
        pre_activations!(),
        unit_of_row!("16", "0"),
        unit_of_row!("20", "4"),
        unit_of_row!("24", "8"),
        unit_of_row!("28", "12"),
        "adds    r2, #16",
        "str     r2, [sp, #{units}]",
        "ldr     r3, [sp, #{units_end}]",
        "cmp     r2, r3",
        "beq     8f",
        "b       4b",
        "8:",
        end!();
    )
}

/// Replaces units and cells of an LSTM layer by their next state.
///
/// # Safety
/// As [`tanh_layer`], with a group of rows and a cell for each unit. Variances of cells must lie in 0 to
/// `CELL_LIMIT`: they are zero at first, limited here, and checked when a state is restored
/// (`Model::check_state` checks them again).
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn lstm_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: LayerArgs<'_>) {
    layer_asm!(
        begin!(),
        "4:",
        pre_activations!(),
        replace_row!("16", "0"),
        replace_row!("20", "4"),
        replace_row!("28", "12"),
        tanh_of_row!("24", "8"),
        // What the input gate adds.
        "movs    r2, r0",
        "movs    r3, r1",
        "ldr     r0, [sp, #16]",
        "ldr     r1, [sp]",
        gated!(),
        "asrs    r0, r0, #10",
        "mov     r8, r0",
        "mov     r9, r1",
        // What the forget gate keeps.
        "ldr     r0, [sp, #20]",
        "ldr     r1, [sp, #4]",
        sigmoid_mean!(),
        "ldr     r6, [sp, #{lstm_cells}]",
        "ldr     r2, [r6]",
        "ldr     r3, [r6, #4]",
        "asrs    r4, r2, #10",
        "muls    r4, r4, r4",
        "adds    r4, r4, r3",
        "lsrs    r1, r1, #5",
        limit!("r1", "15", "r5"),
        mul_word!("r4", "r1", "r5"),
        "asrs    r4, r4, #1",
        mul_word!("r2", "r0", "r5"),
        "lsls    r2, r2, #1",
        mul_word!("r3", "r0", "r5"),
        mul_word!("r3", "r0", "r5"),
        "lsls    r3, r3, #2",
        "adds    r3, r3, r4",
        "add     r2, r8",
        "add     r3, r9",
        // The cell's 25 bits, and 24 of its variance.
        "movs    r4, #1",
        "lsls    r4, r4, #24             @ one beyond the largest",
        "cmp     r2, r4",
        "blt     5f",
        "subs    r2, r4, #1",
        "5:",
        "rsbs    r5, r4, #0",
        "cmp     r2, r5",
        "bge     6f",
        "movs    r2, r5",
        "6:",
        "cmp     r3, r4",
        "blo     7f",
        "subs    r3, r4, #1",
        "7:",
        "stmia   r6!, {{r2, r3}}",
        "str     r6, [sp, #{lstm_cells}]",
        // The cell's tanh, whose variance has no shift.
        "asrs    r0, r2, #6",
        "movs    r1, r3",
        "movs    r2, #0",
        "bl      {tanh_moments}",
        // What the output gate lets through.
        "movs    r2, r0",
        "movs    r3, r1",
        "ldr     r0, [sp, #28]",
        "ldr     r1, [sp, #12]",
        gated!(),
        "asrs    r0, r0, #15",
        "lsrs    r1, r1, #4",
        limit!("r1", "16", "r5"),
        "ldr     r2, [sp, #{units}]",
        "strh    r0, [r2]",
        "strh    r1, [r2, #2]",
        "adds    r2, #4",
        "str     r2, [sp, #{units}]",
        "ldr     r3, [sp, #{units_end}]",
        "cmp     r2, r3",
        "beq     8f",
        "b       4b",
        "8:",
        end!();
        lstm_cells
    )
}
