//! Words of a checkpoint, aligned or not.

#![allow(unsafe_code)] // looking at aligned bytes as words

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

/// The bytes as words if they are aligned and whole: one load each, also on cores that cannot load across a word.
#[inline(always)]
pub(super) fn words(bytes: &[u8]) -> Option<&[u32]> {
    // SAFETY: every bit pattern is a u32.
    let (before, words, after) = unsafe { bytes.align_to::<u32>() };
    (before.is_empty() && after.is_empty()).then_some(words)
}
