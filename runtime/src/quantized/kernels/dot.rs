//! The way into a core's own sums.

#![allow(unsafe_code)] // assembler, and the pointers it walks

use super::core_kernels::dot_blocks;
use super::portable::{self, Sums};
use super::words::words;

/// [`portable::dot`].
#[inline(always)]
pub(in crate::quantized) fn dot(blocks: &[u8], pairs: &[f32]) -> Sums {
    let Some(words) = words(blocks) else { return portable::dot(blocks, pairs) };
    let count = (words.len() / 8).min(pairs.len() / 4);
    let mut sums = [0; 4];
    if count > 0 {
        // SAFETY: `count` blocks of eight words and as many times four words lie behind the pointers, and four words to write.
        unsafe { dot_blocks(words.as_ptr(), pairs.as_ptr(), count, &mut sums) };
    }
    sums
}
