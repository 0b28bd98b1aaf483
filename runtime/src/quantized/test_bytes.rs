//! Bytes for tests of sums.

use std::vec::Vec;

/// Bytes without any pattern: codes that no exporter writes are among them.
#[cfg_attr(miri, allow(dead_code))] // which runs portable sums
pub(super) fn bytes(count: usize, seed: u32) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..count).map(|_| next()).collect()
}
