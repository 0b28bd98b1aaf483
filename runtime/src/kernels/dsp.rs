//! Kernels with the DSP instructions of Cortex-M4, M7 and M33: two products and two sums in one instruction.
//!
//! Sums take fourteen instructions for sixteen multiply-accumulates, and moments forty, with every register in use; hence
//! functions of their own in assembler, without a compiler's frame. The bits are those of the portable functions, which
//! define them: `packed::dot`, `moments::fixed::tanh` and `cells::packed`.

#![allow(unsafe_code)] // assembler, and the pointers it walks

use core::arch::naked_asm;

use super::packed::{self, Sums};
use super::words::words;
use crate::checkpoint::{PackedGroup, PackedView};
use crate::moments::fixed::{CELLS, FixedMoments, ROOTS};

/// [`packed::dot`].
#[inline(always)]
pub(crate) fn dot(blocks: &[u8], pairs: &[f32]) -> Sums {
    let Some(words) = words(blocks) else { return packed::dot(blocks, pairs) };
    let count = (words.len() / 4).min(pairs.len() / 2);
    let mut sums = [0; 4];
    // SAFETY: `count` blocks of four words and as many pairs of words lie behind the pointers, and four words to write.
    unsafe { dot_blocks(words.as_ptr(), count, pairs.as_ptr(), &mut sums) };
    sums
}

/// Tables of `moments::fixed`, as the assembler finds them.
#[repr(C)]
#[derive(Clone, Copy)]
struct Tables {
    cells: *const i32,
    /// Sixteen words before the first: parts of an octave are counted from 16.
    roots: *const i32,
}

impl Tables {
    fn new() -> Self {
        Tables { cells: CELLS.as_ptr().cast(), roots: ROOTS.as_ptr().cast::<i32>().wrapping_sub(16) }
    }
}

/// A walk over the rows of a map, four at a time, to the moments of tanh of each.
#[repr(C)]
pub(crate) struct TanhRows<'m> {
    weights: *const u32,
    blocks: usize,
    means: *const f32,
    squares: *const u32,
    blocks_again: usize,
    vars: *const f32,
    rows: *const u32,
    shift: u32,
    tables: Tables,
    /// Groups of four rows that are left.
    groups: usize,
    borrowed: core::marker::PhantomData<&'m [u8]>,
}

impl<'m> TanhRows<'m> {
    /// `None` if the map has no stream of squares, or does not lie at a multiple of four.
    pub(crate) fn new(map: PackedView<'m>, means: &'m [f32], vars: &'m [f32], shift: u32) -> Option<Self> {
        let PackedGroup { rows, weights, squares } = map.groups().next()?;
        let [weights, squares, rows] = [weights, squares, rows.as_flattened()].map(words);
        let blocks = map.shape.packed_cols() / 4;
        let whole = weights?.len() == 4 * blocks && squares?.len() == 4 * blocks;
        let enough = means.len() >= 2 * blocks && vars.len() >= 2 * blocks;
        (whole && enough).then_some(TanhRows {
            weights: weights?.as_ptr(),
            blocks,
            means: means.as_ptr(),
            squares: squares?.as_ptr(),
            blocks_again: blocks,
            vars: vars.as_ptr(),
            rows: rows?.as_ptr(),
            shift,
            tables: Tables::new(),
            groups: map.groups().count(),
            borrowed: core::marker::PhantomData,
        })
    }
}

impl Iterator for TanhRows<'_> {
    type Item = [FixedMoments; 4];

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.groups = self.groups.checked_sub(1)?;
        let mut moments = [FixedMoments::default(); 4];
        // SAFETY: as many groups of `blocks` blocks lie behind the pointers as `groups` counts, and their scales.
        unsafe { tanh_rows(self, &mut moments) };
        Some(moments)
    }
}

/// `cells::packed::cell_step`.
#[inline(always)]
pub(crate) fn cell_step(gates: &[FixedMoments; 4], mean: &mut f32, var: &mut f32) -> f32 {
    // SAFETY: reads the gates and the tables, reads and writes two words.
    f32::from_bits(unsafe { lstm_cell(gates, mean, var, &Tables::new()) })
}

/// One block of four rows and four columns: r0 at the weights, r2 at the activations; r4 and r6 gather 256·S_A + S_B of
/// either pair of rows, r5 and r7 gather S_B.
macro_rules! block {
    () => {
        "
        ldmia   r0!, {{r10, r11, r12, lr}}
        ldrd    r8, r9, [r2], #8
        smlad   r4, r10, r8, r4
        sxtb16  r10, r10
        smlad   r6, r11, r8, r6
        sxtb16  r11, r11
        smlad   r5, r10, r8, r5
        smlad   r7, r11, r8, r7
        smlad   r4, r12, r9, r4
        sxtb16  r12, r12
        smlad   r6, lr, r9, r6
        sxtb16  lr, lr
        smlad   r5, r12, r9, r5
        smlad   r7, lr, r9, r7
        "
    };
}

/// Four rows: r0 at the weights, r1 counts blocks, r2 at the activations. Leaves 256 times each sum in r4 to r7, and r0
/// behind the weights.
macro_rules! rows {
    () => {
        concat!(
            "
        movs    r4, #0
        movs    r5, #0
        movs    r6, #0
        movs    r7, #0
        ands    r3, r1, #3
        beq     3f
        2:",
            block!(),
            "
        subs    r3, #1
        bne     2b
        3:
        lsrs    r1, r1, #2
        beq     5f
        4:",
            block!(),
            block!(),
            block!(),
            block!(),
            "
        subs    r1, #1
        bne     4b
        5:
        subs    r4, r4, r5
        lsls    r5, r5, #8
        subs    r6, r6, r7
        lsls    r7, r7, #8
        "
        )
    };
}

/// Moments of tanh: r0 has the mean, r1 the mantissa and r2 the shift of the variance, r3 and r12 the tables. Leaves the mean
/// in r0 and the variance in r1; uses r4 to r11.
macro_rules! tanh {
    () => {
        "
        orr     r4, r1, #1
        clz     r5, r4
        lsls    r4, r4, r5
        adds    r5, r5, r2
        usat    r5, #5, r5
        lsrs    r6, r4, #27
        add     r5, r6, r5, lsl #4
        ldr     r7, [r12, r5, lsl #2]
        ubfx    r4, r4, #12, #15
        smlabb  r7, r7, r4, r7          @ rho, in the upper half
        smulwt  r0, r0, r7              @ tau
        eor     r4, r0, r0, asr #31
        sub     r4, r4, r0, asr #31
        usat    r4, #19, r4
        ubfx    r5, r4, #0, #13         @ part of the cell
        lsrs    r4, r4, #13             @ cell
        lsrs    r6, r7, #27             @ row
        add     r4, r3, r4, lsl #3
        add     r6, r4, r6, lsl #9
        ldrd    r8, r9, [r6]
        ldrd    r10, r11, [r6, #512]
        smlabb  r8, r8, r5, r8
        smlabb  r9, r9, r5, r9
        smlabb  r10, r10, r5, r10
        smlabb  r11, r11, r5, r11
        ubfx    r4, r7, #12, #15        @ part of the row
        sub     r10, r10, r8
        smulwb  r10, r10, r4
        add     r8, r8, r10, lsl #1     @ magnitude of the mean, in the upper half
        sub     r11, r11, r9
        smulwb  r11, r11, r4
        add     r9, r9, r11, lsl #1     @ ratio, in the upper half
        smulwt  r1, r1, r7
        smulwt  r1, r1, r7
        smulwt  r1, r1, r9
        lsls    r1, r1, #4
        asrs    r1, r1, r2
        asr     r8, r8, #16
        eor     r8, r8, r0, asr #31
        sub     r0, r8, r0, asr #31
        "
    };
}

/// One gate of four, in place.
macro_rules! gate {
    ($place:literal) => {
        concat!("ldrd r0, r1, [lr, #", $place, "]\n", tanh!(), "strd r0, r1, [lr, #", $place, "]\n")
    };
}

/// σ ⊙ y: r4 and r5 have the gate as tanh, r0 and r1 have y. Leaves the mean with 30 fractional bits in r0 and twice the
/// gate's share of the variance in r5, a quarter of y's in r1; uses r6 and r7, and r4 for σ.
macro_rules! gated {
    () => {
        "
        add     r4, r4, #32768
        asrs    r4, r4, #1
        mul     r6, r0, r0
        asrs    r7, r1, #5
        add     r7, r7, r6, asr #15
        usat    r7, #15, r7
        smulwb  r5, r5, r7
        smulwb  r1, r1, r4
        smulwb  r1, r1, r4
        mul     r0, r0, r4
        "
    };
}

/// # Safety
/// `blocks` must be followed by `4 * count` words, `pairs` by `2 * count`.
#[unsafe(naked)]
unsafe extern "C" fn dot_blocks(blocks: *const u32, count: usize, pairs: *const f32, sums: &mut Sums) {
    naked_asm!(
        // Armv8-M has these instructions as an extension, which its assembler wants to be told.
        ".arch armv7e-m",
        "push    {{r3-r11, lr}}",
        rows!(),
        "pop     {{r3}}",
        "stm     r3, {{r4-r7}}",
        "pop     {{r4-r11, pc}}",
    )
}

/// # Safety
/// Behind the pointers must lie what [`TanhRows`] says.
#[unsafe(naked)]
unsafe extern "C" fn tanh_rows(walk: &mut TanhRows<'_>, moments: &mut [FixedMoments; 4]) {
    naked_asm!(
        ".arch armv7e-m",
        "push    {{r0, r1, r4-r11, lr}}",
        "ldm     r0, {{r0, r1, r2}}",
        rows!(),
        "ldrd    r3, r1, [sp]",
        "str     r0, [r3]",
        // Bias and scale of the means.
        "ldr     r0, [r3, #24]",
        "ldrd    r8, r9, [r0]",
        "smmla   r4, r4, r9, r8",
        "ldrd    r8, r9, [r0, #12]",
        "smmla   r5, r5, r9, r8",
        "ldrd    r8, r9, [r0, #24]",
        "smmla   r6, r6, r9, r8",
        "ldrd    r8, r9, [r0, #36]",
        "smmla   r7, r7, r9, r8",
        "str     r4, [r1]",
        "str     r5, [r1, #8]",
        "str     r6, [r1, #16]",
        "str     r7, [r1, #24]",
        "adds    r3, #12",
        "ldm     r3, {{r0, r1, r2}}",
        rows!(),
        "ldrd    r3, lr, [sp]",
        "str     r0, [r3, #12]",
        // Scale of the variances.
        "ldr     r0, [r3, #24]",
        "ldr     r8, [r0, #8]",
        "ldr     r9, [r0, #20]",
        "ldr     r10, [r0, #32]",
        "ldr     r11, [r0, #44]",
        "smmul   r4, r4, r8",
        "smmul   r5, r5, r9",
        "smmul   r6, r6, r10",
        "smmul   r7, r7, r11",
        "adds    r0, #48",
        "str     r0, [r3, #24]",
        "str     r4, [lr, #4]",
        "str     r5, [lr, #12]",
        "str     r6, [lr, #20]",
        "str     r7, [lr, #28]",
        "ldr     r2, [r3, #28]",
        "ldrd    r3, r12, [r3, #32]",
        gate!("0"),
        gate!("8"),
        gate!("16"),
        gate!("24"),
        "add     sp, #8",
        "pop     {{r4-r11, pc}}",
    )
}

/// Returns the unit's next word.
///
/// # Safety
/// The tables must be those of `moments::fixed`.
#[unsafe(naked)]
unsafe extern "C" fn lstm_cell(
    gates: &[FixedMoments; 4],
    mean: &mut f32,
    var: &mut f32,
    tables: &Tables,
) -> u32 {
    naked_asm!(
        ".arch armv7e-m",
        "push    {{r0-r2, r4-r11, lr}}",
        "mov     lr, r0",
        // What the input gate adds.
        "ldrd    r4, r5, [lr]",
        "ldrd    r0, r1, [lr, #16]",
        gated!(),
        "asr     r8, r0, #10",
        "lsls    r9, r1, #2",
        "add     r9, r9, r5, asr #1",
        // What the forget gate keeps.
        "ldrd    r4, r5, [lr, #8]",
        "ldrd    r0, r1, [sp, #4]",
        "ldr     r6, [r0]",
        "ldr     r7, [r1]",
        "add     r4, r4, #32768",
        "asrs    r4, r4, #1",
        "asr     r10, r6, #10",
        "mla     r10, r10, r10, r7",
        "usat    r5, #15, r5, asr #5",
        "smulwb  r10, r10, r5",
        "smulwb  r6, r6, r4",
        "smulwb  r7, r7, r4",
        "smulwb  r7, r7, r4",
        "add     r8, r8, r6, lsl #1",
        "add     r9, r9, r7, lsl #2",
        "add     r9, r9, r10, asr #1",
        "ssat    r8, #25, r8",
        "usat    r9, #24, r9",
        "str     r8, [r0]",
        "str     r9, [r1]",
        // What the output gate lets through.
        "asr     r0, r8, #2",
        "mov     r1, r9",
        "movs    r2, #0",
        "ldm     r3, {{r3, r12}}",
        tanh!(),
        "ldrd    r4, r5, [lr, #24]",
        gated!(),
        "lsls    r1, r1, #2",
        "add     r1, r1, r5, asr #1",
        "asrs    r0, r0, #15",
        "usat    r1, #16, r1, asr #4",
        "pkhbt   r0, r0, r1, lsl #16",
        "add     sp, #12",
        "pop     {{r4-r11, pc}}",
    )
}
