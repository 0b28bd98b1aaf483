//! Arguments of whole layers in assembler, and where their kernels find them.

#![allow(unsafe_code)] // assembler, and the pointers it walks

use core::marker::PhantomData;
use core::mem::offset_of;

use super::super::fixed::LARGEST_SHIFT;
use super::super::format::QuantizedView;
use super::super::moments::{CELLS, ROOT_OFFSET, ROOT_PARTS, ROOTS};
use super::core_kernels::{lstm_layer, tanh_layer};
use super::input::QuantizedInput;
use super::list_args::ListArgs;
use super::weight_var_args::WeightVarArgs;
use super::words::words;
use crate::spec::Architecture;

/// What the loop over groups of four rows reads, and where it writes.
///
/// Passed by value: the first four words arrive in registers and the others on the stack (AAPCS32, 6.4.2),
/// where the kernel keeps all of them; see [`frame_offset`].
#[repr(C)]
pub(super) struct LayerArgs<'w> {
    /// For each group its blocks, biases and scales, `mean_blocks` blocks each.
    pub(super) weights: *const u32,
    pub(super) means: *const f32,
    /// For each group its blocks and scales.
    pub(super) squares: *const u32,
    pub(super) vars: *const f32,
    pub(super) means_end: *const f32,
    /// Blocks of a group, zero if pairs are listed; the kernel replaces it by the address at which to enter
    /// the loop over them.
    pub(super) mean_blocks: usize,
    pub(super) vars_end: *const f32,
    /// As `mean_blocks`.
    pub(super) var_blocks: usize,
    pub(super) shift: u32,
    pub(super) cells: *const i32,
    /// Moved by the shift, and by the octave that the highest bit of a normal number counts too many.
    pub(super) roots: *const i32,
    pub(super) offset: u32,
    pub(super) units: *mut f32,
    pub(super) units_end: *const f32,
    /// Mean and variance of each cell.
    pub(super) lstm_cells: *mut [f32; 2],
    pub(super) lists: ListArgs,
    /// Null without weight variances.
    pub(super) weight_vars: Option<&'w mut WeightVarArgs>,
    borrowed: PhantomData<&'w mut [f32]>,
}

/// Bytes of the arguments that arrive in r0 to r3.
const IN_REGISTERS: usize = 16;
/// Bytes that a kernel pushes between those and the arguments on the stack: r4 to r12 and lr. r12 need not be
/// kept; it makes the frame a multiple of eight.
const SAVED: usize = 40;

const _: () = assert!((IN_REGISTERS + SAVED).is_multiple_of(8), "sp stays aligned");

/// Where a kernel finds the argument at `offset` in [`LayerArgs`], counted from sp after `push {r0-r12, lr}`.
pub(super) const fn frame_offset(offset: usize) -> usize {
    if offset < IN_REGISTERS { offset } else { offset + SAVED }
}

/// Where a kernel finds the parts of [`ListArgs`].
pub(super) const LIST: usize = frame_offset(offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, list));
pub(super) const LIST_END: usize =
    frame_offset(offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, list_end));
pub(super) const ENDS: usize = frame_offset(offset_of!(LayerArgs<'_>, lists) + offset_of!(ListArgs, ends));

// Loaded in pairs.
const _: () = {
    assert!(offset_of!(LayerArgs<'_>, means) == offset_of!(LayerArgs<'_>, weights) + 4);
    assert!(offset_of!(LayerArgs<'_>, vars) == offset_of!(LayerArgs<'_>, squares) + 4);
    assert!(offset_of!(LayerArgs<'_>, cells) == offset_of!(LayerArgs<'_>, shift) + 4);
    assert!(offset_of!(LayerArgs<'_>, roots) == offset_of!(LayerArgs<'_>, cells) + 4);
    assert!(offset_of!(LayerArgs<'_>, offset) == offset_of!(LayerArgs<'_>, roots) + 4);
    assert!(offset_of!(LayerArgs<'_>, units_end) == offset_of!(LayerArgs<'_>, units) + 4);
};

/// Passes lines of assembler to the macro `$asm`, with the offsets from sp of arguments as operands of their
/// names: those that every layer reads, and `$also`. What a layer can do besides is a parameter of it:
/// lists of pairs (`LISTS`), and weight variances (`WEIGHT_VARS`).
macro_rules! layer_asm {
    ($asm:ident, $($line:expr),+ $(,)?; $($also:ident),*) => {
        layer_asm!(@ $asm, $($line),+; weights, squares, means_end, mean_blocks, vars_end, var_blocks, shift, roots,
            units, weight_vars, vars, $($also),*)
    };
    (@ $asm:ident, $($line:expr),+; $($field:ident),+ $(,)?) => {
        $asm!($($line),+; $($field = const $crate::quantized::kernels::layer_args::frame_offset(
            core::mem::offset_of!($crate::quantized::kernels::layer_args::LayerArgs<'_>, $field)
        ),)+
            list = const $crate::quantized::kernels::layer_args::LIST,
            list_end = const $crate::quantized::kernels::layer_args::LIST_END,
            ends = const $crate::quantized::kernels::layer_args::ENDS,
            lists = const LISTS as usize,
            weight_variances = const WEIGHT_VARS as usize,
            weight_var_terms = sym $crate::quantized::kernels::core_kernels::weight_var_terms::<LISTS>
        )
    };
}
pub(super) use layer_asm;

/// Adds what weight variances contribute to the mantissas of four rows.
///
/// | registers | |
/// |---|---|
/// | in | r4 to r7: mantissas of Σ ṽ (μ² + τ); the frame, below it four words |
/// | out | r4 to r7: mantissas of all terms |
/// | clobbered | r0 to r3, r8 to r12, lr |
macro_rules! layer_weight_vars {
    () => {
        $crate::quantized::kernels::weight_var_args::call_weight_var_terms!(
            "({weight_vars} + 16)",
            "({vars} + 16)",
            "({vars_end} + 16)"
        )
    };
}
pub(super) use layer_weight_vars;

/// Drops the arguments that came in registers and returns; r12 came with the saved registers.
///
/// | registers | |
/// |---|---|
/// | in | the frame |
/// | out | r4 to r11 and sp, as they were at the call |
/// | clobbered | r12 |
macro_rules! end_layer {
    () => {
        concat!("add     sp, #16\n", "pop     {{r4-r12, pc}}\n")
    };
}
pub(super) use end_layer;

/// The kernel of a layer without what an architecture is known not to use.
macro_rules! layer_kernel {
    ($architecture:ident, $kernel:ident) => {
        match (const { $architecture::USES.lists }, const { $architecture::USES.weight_vars }) {
            (false, false) => $kernel::<false, false>,
            (false, true) => $kernel::<false, true>,
            (true, false) => $kernel::<true, false>,
            (true, true) => $kernel::<true, true>,
        }
    };
}
pub(super) use layer_kernel;

impl<'w> LayerArgs<'w> {
    /// `None` if there are fewer than `groups` groups of four rows, no groups at all, no squares, several
    /// lists of pairs for a group, or bytes whose address is no multiple of four.
    #[inline(always)]
    fn new<A: Architecture>(
        map: &QuantizedView<'w, A>,
        input: &QuantizedInput<'w>,
        groups: usize,
        units: &'w mut [f32],
        cells: &'w mut [[f32; 2]],
        weight_vars: Option<&'w mut WeightVarArgs>,
    ) -> Option<Self> {
        Self::with_vars(true, map, input, groups, units, cells, weight_vars)
    }

    /// [`new`](Self::new) for a map without variances, which must not hold lists of pairs: `var_blocks` is
    /// zero.
    #[inline(always)]
    #[cfg_attr(not(quaver_kernel = "helium"), allow(dead_code))] // others compile such layers
    pub(super) fn of_means<A: Architecture>(
        map: &QuantizedView<'w, A>,
        input: &QuantizedInput<'w>,
        groups: usize,
        units: &'w mut [f32],
        cells: &'w mut [[f32; 2]],
    ) -> Option<Self> {
        let dense = map.lists().is_empty();
        dense.then(|| Self::with_vars(false, map, input, groups, units, cells, None))?
    }

    #[inline(always)]
    fn with_vars<A: Architecture>(
        has_vars: bool,
        map: &QuantizedView<'w, A>,
        input: &QuantizedInput<'w>,
        groups: usize,
        units: &'w mut [f32],
        cells: &'w mut [[f32; 2]],
        weight_vars: Option<&'w mut WeightVarArgs>,
    ) -> Option<Self> {
        let [weights, squares] = map.streams();
        let (weights, squares) = (words(weights)?, words(squares)?);
        let lists = ListArgs::new(map)?;
        let blocks = map.padded.cols / 8;
        let stored = groups <= map.padded.groups && map.has_squares() == has_vars;
        let vars = if has_vars { WeightVarArgs::words(weight_vars.as_deref(), 4 * blocks) } else { 0 };
        let filled = input.means.len() == 4 * blocks && input.vars.len() == vars;
        let args = || {
            let turns = if map.lists().is_empty() { blocks } else { 0 };
            let (means, vars, units) =
                (input.means.as_ptr_range(), input.vars.as_ptr(), units.as_mut_ptr_range());
            LayerArgs {
                weights: weights.as_ptr(),
                means: means.start,
                squares: squares.as_ptr(),
                vars,
                means_end: means.end,
                mean_blocks: turns,
                vars_end: vars.wrapping_add(4 * blocks),
                var_blocks: if has_vars { turns } else { 0 },
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
                lists,
                weight_vars,
                borrowed: PhantomData,
            }
        };
        (stored && filled && groups > 0 && blocks > 0 && input.shift <= LARGEST_SHIFT).then(args)
    }
}

/// Replaces units of an Elman layer by tanh of their rows, as many as a kernel can, and returns how many: a
/// multiple of four.
#[inline(always)]
pub(in crate::quantized) fn tanh_units<A: Architecture>(map: &QuantizedView<'_, A>, input: &QuantizedInput<'_>, h: &mut [f32]) -> usize {
    let units = h.len() / 4 * 4;
    let h = h.get_mut(..units).unwrap_or_default();
    let mut weight_vars = WeightVarArgs::new(map, input);
    match LayerArgs::new(map, input, units / 4, h, &mut [], weight_vars.as_mut()) {
        // SAFETY: `LayerArgs::new` has compared all lengths for `units / 4` groups of rows, each of which
        // writes four units. Contents: see the safety section of `tanh_layer`; the checks that it names were
        // made while loading.
        Some(args) => unsafe { layer_kernel!(A, tanh_layer)(args) },
        None => return 0,
    }
    units
}

/// Replaces units and cells of an LSTM layer by their next state; `None` if no kernel can.
#[inline(always)]
pub(in crate::quantized) fn lstm_units<A: Architecture>(
    map: &QuantizedView<'_, A>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) -> Option<()> {
    let units = h.len();
    let mut weight_vars = WeightVarArgs::new(map, input);
    let args = LayerArgs::new(map, input, units, h, cells.get_mut(..units)?, weight_vars.as_mut())?;
    // SAFETY: `LayerArgs::new` has compared all lengths for `units` groups of rows, each of which writes one
    // unit and one cell. Contents: see the safety section of `lstm_layer`; the checks that it names were made
    // while loading, and when a state was restored.
    unsafe { layer_kernel!(A, lstm_layer)(args) };
    Some(())
}
