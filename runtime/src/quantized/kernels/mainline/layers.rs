//! Whole layers in assembler: one turn for every four rows.

use crate::quantized::kernels::layer_args::{LayerArgs, end_layer, layer_asm, layer_weight_vars};

/// Saves registers, puts the arguments into the frame (`layer_args::frame_offset`) and computes where to
/// enter the loops.
///
/// | registers | |
/// |---|---|
/// | in | r0 to r3 and the stack: [`LayerArgs`] |
/// | out | the frame |
/// | clobbered | r0 to r4, flags |
macro_rules! begin {
    () => {
        concat!(
            "push    {{r0-r12, lr}}\n",
            "ldr     r0, [sp, #{mean_blocks}]\n",
            ".if     {lists}\n",
            "cmp     r0, #0\n",
            "beq.w   71f\n",
            ".endif\n",
            "lsrs    r0, r0, #1              @ carry: an odd number\n",
            "adr.w   r1, 2f\n",
            "adr.w   r2, 3f\n",
            "adr.w   r3, 5f\n",
            "adr.w   r4, 6f\n",
            "itt     cs\n",
            "movcs   r1, r3\n",
            "movcs   r2, r4\n",
            "74:\n",
            // A branch to an address stays in Thumb state by its lowest bit.
            "orr     r1, r1, #1\n",
            "orr     r2, r2, #1\n",
            "str     r1, [sp, #{mean_blocks}]\n",
            "str     r2, [sp, #{var_blocks}]\n",
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
            "adr.w   r1, 72f\n",
            "adr.w   r2, 73f\n",
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
/// | out | sp: lower by 32; r6: sp; r3, r12, lr: what moments read |
/// | clobbered | r0 to r2, r4, r5, r7 to r11, flags |
macro_rules! pre_activations {
    () => {
        concat!(
            "ldrd    r0, r1, [sp, #{weights}]\n",
            "ldr     r2, [sp, #{means_end}]\n",
            no_sums!(),
            "ldr     pc, [sp, #{mean_blocks}]\n",
            rows!("2", "5", "2b", "21"),
            "ldmia   r0!, {{r1-r3, r8-r12}}  @ biases and scales\n",
            "smull   lr, r4, r4, r9\n",
            "smull   lr, r5, r5, r10\n",
            "smull   lr, r6, r6, r11\n",
            "smull   lr, r7, r7, r12\n",
            "add     r4, r4, r1\n",
            "add     r5, r5, r2\n",
            "add     r6, r6, r3\n",
            "add     r7, r7, r8\n",
            "str     r0, [sp, #{weights}]\n",
            "push    {{r4-r7}}\n",
            "ldrd    r0, r1, [sp, #({squares} + 16)]\n",
            "ldr     r2, [sp, #({vars_end} + 16)]\n",
            no_sums!(),
            "ldr     pc, [sp, #({var_blocks} + 16)]\n",
            rows!("3", "6", "3b", "31"),
            "ldmia   r0!, {{r1-r3, r8}}      @ scales\n",
            "smull   lr, r4, r4, r1\n",
            "smull   lr, r5, r5, r2\n",
            "smull   lr, r6, r6, r3\n",
            "smull   lr, r7, r7, r8\n",
            "str     r0, [sp, #({squares} + 16)]\n",
            layer_weight_vars!(),
            "push    {{r4-r7}}\n",
            "ldrd    r3, r12, [sp, #({shift} + 4 + 32)]\n",
            "ldr     lr, [sp, #({roots} + 4 + 32)]\n",
            "mov     r6, sp\n",
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
        mainline_asm,
        begin!(),
        "4:",
        pre_activations!(),
        "7:",
        tanh_of_row!("({shift} + 32)"),
        "asr     r0, r0, #13",
        // The variance of tanh is below one.
        "lsr     r1, r1, #4",
        "bfi     r0, r1, #16, #16",
        "str     r0, [r6], #4",
        "add     r2, sp, #16",
        "cmp     r6, r2",
        "bne     7b",
        "ldm     sp, {{r4-r7}}",
        "ldrd    r0, r1, [sp, #({units} + 32)]",
        "stmia   r0!, {{r4-r7}}",
        "str     r0, [sp, #({units} + 32)]",
        "add     sp, #32",
        "cmp     r0, r1",
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
        mainline_asm,
        begin!(),
        "4:",
        pre_activations!(),
        "7:",
        tanh_of_row!("({shift} + 32)"),
        "str     r0, [r6, #16]",
        "str     r1, [r6], #4",
        "add     r2, sp, #16",
        "cmp     r6, r2",
        "bne     7b",
        // What the input gate adds.
        "ldr     r0, [sp, #16]",
        "ldr     r1, [sp]",
        "ldr     r2, [sp, #24]",
        "ldr     r4, [sp, #8]",
        gated!(),
        "asr     r5, r5, #10",
        // What the forget gate keeps.
        "ldr     r0, [sp, #20]",
        "ldr     r1, [sp, #4]",
        sigmoid_mean!(),
        "ldr     r10, [sp, #({lstm_cells} + 32)]",
        "ldrd    r7, r8, [r10]",
        "asr     r4, r7, #10",
        "mla     r4, r4, r4, r8",
        "usat    r1, #15, r1, asr #5",
        "lsl     r1, r1, #16",
        "smull   r2, r4, r4, r1",
        "smull   r2, r7, r7, r9",
        "smull   r2, r8, r8, r9",
        "smull   r2, r8, r8, r9",
        "add     r5, r5, r7, lsl #1",
        "add     r6, r6, r8, lsl #2",
        "add     r6, r6, r4, asr #1",
        "ssat    r5, #25, r5",
        "usat    r6, #24, r6",
        "strd    r5, r6, [r10], #8",
        "str     r10, [sp, #({lstm_cells} + 32)]",
        // What the output gate lets through.
        tanh_of_cell!("({shift} + 32)"),
        "ldr     r0, [sp, #28]",
        "ldr     r1, [sp, #12]",
        gated!(),
        "asr     r5, r5, #15",
        "usat    r6, #16, r6, asr #4",
        "bfi     r5, r6, #16, #16",
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
