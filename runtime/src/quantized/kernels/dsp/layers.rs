//! Whole layers in assembler: one turn for every four rows.

use crate::quantized::kernels::layer_args::{LayerArgs, end_layer, layer_asm, layer_weight_vars};

/// Saves registers, puts the arguments into the frame (`layer_args::frame_offset`) and computes where to
/// enter the loops.
///
/// | registers | |
/// |---|---|
/// | in | r0 to r3 and the stack: [`LayerArgs`] |
/// | out | the frame |
/// | clobbered | r0, r1, r12, flags |
macro_rules! begin {
    () => {
        concat!(
            "push    {{r0-r12, lr}}\n",
            "ldr     r0, [sp, #{mean_blocks}]\n",
            ".if     {lists}\n",
            "cmp     r0, #0\n",
            "beq.w   71f\n",
            ".endif\n",
            entry!("r0", "2f"),
            "add     r1, r0, #(3f - 2f)\n",
            "74:\n",
            "str     r0, [sp, #{mean_blocks}]\n",
            "str     r1, [sp, #{var_blocks}]\n",
        )
    };
}

/// What [`begin`] and [`pre_activations`] need of maps that hold listed pairs, behind the end of a layer.
///
/// | registers | |
/// |---|---|
/// | in, out, clobbered | as in [`begin`] from label 71 on, else as in [`listed_entries`] |
macro_rules! listed {
    () => {
        concat!(
            ".if     {lists}\n",
            "71:\n",
            "adr.w   r0, 72f\n",
            "adr.w   r1, 73f\n",
            // A branch to an address stays in Thumb state by its lowest bit.
            "orr     r0, r0, #1\n",
            "orr     r1, r1, #1\n",
            "b.w     74b\n",
            listed_entries!("16"),
            ".endif\n",
        )
    };
}

/// Pre-activations of the next four rows. Pushes eight words: mantissas of variances at sp, means 16 bytes
/// above.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | sp: lower by 32; r2, r3, r12, lr: what moments read |
/// | clobbered | r0, r1, r4 to r11, flags |
macro_rules! pre_activations {
    () => {
        concat!(
            "ldrd    r0, r2, [sp, #{weights}]\n",
            rows!("2", "2b", "21", "{mean_blocks}", "{means_end}"),
            "ldmia   r0!, {{r1-r3, r8-r12}}  @ biases and scales\n",
            "smmla   r4, r4, r9, r1\n",
            "smmla   r5, r5, r10, r2\n",
            "smmla   r6, r6, r11, r3\n",
            "smmla   r7, r7, r12, r8\n",
            "str     r0, [sp, #{weights}]\n",
            "push    {{r4-r7}}\n",
            "ldrd    r0, r2, [sp, #({squares} + 16)]\n",
            rows!("3", "3b", "31", "({var_blocks} + 16)", "({vars_end} + 16)"),
            "ldmia   r0!, {{r1-r3, r8}}      @ scales\n",
            "smmul   r4, r4, r1\n",
            "smmul   r5, r5, r2\n",
            "smmul   r6, r6, r3\n",
            "smmul   r7, r7, r8\n",
            "str     r0, [sp, #({squares} + 16)]\n",
            layer_weight_vars!(),
            "push    {{r4-r7}}\n",
            "ldrd    r2, r3, [sp, #({shift} + 32)]\n",
            "ldrd    r12, lr, [sp, #({roots} + 32)]\n",
        )
    };
}

/// With the feature `small-code`, replaces the pre-activations of four rows by the moments of their tanh:
/// one copy of that instead of four, for five instructions more per row.
///
/// | registers | |
/// |---|---|
/// | in | sp: pre-activations, as [`pre_activations`] leaves them; what moments read |
/// | out | the same place |
/// | clobbered | r0, r1, r4, r6 to r11, flags |
macro_rules! tanh_of_rows {
    () => {
        cfg_select! {
            feature = "small-code" => {
                concat!(
                    "mov     r6, sp\n",
                    "7:\n",
                    "ldr     r0, [r6, #16]\n",
                    "ldr     r1, [r6]\n",
                    tanh!("r0", "r1"),
                    "str     r0, [r6, #16]\n",
                    "str     r1, [r6], #4\n",
                    "add     r0, sp, #16\n",
                    "cmp     r6, r0\n",
                    "bne     7b\n",
                )
            }
            _ => { "" }
        }
    };
}

/// Moments of tanh of one of four rows, whose mean and mantissa lie at offsets from sp, or already those
/// moments ([`tanh_of_rows`]).
///
/// | registers | |
/// |---|---|
/// | in | what moments read |
/// | out | `$mean`, `$var` |
/// | clobbered | r0, r1, r4, r7 to r11 |
macro_rules! row {
    ($mean_at:literal, $var_at:literal, $mean:literal, $var:literal) => {
        cfg_select! {
            feature = "small-code" => {
                concat!(
                    "ldr     ", $mean, ", [sp, #", $mean_at, "]\n",
                    "ldr     ", $var, ", [sp, #", $var_at, "]\n",
                )
            }
            _ => {
                concat!(
                    "ldr     r0, [sp, #", $mean_at, "]\n",
                    "ldr     r1, [sp, #", $var_at, "]\n",
                    tanh!($mean, $var),
                )
            }
        }
    };
}

/// Writes tanh of a row as a unit's word.
///
/// | registers | |
/// |---|---|
/// | in | r5: where the unit goes; what moments read |
/// | out | r5: the next unit |
/// | clobbered | r0, r1, r4, r7 to r11 |
macro_rules! unit {
    ($mean_at:literal, $var_at:literal) => {
        concat!(
            row!($mean_at, $var_at, "r0", "r1"),
            // The variance of tanh is below one.
            "lsl     r1, r1, #12\n",
            "pkhtb   r0, r1, r0, asr #13\n",
            "str     r0, [r5], #4\n",
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
/// The last two are contents of flash: `Recheck` says whether they still are what was checked. Means and
/// units may have any bits; nothing of theirs selects an entry without being limited first.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn tanh_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: LayerArgs<'_>) {
    layer_asm!(
        dsp_asm,
        begin!(),
        "4:",
        pre_activations!(),
        tanh_of_rows!(),
        "ldrd    r5, r6, [sp, #({units} + 32)]",
        unit!("16", "0"),
        unit!("20", "4"),
        unit!("24", "8"),
        unit!("28", "12"),
        "str     r5, [sp, #({units} + 32)]",
        "add     sp, #32",
        "cmp     r5, r6",
        "bne.w   4b",
        end_layer!(),
        listed!();
    )
}

/// Replaces units and cells of an LSTM layer by their next state.
///
/// # Safety
/// As [`tanh_layer`], with a group of rows and a cell for each unit. Variances of cells must lie in 0 to
/// `CELL_LIMIT`: they are zero at first, saturated here, and checked when a state is restored
/// (`Model::check_state` checks them again).
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn lstm_layer<const LISTS: bool, const WEIGHT_VARS: bool>(args: LayerArgs<'_>) {
    layer_asm!(
        dsp_asm,
        begin!(),
        "4:",
        pre_activations!(),
        tanh_of_rows!(),
        // What the input gate adds.
        row!("16", "0", "r5", "r6"),
        row!("24", "8", "r0", "r1"),
        gated!("r5", "r6", "r0", "r1", "r5", "r6"),
        "asr     r5, r5, #10",
        // What the forget gate keeps.
        row!("20", "4", "r0", "r1"),
        sigmoid_mean!("r0"),
        "ldr     r4, [sp, #({lstm_cells} + 32)]",
        "ldrd    r7, r8, [r4]",
        "asr     r9, r7, #10",
        "mla     r9, r9, r9, r8",
        "usat    r1, #15, r1, asr #5",
        "smulwb  r9, r9, r1",
        "smulwb  r7, r7, r0",
        "smulwb  r8, r8, r0",
        "smulwb  r8, r8, r0",
        "add     r5, r5, r7, lsl #1",
        "add     r6, r6, r8, lsl #2",
        "add     r6, r6, r9, asr #1",
        "ssat    r5, #25, r5",
        "usat    r6, #24, r6",
        "strd    r5, r6, [r4], #8",
        "str     r4, [sp, #({lstm_cells} + 32)]",
        // What the output gate lets through.
        "asr     r0, r5, #6",
        tanh_of_cell!(),
        row!("28", "12", "r0", "r1"),
        gated!("r0", "r1", "r5", "r6", "r5", "r6"),
        "asr     r5, r5, #15",
        "usat    r6, #16, r6, asr #4",
        "pkhbt   r5, r5, r6, lsl #16",
        "ldrd    r0, r1, [sp, #({units} + 32)]",
        "str     r5, [r0], #4",
        "str     r0, [sp, #({units} + 32)]",
        "add     sp, #32",
        "cmp     r0, r1",
        "bne.w   4b",
        end_layer!(),
        listed!();
        lstm_cells
    )
}
