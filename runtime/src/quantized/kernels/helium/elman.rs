//! Elman layers: tanh of four rows of four groups a turn.

use super::super::dsp;
use super::frame::{BLOCKS_AT_ENTRY, WEIGHT_VARS_AT_ENTRY};
use super::moments::tanh_four;
use super::turns::layer;
use crate::quantized::kernels::layer_args::LayerArgs;

/// Writes tanh of row `$row` of every group as units' words.
///
/// | registers | |
/// |---|---|
/// | in | the frame; what [`tanh_four`] reads; VPR: groups that are there |
/// | clobbered | q0 to q7, lr |
macro_rules! unit {
    ($row:literal, $sum:ident) => {
        concat!(
            row!($row, $sum),
            "bl      {tanh_four}\n",
            "vshr.s32 q0, q0, #13\n",
            // The variance of tanh is below one.
            "vqshrnt.u32 q0, q1, #4\n",
            "vldrw.u32 q1, [sp, #{first}]\n",
            "vpst\n",
            "vstrwt.32 q0, [q1, #(4 * ", $row, ")]\n",
        )
    };
}

/// Turns the sums of up to four groups into units.
#[unsafe(naked)]
unsafe extern "C" fn finish_four() {
    frame_asm!(
        "str     lr, [sp, #{return_to}]",
        "ldr     r0, [sp, #{left}]",
        "ldr     r1, [sp, #{weight_vars}]",
        "vctp.32 r0",
        unit_addresses!(),
        "add     r0, sp, #{tables}",
        "ldm     r0, {{r2-r8}}",
        unit!("0", upper),
        unit!("1", lower),
        unit!("2", upper),
        unit!("3", lower),
        "ldr     pc, [sp, #{return_to}]";
        units, weight_vars;
        tanh_four = tanh_four
    )
}

/// Replaces units of an Elman layer by tanh of their rows (`dsp::tanh_layer`, if the map is pruned and has
/// weight variances).
///
/// # Safety
/// As `dsp::tanh_layer`.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn tanh_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: LayerArgs<'_>) {
    mve_asm!(
        falls_back!(), enter!("4");
        finish = sym finish_four,
        layer = sym layer,
        falls_back = const (LISTS & WEIGHT_VARS) as usize,
        blocks_at_entry = const BLOCKS_AT_ENTRY,
        weight_vars_at_entry = const WEIGHT_VARS_AT_ENTRY,
        dsp = sym dsp::tanh_layer::<LISTS, WEIGHT_VARS>,
    )
}
