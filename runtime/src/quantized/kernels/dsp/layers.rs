//! Whole layers in assembler: one turn for every four rows.

use core::arch::naked_asm;

use crate::quantized::kernels::layer_args::LayerArgs;

/// Puts a [`LayerArgs`] on the stack: its first four words from 0 on, the others from 52.
macro_rules! begin {
    () => {
        concat!(
            // Armv8-M has these instructions as an extension, which its assembler wants to be told.
            ".arch armv7e-m\n",
            "push    {{r0-r11, lr}}\n",
            "ldr     r0, [sp, #56]\n",
            entry!("r0", "2f"),
            "add     r1, r0, #(3f - 2f)\n",
            "str     r0, [sp, #56]\n",
            "str     r1, [sp, #64]\n",
        )
    };
}

/// Pre-activations of four rows: pushes their means, then their variances, and makes the registers ready for moments.
macro_rules! pre_activations {
    () => {
        concat!(
            "ldrd    r0, r2, [sp]\n",
            rows!("2", "2b", "56", "52"),
            "ldmia   r0!, {{r1-r3, r8-r12}}  @ biases and scales\n",
            "smmla   r4, r4, r9, r1\n",
            "smmla   r5, r5, r10, r2\n",
            "smmla   r6, r6, r11, r3\n",
            "smmla   r7, r7, r12, r8\n",
            "str     r0, [sp]\n",
            "push    {{r4-r7}}\n",
            "ldrd    r0, r2, [sp, #24]\n",
            rows!("3", "3b", "80", "76"),
            "ldmia   r0!, {{r1-r3, r8}}      @ scales\n",
            "smmul   r4, r4, r1\n",
            "smmul   r5, r5, r2\n",
            "smmul   r6, r6, r3\n",
            "smmul   r7, r7, r8\n",
            "str     r0, [sp, #24]\n",
            "push    {{r4-r7}}\n",
            "ldrd    r2, r3, [sp, #100]\n",
            "ldrd    r12, lr, [sp, #108]\n",
        )
    };
}

/// Moments of tanh of one of four rows, by its place.
macro_rules! row {
    ($mean_at:literal, $var_at:literal, $mean:literal, $var:literal) => {
        concat!(
            "ldr     r0, [sp, #", $mean_at, "]\n",
            "ldr     r1, [sp, #", $var_at, "]\n",
            tanh!($mean, $var),
        )
    };
}

/// Writes tanh of a row as a unit's word.
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

/// # Safety
/// Behind the pointers must lie what [`LayerArgs`] says, for as many groups of rows as there are fours of units.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn tanh_layer(walk: LayerArgs<'_>) {
    naked_asm!(
        begin!(),
        "4:",
        pre_activations!(),
        "ldrd    r5, r6, [sp, #116]",
        unit!("16", "0"),
        unit!("20", "4"),
        unit!("24", "8"),
        unit!("28", "12"),
        "str     r5, [sp, #116]",
        "add     sp, #32",
        "cmp     r5, r6",
        "bne.w   4b",
        "add     sp, #16",
        "pop     {{r4-r11, pc}}",
    )
}

/// # Safety
/// Behind the pointers must lie what [`LayerArgs`] says, for as many groups of rows as there are units, and as many cells.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn lstm_layer(walk: LayerArgs<'_>) {
    naked_asm!(
        begin!(),
        "4:",
        pre_activations!(),
        // What the input gate adds.
        row!("16", "0", "r5", "r6"),
        row!("24", "8", "r0", "r1"),
        gated!("r5", "r6", "r0", "r1", "r5", "r6"),
        "asr     r5, r5, #10",
        // What the forget gate keeps.
        row!("20", "4", "r0", "r1"),
        sigmoid_mean!("r0"),
        "ldr     r4, [sp, #124]",
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
        "str     r4, [sp, #124]",
        // What the output gate lets through.
        "asr     r0, r5, #6",
        tanh_of_cell!(),
        row!("28", "12", "r0", "r1"),
        gated!("r0", "r1", "r5", "r6", "r5", "r6"),
        "asr     r5, r5, #15",
        "usat    r6, #16, r6, asr #4",
        "pkhbt   r5, r5, r6, lsl #16",
        "ldrd    r0, r1, [sp, #116]",
        "str     r5, [r0], #4",
        "str     r0, [sp, #116]",
        "add     sp, #32",
        "cmp     r0, r1",
        "bne.w   4b",
        "add     sp, #16",
        "pop     {{r4-r11, pc}}",
    )
}
