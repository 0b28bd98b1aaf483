//! Dispatch to the dot-product kernel of the target core.

#![allow(unsafe_code)] // assembler, and the pointers it walks

use super::core_kernels::{dot_blocks, dot_pairs};
use super::portable::{self, Sums};
use super::words::words;
use crate::spec::Architecture;

/// [`portable::dot`].
#[inline(always)]
pub(in crate::quantized) fn dot<A: Architecture>(blocks: &[u8], pairs: &[f32]) -> Sums {
    let words = match words(blocks) {
        Some(words) => words,
        None if A::USES.unaligned => return portable::dot::<A>(blocks, pairs),
        None => &[],
    };
    let count = (words.len() / 8).min(pairs.len() / 4);
    let mut sums = [0; 4];
    if count > 0 {
        // SAFETY: `count` is not zero; `count` blocks of eight words and as many times four words lie behind
        // the pointers, and there are four words to write. Any contents will do: sums wrap around.
        unsafe { dot_blocks(words.as_ptr(), pairs.as_ptr(), count, &mut sums) };
    }
    sums
}

/// [`portable::dot_listed`].
#[inline(always)]
pub(in crate::quantized) fn dot_listed(blocks: &[u8], list: &[u8], pairs: &[f32]) -> Sums {
    let Some(words) = words(blocks) else { return portable::dot_listed(blocks, list, pairs) };
    let count = (words.len() / 2).min(list.len());
    let mut sums = [0; 4];
    if count > 0 {
        // SAFETY: `count` pairs of words and as many bytes lie behind the pointers, and there are four words
        // to write. The bytes are indices into `pairs`, which loading has compared with the columns of the
        // map (`validate_pairs::check_form`) and `Activations` fills for all of them; `Recheck` says whether
        // flash still holds what was checked.
        unsafe { dot_pairs(words.as_ptr(), pairs.as_ptr(), list.as_ptr(), count, &mut sums) };
    }
    sums
}
