//! LSTM layers: the gates of four units a turn.

use super::super::dsp;
use super::frame::{BLOCKS_AT_ENTRY, WEIGHT_VARS_AT_ENTRY};
use super::moments::tanh_four;
use super::turns::layer;
use crate::quantized::kernels::layer_args::LayerArgs;

/// Moments of tanh of row `$row` of every group, in q0 and q1; as [`row`].
macro_rules! gate {
    ($row:literal, $sum:ident) => {
        concat!(row!($row, $sum), "bl      {tanh_four}\n")
    };
}

/// Keeps tanh for a gate: its mean with 15 fractional bits, and its variance.
///
/// | registers | |
/// |---|---|
/// | in | q0, q1: mean and variance |
/// | out | the frame |
/// | clobbered | q0 |
macro_rules! keep {
    () => {
        concat!(
            "vshr.s32 q0, q0, #13\n",
            "vstrw.32 q0, [sp, #{first}]\n",
            "vstrw.32 q1, [sp, #{second}]\n",
        )
    };
}

/// σ ⊙ y (`cells::lstm::gated`), from mean and variance of a gate as tanh, and of what was kept.
///
/// | registers | |
/// |---|---|
/// | in | q0, q1: gate; r9: 2²⁸; the frame |
/// | out | q2: mean, 30 fractional bits; q3: variance |
/// | clobbered | q0, q1, q4 |
macro_rules! gated {
    () => {
        concat!(
            "vadd.i32 q0, q0, r9\n",
            "vldrw.u32 q2, [sp, #{first}]\n",
            "vldrw.u32 q3, [sp, #{second}]\n",
            "vshr.s32 q0, q0, #14\n",
            "vmul.i32 q4, q2, q2\n",
            "vmul.i32 q2, q2, q0\n",
            "vshl.i32 q0, q0, #16\n",
            "vshr.s32 q4, q4, #16\n",
            "vshr.s32 q5, q3, #6\n",
            "vadd.i32 q4, q4, q5\n",
            "vmov.i32 q5, #0x3FFF\n",
            "vmin.s32 q4, q4, q5\n",
            "vshl.i32 q4, q4, #16\n",
            "vmulh.s32 q3, q3, q0\n",
            "vmulh.s32 q3, q3, q0\n",
            "vmulh.s32 q4, q4, q1\n",
            "vshl.i32 q3, q3, #2\n",
            "vadd.i32 q3, q3, q4\n",
        )
    };
}

/// Turns the sums of up to four groups into units and cells.
#[unsafe(naked)]
unsafe extern "C" fn finish_four() {
    frame_asm!(
        "str     lr, [sp, #{return_to}]",
        "ldr     r0, [sp, #{left}]",
        "ldr     r1, [sp, #{weight_vars}]",
        "vctp.32 r0",
        "add     r10, sp, #{tables}",
        "ldm     r10, {{r2-r8}}",
        "mov     r9, #0x10000000",
        // What the input gate adds.
        gate!("2", upper),
        keep!(),
        gate!("0", upper),
        gated!(),
        "vshr.s32 q2, q2, #10",
        "vstrw.32 q2, [sp, #{first}]",
        "vstrw.32 q3, [sp, #{second}]",
        // What the forget gate keeps.
        gate!("1", lower),
        "vadd.i32 q0, q0, r9",
        "ldr     r11, [sp, #{lstm_cells}]",
        "movs    r0, #0",
        "vidup.u32 q7, r0, #8",
        "vadd.i32 q7, q7, r11",
        "vpstt",
        "vldrwt.u32 q2, [q7]",
        "vldrwt.u32 q3, [q7, #4]",
        "vshr.s32 q0, q0, #14",
        "vshl.i32 q0, q0, #16",
        "vshr.s32 q4, q2, #10",
        "vmul.i32 q4, q4, q4",
        "vadd.i32 q4, q4, q3",
        "vmov.i32 q5, #0",
        "vqshrnt.s32 q5, q1, #5",
        "vmulh.s32 q4, q4, q5",
        "vmulh.s32 q2, q2, q0",
        "vmulh.s32 q3, q3, q0",
        "vmulh.s32 q3, q3, q0",
        "vshr.s32 q4, q4, #1",
        "vshl.i32 q2, q2, #1",
        "vshl.i32 q3, q3, #2",
        "vldrw.u32 q5, [sp, #{first}]",
        "vldrw.u32 q6, [sp, #{second}]",
        "vadd.i32 q2, q2, q5",
        "vadd.i32 q3, q3, q4",
        "vadd.i32 q3, q3, q6",
        "vqshl.s32 q2, q2, #7",
        "vmov.i32 q5, #0xFFFFFF",
        "vmin.s32 q1, q3, q5",
        "vshr.s32 q2, q2, #7",
        "vpstt",
        "vstrwt.32 q2, [q7]",
        "vstrwt.32 q1, [q7, #4]",
        "adds    r11, #32",
        "str     r11, [sp, #{lstm_cells}]",
        // What the output gate lets through. The variance of a cell has no shift.
        "vshr.s32 q0, q2, #6",
        "movs    r2, #0",
        "mov     r3, #655360             @ 5/8",
        "ldr     r4, [sp, #({tables} + 28)]",
        "bl      {tanh_four}",
        keep!(),
        "ldm     r10, {{r2-r4}}",
        gate!("3", lower),
        gated!(),
        "vshr.s32 q2, q2, #15",
        "vqshrnt.u32 q2, q3, #4",
        "ldr     r11, [sp, #{units}]",
        "vpst",
        "vstrwt.32 q2, [r11], #16",
        "str     r11, [sp, #{units}]",
        "ldr     pc, [sp, #{return_to}]";
        units, lstm_cells, weight_vars;
        tanh_four = tanh_four
    )
}

/// Replaces units and cells of an LSTM layer by their next state (`dsp::lstm_layer`, if the map is pruned and
/// has weight variances).
///
/// # Safety
/// As `dsp::lstm_layer`.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn lstm_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: LayerArgs<'_>) {
    mve_asm!(
        falls_back!(), enter!("2");
        finish = sym finish_four,
        layer = sym layer,
        falls_back = const (LISTS & WEIGHT_VARS) as usize,
        blocks_at_entry = const BLOCKS_AT_ENTRY,
        weight_vars_at_entry = const WEIGHT_VARS_AT_ENTRY,
        dsp = sym dsp::lstm_layer::<LISTS, WEIGHT_VARS>,
    )
}
