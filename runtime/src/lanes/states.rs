//! Words of the states of sixteen streams, and of sixteen streams' worth of one word.

use super::{LANES, Lanes, Transpose};

/// The states of sixteen streams; empty where there is no stream.
pub(crate) type States<'a> = [&'a mut [f32]; LANES];

/// Reads words of all streams, from `start` on.
#[inline(always)]
pub(crate) fn gather<T: Transpose>(lanes: &mut [Lanes], start: usize, streams: &States<'_>) {
    let (blocks, rest) = lanes.as_chunks_mut::<LANES>();
    let last = start + LANES * blocks.len();
    for (index, block) in blocks.iter_mut().enumerate() {
        let start = start + LANES * index;
        for (row, stream) in block.iter_mut().zip(streams) {
            *row = stream.get(start..).and_then(|words| words.first_chunk()).copied().unwrap_or_default();
        }
        T::transpose(block);
    }
    for (index, lanes) in rest.iter_mut().enumerate() {
        for (lane, stream) in lanes.iter_mut().zip(streams) {
            *lane = stream.get(last + index).copied().unwrap_or_default();
        }
    }
}

/// Writes words of all streams, from `start` on.
#[inline(always)]
pub(crate) fn scatter<T: Transpose>(lanes: &[Lanes], start: usize, streams: &mut States<'_>) {
    let (blocks, rest) = lanes.as_chunks::<LANES>();
    let last = start + LANES * blocks.len();
    for (index, block) in blocks.iter().enumerate() {
        let start = start + LANES * index;
        let mut rows = *block;
        T::transpose(&mut rows);
        for (row, stream) in rows.iter().zip(&mut *streams) {
            if let Some(words) = stream.get_mut(start..).and_then(|words| words.first_chunk_mut()) {
                *words = *row;
            }
        }
    }
    for (index, lanes) in rest.iter().enumerate() {
        for (lane, stream) in lanes.iter().zip(&mut *streams) {
            if let Some(word) = stream.get_mut(last + index) {
                *word = *lane;
            }
        }
    }
}
