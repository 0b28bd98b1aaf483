//! The way into whole layers in assembler.

#![allow(unsafe_code)] // assembler, and the pointers it walks

use core::marker::PhantomData;

use super::core_kernels::{lstm_layer, tanh_layer};
use super::words::words;
use super::super::format::QuantizedView;
use super::input::QuantizedInput;
use super::super::fixed::LARGEST_SHIFT;
use super::super::moments::{CELLS, ROOT_OFFSET, ROOT_PARTS, ROOTS};

/// What a layer's turns read and where they write.
///
/// Passed by value: the first four words arrive in registers and the others on the stack, where the assembler keeps them.
#[repr(C)]
pub(super) struct LayerArgs<'w> {
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

impl<'w> LayerArgs<'w> {
    /// `None` if there are fewer than `groups` groups of four rows, no groups at all, no squares, or bytes that do not lie at a
    /// multiple of four.
    #[inline(always)]
    fn new(
        map: &QuantizedView<'w>,
        input: &QuantizedInput<'w>,
        groups: usize,
        units: &'w mut [f32],
        cells: &'w mut [[f32; 2]],
    ) -> Option<Self> {
        let [weights, squares] = map.streams();
        let (weights, squares) = (words(weights)?, words(squares)?);
        let blocks = map.padded.cols / 8;
        let stored = groups <= map.padded.groups && map.has_squares;
        let filled = input.means.len() == 4 * blocks && input.vars.len() == 4 * blocks;
        let walk = || {
            let (means, vars, units) =
                (input.means.as_ptr_range(), input.vars.as_ptr_range(), units.as_mut_ptr_range());
            LayerArgs {
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

/// Overwrites units of an Elman layer with tanh of their rows, as many as a kernel can, and returns how many: a multiple of
/// four.
#[inline(always)]
pub(in crate::quantized) fn tanh_units(map: &QuantizedView<'_>, input: &QuantizedInput<'_>, h: &mut [f32]) -> usize {
    let units = h.len() / 4 * 4;
    let h = h.get_mut(..units).unwrap_or_default();
    match LayerArgs::new(map, input, units / 4, h, &mut []) {
        // SAFETY: behind the walk's pointers lie as many groups of rows as it has units, four for each.
        Some(walk) => unsafe { tanh_layer(walk) },
        None => return 0,
    }
    units
}

/// Overwrites units and cells of an LSTM layer with their next state; `None` if no kernel can.
#[inline(always)]
pub(in crate::quantized) fn lstm_units(
    map: &QuantizedView<'_>,
    input: &QuantizedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) -> Option<()> {
    let units = h.len();
    let walk = LayerArgs::new(map, input, units, h, cells.get_mut(..units)?)?;
    // SAFETY: behind the walk's pointers lie as many groups of rows as it has units, and a cell for each.
    unsafe { lstm_layer(walk) };
    Some(())
}
