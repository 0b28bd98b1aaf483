//! From sixteen streams of sixteen numbers to sixteen numbers of each stream, and back.

use super::{LANES, Lanes};

/// A block of numbers: of one stream each, or one of each stream.
pub(crate) type Block = [Lanes; LANES];

/// The way in which a machine transposes a block.
pub(crate) trait Transpose {
    fn transpose(block: &mut Block);
}

/// In safe, portable Rust.
pub(crate) struct Portable;

impl Transpose for Portable {
    #[inline(always)]
    fn transpose(block: &mut Block) {
        let rows = *block;
        for (index, lanes) in block.iter_mut().enumerate() {
            for (lane, row) in lanes.iter_mut().zip(&rows) {
                *lane = row.get(index).copied().unwrap_or(0.0);
            }
        }
    }
}
