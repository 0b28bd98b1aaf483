//! Whole layers in assembler: one turn for every four rows.

use core::mem::offset_of;

use super::blocks::{sums_of_blocks, sums_of_pairs};
use super::moments::tanh_moments;
use super::weight_vars::weight_var_terms;
use crate::quantized::kernels::layer_args::LayerArgs;
use crate::quantized::kernels::list_args::ListArgs;
use crate::quantized::kernels::zeros::ZEROS;

/// [`riscv_asm!`] with the offsets of a layer's arguments as operands of their names, and what layers call.
macro_rules! layer_asm {
    ($($line:expr),+ $(,)?) => {
        layer_asm!(@ $($line),+; weights, means, squares, vars, means_end, mean_blocks, shift, cells, roots, offset,
            units, units_end, lstm_cells, weight_vars)
    };
    (@ $($line:expr),+; $($field:ident),+) => {
        riscv_asm!(
            $($line),+;
            $($field = const offset_of!(LayerArgs<'_>, $field),)+
            list = const offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, list),
            list_end = const offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, list_end),
            ends = const offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, ends),
            indices = const offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, indices),
            zeros = sym ZEROS,
            sums_of_blocks = sym sums_of_blocks,
            sums_of_pairs = sym sums_of_pairs,
            weight_var_terms = sym weight_var_terms,
            tanh_moments = sym tanh_moments,
        )
    };
}

/// The unit of a row. The variance of tanh is below one.
///
/// | registers | |
/// |---|---|
/// | in | the frame; s10: units |
/// | out | none |
/// | clobbered | a0, a1, a3, a4, t0 to t6, ra |
macro_rules! unit_of_row {
    ($mean:literal, $var:literal) => {
        concat!(
            tanh_of_row!($mean, $var),
            "srai    a3, a3, 13\n",
            "srli    a4, a4, 4\n",
            "sh      a3, ", $var, "(s10)\n",
            "sh      a4, ", $var, "+2(s10)\n",
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
/// - the shift must be at most `LARGEST_SHIFT`, and what `roots` and `offset` were moved by
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
        "addi    s10, s10, 16",
        "bne     s10, s11, 4b",
        end!(),
        listed!(),
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
        "lw      t0, 16(sp)",
        "lw      t1, 0(sp)",
        gated!(),
        "srai    t2, t2, 10",
        // What the forget gate keeps.
        "lw      t0, 20(sp)",
        "lw      t1, 4(sp)",
        sigmoid_mean!("t0", "t4"),
        "lw      t5, 0(s0)",
        "lw      t6, 4(s0)",
        "srai    a3, t5, 10",
        "mul     a3, a3, a3",
        "add     a3, a3, t6",
        "srli    t1, t1, 5",
        "bgeu    s8, t1, 5f",
        "mv      t1, s8",
        "5:",
        "slli    t1, t1, 16",
        "mulh    a3, a3, t1",
        "mulh    t5, t5, t4",
        "mulh    t6, t6, t4",
        "mulh    t6, t6, t4",
        "slli    t5, t5, 1",
        "srai    a3, a3, 1",
        "slli    t6, t6, 2",
        "add     t5, t5, t2",
        "add     t6, t6, t3",
        "add     t6, t6, a3",
        // The cell's 25 bits, and 24 of its variance.
        "lui     t0, 0x1000              # one beyond the largest",
        "blt     t5, t0, 6f",
        "addi    t5, t0, -1",
        "6:",
        "neg     t1, t0",
        "bge     t5, t1, 7f",
        "mv      t5, t1",
        "7:",
        "bltu    t6, t0, 8f",
        "addi    t6, t0, -1",
        "8:",
        "sw      t5, 0(s0)",
        "sw      t6, 4(s0)",
        "addi    s0, s0, 8",
        // The cell's tanh, whose variance has no shift.
        "srai    a3, t5, 6",
        "mv      a4, t6",
        "slli    t0, a7, 7",
        "sub     a6, a6, t0",
        "lui     a5, 0xA0                # 5/8",
        "li      a7, 0",
        "call    {tanh_moments}",
        // What the output gate lets through.
        "lw      t0, 28(sp)",
        "lw      t1, 12(sp)",
        gated!(),
        "srai    t2, t2, 15",
        "srli    t3, t3, 4",
        "slli    t0, s8, 1",
        "addi    t0, t0, 1               # 0xFFFF",
        "bgeu    t0, t3, 9f",
        "mv      t3, t0",
        "9:",
        "sh      t2, 0(s10)",
        "sh      t3, 2(s10)",
        "addi    s10, s10, 4",
        "bne     s10, s11, 4b",
        end!(),
        listed!(),
    )
}
