//! Sums over blocks of four rows and eight columns: 9 instructions for 32 multiply-accumulates, 17 for two
//! groups of rows that share their activations.
//!
//! Words of a block alternate between two pairs of rows. `VLD2` takes them apart, so that a vector holds
//! eight columns of a pair of rows as 256·w_A + w_B, and `VMOVLB` leaves w_B of each.

use crate::quantized::kernels::portable::Sums;

/// Adds a block to four sums: `$add` is `vmladava`, or `vmladav` for the first block.
///
/// | registers | |
/// |---|---|
/// | in | `$weights`; q0: activations; the sums so far |
/// | out | `$weights`: behind the block; `$ab`, `$cd`: 256·S_A + S_B of either pair of rows; `$b`, `$d`: S_B |
/// | clobbered | q1 to q3 |
macro_rules! block_rows {
    ($add:literal, $weights:literal, $ab:literal, $b:literal, $cd:literal, $d:literal) => {
        concat!(
            "vld20.32 {{q2, q3}}, [", $weights, "]\n",
            "vld21.32 {{q2, q3}}, [", $weights, "]!\n",
            $add, ".s16 ", $ab, ", q2, q0\n",
            "vmovlb.s8 q1, q2\n",
            $add, ".s16 ", $cd, ", q3, q0\n",
            "vmovlb.s8 q2, q3\n",
            $add, ".s16 ", $b, ", q1, q0\n",
            $add, ".s16 ", $d, ", q2, q0\n",
        )
    };
}

/// A block of each of two groups of rows. All its instructions have four bytes, 68 together.
///
/// | registers | |
/// |---|---|
/// | in | r1, r3: weights; r5: activations; the sums so far |
/// | out | r1, r3, r5: the next block; r0, r2, r4, r6 and r8, r10, r12, lr: sums as of [`block_rows`] |
/// | clobbered | q0 to q3 |
macro_rules! two_blocks {
    ($add:literal) => {
        concat!(
            "vldrh.u16 q0, [r5], #16\n",
            block_rows!($add, "r1", "r0", "r2", "r4", "r6"),
            block_rows!($add, "r3", "r8", "r10", "r12", "lr"),
        )
    };
}

/// Bytes of [`two_blocks`].
const BLOCK_BYTES: usize = 68;
/// Blocks of a turn.
const UNROLLED: usize = 4;

/// Where [`group_sums`] goes after the first of `r0` blocks, not zero.
///
/// | registers | |
/// |---|---|
/// | in | r0: blocks |
/// | out | r0: what [`group_sums`] takes in r9 |
/// | clobbered | r1, r2, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn group_sums_entry() {
    mve_asm!(
        "subs    r1, r0, #1",
        "rsb     r0, r1, #0",
        "and     r0, r0, #({unrolled} - 1)",
        "mov     r2, #{block}",
        "mul     r0, r0, r2",
        // The loop begins four bytes behind its exit, whose place is 0; the lowest bit says Thumb.
        "add     r0, r0, #5",
        "cmp     r1, #0",
        "it      eq",
        "moveq   r0, #1",
        "bx      lr";
        unrolled = const UNROLLED,
        block = const BLOCK_BYTES,
    )
}

/// Sums of two groups of four rows, which may be the same.
///
/// | registers | |
/// |---|---|
/// | in | r1, r3: weights; r5, r7: activations and their end; r9: from [`group_sums_entry`] |
/// | out | r1, r3: behind the weights; r0, r2, r4, r6 and r8, r10, r12, lr: sums as of [`block_rows`] |
/// | clobbered | r5, r9, r11, q0 to q3, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn group_sums() {
    mve_asm!(
        "mov     r11, lr",
        "adr.w   lr, 3f",
        "add     r9, r9, lr",
        two_blocks!("vmladav"),
        "bx      r9",
        ".p2align 2",
        "3:",
        "bx      r11",
        "nop",
        "2:",
        two_blocks!("vmladava"), two_blocks!("vmladava"), two_blocks!("vmladava"), two_blocks!("vmladava"),
        "cmp     r5, r7",
        "bne.w   2b",
        "bx      r11";
    )
}

/// Sums of one group of four rows.
///
/// | registers | |
/// |---|---|
/// | in | r1: weights; r5, r7: activations and their end, not the same |
/// | out | r1: behind the weights; r0, r2, r4, r6: sums as of [`block_rows`] |
/// | clobbered | r5, r7, r11, lr, q0 to q3, flags |
///
/// # Safety
/// Called by kernels alone, not by the rules of C.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn one_group_sums() {
    mve_asm!(
        "mov     r11, lr",
        "subs    r7, r7, r5",
        "lsrs    r7, r7, #4",
        "movs    r0, #0",
        "movs    r2, #0",
        "movs    r4, #0",
        "movs    r6, #0",
        "dls     lr, r7",
        "2:",
        "vldrh.u16 q0, [r5], #16",
        block_rows!("vmladava", "r1", "r0", "r2", "r4", "r6"),
        "le      lr, 2b",
        "bx      r11";
    )
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
    mve_asm!(
        "push    {{r4-r7, r8, lr}}",
        "dls     lr, r2",
        "movs    r2, #0",
        "movs    r4, #0",
        "movs    r6, #0",
        "mov     r8, #0",
        "2:",
        "vldrh.u16 q0, [r1], #16",
        block_rows!("vmladava", "r0", "r2", "r4", "r6", "r8"),
        "le      lr, 2b",
        "subs    r2, r2, r4",
        "lsls    r4, r4, #8",
        "sub     r6, r6, r8",
        "lsl     r8, r8, #8",
        "stm     r3, {{r2, r4, r6, r8}}",
        "pop     {{r4-r7, r8, pc}}";
    )
}
