//! Kernels with the DSP instructions of Cortex-M4, M7 and M33: two products and two sums in one instruction.
//!
//! Whole layers run in assembler, from the first weight to the last unit's word: every register is in use, and a compiler would
//! spill. The bits are those of the portable functions, which define them: `packed::dot`, `moments::fixed::tanh` and
//! `cells::packed`.

#![allow(unsafe_code)] // assembler, and the pointers it walks

mod activations;
// Macros first, as their users need them; assembler keeps its own form.
#[macro_use]
#[rustfmt::skip]
mod blocks;
#[macro_use]
#[rustfmt::skip]
mod moments;
#[rustfmt::skip]
mod layers;

pub(crate) use activations::{fill_pairs, shorten};

use super::packed::{self, Sums};
use super::words::words;
use crate::cells::PackedInput;
use crate::checkpoint::PackedView;
use layers::LayerWalk;

/// [`packed::dot`].
#[inline(always)]
pub(crate) fn dot(blocks: &[u8], pairs: &[f32]) -> Sums {
    let Some(words) = words(blocks) else { return packed::dot(blocks, pairs) };
    let count = (words.len() / 8).min(pairs.len() / 4);
    let mut sums = [0; 4];
    if count > 0 {
        // SAFETY: `count` blocks of eight words and as many times four words lie behind the pointers, and four words to write.
        unsafe { blocks::dot_blocks(words.as_ptr(), pairs.as_ptr(), count, &mut sums) };
    }
    sums
}

/// Overwrites units of an Elman layer with tanh of their rows, as many as a kernel can, and returns how many: a multiple of
/// four.
#[inline(always)]
pub(crate) fn tanh_units(map: &PackedView<'_>, input: &PackedInput<'_>, h: &mut [f32]) -> usize {
    let units = h.len() / 4 * 4;
    let h = h.get_mut(..units).unwrap_or_default();
    match LayerWalk::new(map, input, units / 4, h, &mut []) {
        // SAFETY: behind the walk's pointers lie as many groups of rows as it has units, four for each.
        Some(walk) => unsafe { layers::tanh_layer(walk) },
        None => return 0,
    }
    units
}

/// Overwrites units and cells of an LSTM layer with their next state; `None` if no kernel can.
#[inline(always)]
pub(crate) fn lstm_units(
    map: &PackedView<'_>,
    input: &PackedInput<'_>,
    h: &mut [f32],
    cells: &mut [[f32; 2]],
) -> Option<()> {
    let units = h.len();
    let walk = LayerWalk::new(map, input, units, h, cells.get_mut(..units)?)?;
    // SAFETY: behind the walk's pointers lie as many groups of rows as it has units, and a cell for each.
    unsafe { layers::lstm_layer(walk) };
    Some(())
}
