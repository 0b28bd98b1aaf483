//! Words of a checkpoint, aligned or not.

#![allow(unsafe_code)] // looking at aligned bytes as words

use crate::spec::Architecture;

/// A little-endian word in memory.
pub(super) trait Word: Copy {
    fn value(self) -> u32;
}

impl Word for u32 {
    #[inline(always)]
    fn value(self) -> u32 {
        u32::from_le(self)
    }
}

impl Word for [u8; 4] {
    #[inline(always)]
    fn value(self) -> u32 {
        u32::from_le_bytes(self)
    }
}

/// The bytes as words if they are aligned and whole: one load each, also on cores that cannot load across a
/// word.
#[inline(always)]
pub(super) fn words(bytes: &[u8]) -> Option<&[u32]> {
    let start = bytes.as_ptr().cast::<u32>();
    let whole = start.is_aligned() && bytes.len().is_multiple_of(4);
    // SAFETY: aligned, within the bytes, and every bit pattern is a u32.
    whole.then(|| unsafe { core::slice::from_raw_parts(start, bytes.len() / 4) })
}

/// Four little-endian integers: four loads if they are aligned, also on cores that cannot load across a word.
#[inline(always)]
pub(in crate::quantized) fn integers<A: Architecture>(list: &[[u8; 4]; 4]) -> [i32; 4] {
    match words(list.as_flattened()).and_then(|words| words.first_chunk()) {
        Some(words) => words.map(|word| u32::from_le(word) as i32),
        None if A::USES.unaligned => unaligned_integers(list),
        None => [0; 4],
    }
}

#[inline(never)] // rare, and long where words are put together from bytes
fn unaligned_integers(list: &[[u8; 4]; 4]) -> [i32; 4] {
    list.map(i32::from_le_bytes)
}
