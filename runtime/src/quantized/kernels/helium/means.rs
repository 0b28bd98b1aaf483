//! Layers without variances.

use super::super::super::format::QuantizedView;
use crate::spec::Architecture;
use super::super::input::QuantizedInput;
use super::super::layer_args::LayerArgs;
use super::moments::mean_tanh_four;
use super::turns::layer;

/// Replaces units of an Elman layer by tanh of the means of their rows, as many as a kernel can, and returns
/// how many: a multiple of four.
#[inline(always)]
pub(in crate::quantized) fn tanh_means<A: Architecture>(map: &QuantizedView<'_, A>, input: &QuantizedInput<'_>, h: &mut [f32]) -> usize {
    let units = h.len() / 4 * 4;
    let h = h.get_mut(..units).unwrap_or_default();
    match LayerArgs::of_means(map, input, units / 4, h, &mut []) {
        // SAFETY: `LayerArgs::of_means` has compared all lengths for `units / 4` groups of rows, each of
        // which writes four units. Any contents will do: what selects an entry of a table is limited first.
        Some(args) => unsafe { tanh_means_layer(args) },
        None => return 0,
    }
    units
}

/// Replaces units and means of cells of an LSTM layer by their next state; `None` if no kernel can.
#[inline(always)]
pub(in crate::quantized) fn lstm_means<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) -> Option<()> {
    let units = h.len();
    let args = LayerArgs::of_means(map, input, units, h, cells.get_mut(..units)?)?;
    // SAFETY: `LayerArgs::of_means` has compared all lengths for `units` groups of rows, each of which writes
    // one unit and one cell. Contents: as in `tanh_means`.
    unsafe { lstm_means_layer(args) };
    Some(())
}

/// What [`mean_tanh_four`] reads: the cells of the table where ρ is largest.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | r5, r7, r8 |
/// | clobbered | none |
macro_rules! mean_tables {
    () => {
        concat!(
            "ldr     r5, [sp, #({tables} + 12)]\n",
            "add     r5, r5, #7168\n",
            "add     r7, r5, #8\n",
            "add     r8, r5, #12\n",
        )
    };
}

/// Writes tanh of row `$row` of every group as units' words, without variance.
///
/// | registers | |
/// |---|---|
/// | in | the frame; what [`mean_tanh_four`] reads; VPR: groups that are there |
/// | clobbered | q0 to q7, lr |
macro_rules! unit {
    ($row:literal, $sum:ident) => {
        concat!(
            mean_row!($row, $sum),
            "bl      {mean_tanh_four}\n",
            "vshr.s32 q0, q0, #13\n",
            "vmovlb.u16 q0, q0\n",
            "vldrw.u32 q1, [sp, #{first}]\n",
            "vpst\n",
            "vstrwt.32 q0, [q1, #(4 * ", $row, ")]\n",
        )
    };
}

/// Turns the sums of up to four groups into units.
#[unsafe(naked)]
unsafe extern "C" fn finish_tanh() {
    frame_asm!(
        "str     lr, [sp, #{return_to}]",
        "ldr     r0, [sp, #{left}]",
        "vctp.32 r0",
        unit_addresses!(),
        mean_tables!(),
        unit!("0", upper),
        unit!("1", lower),
        unit!("2", upper),
        unit!("3", lower),
        "ldr     pc, [sp, #{return_to}]";
        units;
        mean_tanh_four = mean_tanh_four
    )
}

/// Mean of tanh of row `$row` of every group, in q0.
macro_rules! gate {
    ($row:literal, $sum:ident) => {
        concat!(mean_row!($row, $sum), "bl      {mean_tanh_four}\n")
    };
}

/// Mean of σ from that of tanh of half the argument, 15 bits.
macro_rules! sigmoid_mean {
    () => {
        concat!("vadd.i32 q0, q0, r9\n", "vshr.s32 q0, q0, #14\n")
    };
}

/// Turns the sums of up to four groups into units and cells (`cells::lstm::deterministic_unit_step`).
#[unsafe(naked)]
unsafe extern "C" fn finish_lstm() {
    frame_asm!(
        "str     lr, [sp, #{return_to}]",
        "ldr     r0, [sp, #{left}]",
        "vctp.32 r0",
        mean_tables!(),
        "mov     r9, #0x10000000",
        // What the input gate adds.
        gate!("2", upper),
        "vshr.s32 q0, q0, #13",
        "vstrw.32 q0, [sp, #{first}]",
        gate!("0", upper),
        sigmoid_mean!(),
        "vldrw.u32 q1, [sp, #{first}]",
        "vmul.i32 q0, q0, q1",
        "vshr.s32 q0, q0, #10",
        "vstrw.32 q0, [sp, #{first}]",
        // What the forget gate keeps.
        gate!("1", lower),
        sigmoid_mean!(),
        "ldr     r11, [sp, #{lstm_cells}]",
        "movs    r0, #0",
        "vidup.u32 q7, r0, #8",
        "vadd.i32 q7, q7, r11",
        "vpst",
        "vldrwt.u32 q2, [q7]",
        "vshl.i32 q0, q0, #16",
        "vldrw.u32 q1, [sp, #{first}]",
        "vmulh.s32 q2, q2, q0",
        "vshl.i32 q2, q2, #1",
        "vadd.i32 q2, q2, q1",
        "vqshl.s32 q2, q2, #7",
        "vshr.s32 q2, q2, #7",
        "vpst",
        "vstrwt.32 q2, [q7]",
        "adds    r11, #32",
        "str     r11, [sp, #{lstm_cells}]",
        // What the output gate lets through.
        "vshr.s32 q0, q2, #6",
        "bl      {mean_tanh_four}",
        "vshr.s32 q0, q0, #13",
        "vstrw.32 q0, [sp, #{first}]",
        gate!("3", lower),
        sigmoid_mean!(),
        "vldrw.u32 q1, [sp, #{first}]",
        "vmul.i32 q0, q0, q1",
        "vshr.s32 q0, q0, #15",
        "vmovlb.u16 q0, q0",
        "ldr     r11, [sp, #{units}]",
        "vpst",
        "vstrwt.32 q0, [r11], #16",
        "str     r11, [sp, #{units}]",
        "ldr     pc, [sp, #{return_to}]";
        units, lstm_cells;
        mean_tanh_four = mean_tanh_four
    )
}

/// Replaces units of an Elman layer by tanh of the means of their rows.
///
/// # Safety
/// The pointers must cover as many groups of rows as there are fours of units, each of as many blocks as
/// there are activations for, at addresses that are multiples of four (`LayerArgs::of_means` compares all
/// lengths).
#[unsafe(naked)]
unsafe extern "C" fn tanh_means_layer(args: LayerArgs<'_>) {
    mve_asm!(enter!("4"); finish = sym finish_tanh, layer = sym layer)
}

/// Replaces units and means of cells of an LSTM layer by their next state.
///
/// # Safety
/// As [`tanh_means_layer`], with a group of rows and a cell for each unit.
#[unsafe(naked)]
unsafe extern "C" fn lstm_means_layer(args: LayerArgs<'_>) {
    mve_asm!(enter!("2"); finish = sym finish_lstm, layer = sym layer)
}
