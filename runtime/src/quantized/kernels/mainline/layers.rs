//! Whole layers in assembler: one turn for every four rows.

use core::arch::naked_asm;

use crate::quantized::kernels::layer_args::LayerArgs;

/// Puts a [`LayerArgs`] on the stack: its first four words from 0 on, the others from 52. Where it counts blocks, it gets the
/// addresses at which to enter the sums.
macro_rules! begin {
    () => {
        concat!(
            "push    {{r0-r11, lr}}\n",
            "ldr     r0, [sp, #56]\n",
            "lsrs    r0, r0, #1              @ carry: an odd number\n",
            "adr.w   r1, 2f\n",
            "adr.w   r2, 3f\n",
            "adr.w   r3, 5f\n",
            "adr.w   r4, 6f\n",
            "itt     cs\n",
            "movcs   r1, r3\n",
            "movcs   r2, r4\n",
            // A branch to an address stays in Thumb state by its lowest bit.
            "orr     r1, r1, #1\n",
            "orr     r2, r2, #1\n",
            "str     r1, [sp, #56]\n",
            "str     r2, [sp, #64]\n",
        )
    };
}

/// Pre-activations of four rows: pushes their means, then the mantissas of their variances, and makes the registers ready for moments.
macro_rules! pre_activations {
    () => {
        concat!(
            "ldrd    r0, r1, [sp]\n",
            "ldr     r2, [sp, #52]\n",
            no_sums!(),
            "ldr     pc, [sp, #56]\n",
            rows!("2", "5", "2b"),
            "ldmia   r0!, {{r1-r3, r8-r12}}  @ biases and scales\n",
            "smull   lr, r4, r4, r9\n",
            "smull   lr, r5, r5, r10\n",
            "smull   lr, r6, r6, r11\n",
            "smull   lr, r7, r7, r12\n",
            "add     r4, r4, r1\n",
            "add     r5, r5, r2\n",
            "add     r6, r6, r3\n",
            "add     r7, r7, r8\n",
            "str     r0, [sp]\n",
            "push    {{r4-r7}}\n",
            "ldrd    r0, r1, [sp, #24]\n",
            "ldr     r2, [sp, #76]\n",
            no_sums!(),
            "ldr     pc, [sp, #80]\n",
            rows!("3", "6", "3b"),
            "ldmia   r0!, {{r1-r3, r8}}      @ scales\n",
            "smull   lr, r4, r4, r1\n",
            "smull   lr, r5, r5, r2\n",
            "smull   lr, r6, r6, r3\n",
            "smull   lr, r7, r7, r8\n",
            "str     r0, [sp, #24]\n",
            "push    {{r4-r7}}\n",
            "ldrd    r3, r12, [sp, #104]\n",
            "ldr     lr, [sp, #112]\n",
            "mov     r6, sp\n",
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
        "7:",
        tanh_of_row!("100"),
        "asr     r0, r0, #13",
        // The variance of tanh is below one.
        "lsr     r1, r1, #4",
        "bfi     r0, r1, #16, #16",
        "str     r0, [r6], #4",
        "add     r2, sp, #16",
        "cmp     r6, r2",
        "bne     7b",
        "ldm     sp, {{r4-r7}}",
        "ldrd    r0, r1, [sp, #116]",
        "stmia   r0!, {{r4-r7}}",
        "str     r0, [sp, #116]",
        "add     sp, #32",
        "cmp     r0, r1",
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
        "7:",
        tanh_of_row!("100"),
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
        "ldr     r10, [sp, #124]",
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
        "str     r10, [sp, #124]",
        // What the output gate lets through.
        tanh_of_cell!("100"),
        "ldr     r0, [sp, #28]",
        "ldr     r1, [sp, #12]",
        gated!(),
        "asr     r5, r5, #15",
        "usat    r6, #16, r6, asr #4",
        "bfi     r5, r6, #16, #16",
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
