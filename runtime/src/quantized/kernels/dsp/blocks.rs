//! Sums over blocks of four rows and eight columns: 27 instructions for 32 multiply-accumulates.

use crate::quantized::kernels::portable::Sums;

/// Half a block: four words of weights times two words of activations in the registers named.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; `$first`, `$second`: activations; r4 to r7: sums so far |
/// | out | r0: behind the weights; r4, r6: 256·S_A + S_B of either pair of rows; r5, r7: S_B |
/// | clobbered | r1, r3, r12, lr |
macro_rules! half_block {
    ($first:literal, $second:literal) => {
        concat!(
            "ldmia   r0!, {{r1, r3, r12, lr}}\n",
            "smlad   r4, r1, ", $first, ", r4\n",
            "sxtb16  r1, r1\n",
            "smlad   r6, r3, ", $first, ", r6\n",
            "sxtb16  r3, r3\n",
            "smlad   r5, r1, ", $first, ", r5\n",
            "smlad   r7, r3, ", $first, ", r7\n",
            "smlad   r4, r12, ", $second, ", r4\n",
            "sxtb16  r12, r12\n",
            "smlad   r6, lr, ", $second, ", r6\n",
            "sxtb16  lr, lr\n",
            "smlad   r5, r12, ", $second, ", r5\n",
            "smlad   r7, lr, ", $second, ", r7\n",
        )
    };
}

/// One block of four rows and eight columns. All its instructions have four bytes, 108 together.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r2: activations; r4 to r7: sums so far |
/// | out | r0, r2: the next block; r4 to r7: as in [`half_block`] |
/// | clobbered | r1, r3, r8 to r12, lr |
macro_rules! block {
    () => {
        concat!("ldmia   r2!, {{r8-r11}}\n", half_block!("r8", "r9"), half_block!("r10", "r11"))
    };
}

/// The blocks of one turn: eight, or with the feature `small-code` one, which takes three instructions more
/// for each block.
macro_rules! turn {
    () => {
        cfg_select! {
            feature = "small-code" => { block!() }
            _ => { concat!(block!(), block!(), block!(), block!(), block!(), block!(), block!(), block!()) }
        }
    };
}

/// Most blocks that a first turn leaves out.
macro_rules! blocks_left_out {
    () => {
        cfg_select! {
            feature = "small-code" => { "0" }
            _ => { "7" }
        }
    };
}

/// The address at which to enter the loop of several blocks a turn that begins at a label, so that `count`
/// blocks are run in whole turns.
///
/// | registers | |
/// |---|---|
/// | in | `$count`: blocks, not zero |
/// | out | `$count`: the address |
/// | clobbered | r12, flags |
macro_rules! entry {
    ($count:literal, $label:literal) => {
        concat!(
            "rsb     ", $count, ", ", $count, ", #0\n",
            "and     ", $count, ", ", $count, ", #", blocks_left_out!(), "\n",
            "mov     r12, #108\n",
            "mul     ", $count, ", ", $count, ", r12\n",
            "adr.w   r12, ", $label, "\n",
            "add     ", $count, ", ", $count, ", r12\n",
            // A branch to an address stays in Thumb state by its lowest bit.
            "orr     ", $count, ", ", $count, ", #1\n",
        )
    };
}

/// The sums of four rows from those of their pairs.
///
/// | registers | |
/// |---|---|
/// | in | r4, r6: 256·S_A + S_B of either pair of rows; r5, r7: S_B |
/// | out | r4 to r7: 256 times each sum |
/// | clobbered | flags |
macro_rules! row_sums {
    () => {
        concat!("subs    r4, r4, r5\n", "lsls    r5, r5, #8\n", "subs    r6, r6, r7\n", "lsls    r7, r7, #8\n")
    };
}

/// Sums of four rows. `$entry` and `$end` are offsets from sp of what [`entry`] computed for `$label`, and of
/// the end of the activations; `$join` labels the end of the loop, where another loop may come in.
///
/// | registers | |
/// |---|---|
/// | in | r0: weights; r2: activations |
/// | out | r0: behind the weights; r2: behind the activations; r4 to r7: 256 times each sum |
/// | clobbered | r1, r3, r8 to r12, lr, flags |
macro_rules! rows {
    ($label:literal, $back:literal, $join:literal, $entry:literal, $end:literal) => {
        concat!(
            "movs    r4, #0\n",
            "movs    r5, #0\n",
            "movs    r6, #0\n",
            "movs    r7, #0\n",
            "ldr     pc, [sp, #", $entry, "]\n",
            ".p2align 2\n",
            $label, ":\n",
            turn!(),
            "ldr     r3, [sp, #", $end, "]\n",
            "cmp     r2, r3\n",
            "bne.w   ", $back, "\n",
            $join, ":\n",
            row_sums!(),
        )
    };
}

/// 256 × Σ w x for four rows (`portable::dot`).
///
/// # Safety
/// `blocks` must be followed by `8 * count` words, `pairs` by `4 * count`, and `count` must not be 0.
#[unsafe(naked)]
pub(in crate::quantized) unsafe extern "C" fn dot_blocks(
    blocks: *const u32,
    pairs: *const f32,
    count: usize,
    sums: &mut Sums,
) {
    dsp_asm!(
        "push    {{r3-r11, lr}}",
        "add     r3, r1, r2, lsl #4",
        entry!("r2", "2f"),
        "push    {{r2, r3}}",
        "mov     r2, r1",
        rows!("2", "2b", "21", "0", "4"),
        "ldr     r3, [sp, #8]",
        "stm     r3, {{r4-r7}}",
        "add     sp, #8",
        "pop     {{r3-r11, pc}}";
    )
}
