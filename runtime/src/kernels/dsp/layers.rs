//! Whole layers in assembler: one turn for every four rows.

use core::arch::naked_asm;
use core::marker::PhantomData;

use crate::cells::PackedInput;
use crate::checkpoint::PackedView;
use crate::kernels::words::words;
use crate::moments::fixed::{CELLS, LARGEST_SHIFT, ROOT_OFFSET, ROOT_PARTS, ROOTS};

/// What a layer's turns read and where they write.
///
/// Passed by value: the first four words arrive in registers and the others on the stack, where the assembler keeps them.
#[repr(C)]
pub(super) struct LayerWalk<'w> {
    weights: *const u32,
    means: *const f32,
    squares: *const u32,
    vars: *const f32,
    means_end: *const f32,
    /// Blocks of each four rows; the assembler puts an address here, and below.
    blocks: usize,
    vars_end: *const f32,
    blocks_again: usize,
    shift: u32,
    cells: *const i32,
    /// Moved by the shift, and by the octave that the highest bit of a normal number counts too many.
    roots: *const i32,
    offset: u32,
    units: *mut f32,
    units_end: *const f32,
    /// Mean and variance of each cell.
    lstm_cells: *mut [f32; 2],
    borrowed: PhantomData<&'w mut [f32]>,
}

impl<'w> LayerWalk<'w> {
    /// `None` if there are fewer than `groups` groups of four rows, no groups at all, no squares, or bytes that do not lie at a
    /// multiple of four.
    #[inline(always)]
    pub(super) fn new(
        map: &PackedView<'w>,
        input: &PackedInput<'w>,
        groups: usize,
        units: &'w mut [f32],
        cells: &'w mut [[f32; 2]],
    ) -> Option<Self> {
        let [weights, squares] = map.streams();
        let (weights, squares) = (words(weights)?, words(squares)?);
        let blocks = map.cols / 8;
        let stored = groups <= map.groups && map.has_squares;
        let filled = input.means.len() == 4 * blocks && input.vars.len() == 4 * blocks;
        let walk = || {
            let (means, vars, units) =
                (input.means.as_ptr_range(), input.vars.as_ptr_range(), units.as_mut_ptr_range());
            LayerWalk {
                weights: weights.as_ptr(),
                means: means.start,
                squares: squares.as_ptr(),
                vars: vars.start,
                means_end: means.end,
                blocks,
                vars_end: vars.end,
                blocks_again: blocks,
                shift: input.shift,
                cells: CELLS.as_ptr().cast(),
                roots: ROOTS
                    .as_ptr()
                    .wrapping_add(ROOT_PARTS * input.shift as usize)
                    .wrapping_sub(ROOT_PARTS),
                offset: ROOT_OFFSET << input.shift,
                units: units.start,
                units_end: units.end,
                lstm_cells: cells.as_mut_ptr(),
                borrowed: PhantomData,
            }
        };
        (stored && filled && groups > 0 && blocks > 0 && input.shift <= LARGEST_SHIFT).then(walk)
    }
}

/// Puts a [`LayerWalk`] on the stack: its first four words from 0 on, the others from 52.
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
/// Behind the pointers must lie what [`LayerWalk`] says, for as many groups of rows as there are fours of units.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn tanh_layer(walk: LayerWalk<'_>) {
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
/// Behind the pointers must lie what [`LayerWalk`] says, for as many groups of rows as there are units, and as many cells.
#[unsafe(naked)]
pub(super) unsafe extern "C" fn lstm_layer(walk: LayerWalk<'_>) {
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
