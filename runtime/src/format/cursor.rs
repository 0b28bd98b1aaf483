//! Walking the payload section by section.

use super::F32s;
use super::shape::aligned;
use super::vector::Vector;
use crate::spec::ModelSpec;

/// A position in the payload.
///
/// Each step walks the payload again, which costs a few additions per layer and saves a table of offsets in
/// RAM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'m> {
    rest: &'m [u8],
}

impl<'m> Cursor<'m> {
    pub(crate) const fn new(bytes: &'m [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// The bytes that are left.
    pub(crate) const fn rest(&self) -> &'m [u8] {
        self.rest
    }

    /// Whether this position is at an address that is a multiple of four.
    #[cfg(feature = "quantized")]
    pub(crate) fn is_word_aligned(&self) -> bool {
        self.rest.as_ptr().cast::<u32>().is_aligned()
    }

    /// The next section without its padding, and the padding.
    #[cfg_attr(not(feature = "vectors"), inline(never))] // small on a board, fast on a host
    pub(crate) const fn padded(&mut self, bytes: usize) -> (&'m [u8], &'m [u8]) {
        let (section, rest) = split(self.rest, aligned(bytes));
        self.rest = rest;
        split(section, bytes)
    }

    /// The next bytes; empty beyond the end, as [`padded`](Self::padded).
    #[cfg(feature = "quantized")]
    pub(crate) fn take(&mut self, bytes: usize) -> &'m [u8] {
        let (section, rest) = self.rest.split_at_checked(bytes).unwrap_or_default();
        self.rest = rest;
        section
    }

    /// The next vector of numbers.
    pub(crate) const fn vector(&mut self, vector: Vector, spec: &ModelSpec) -> F32s<'m> {
        F32s::new(self.padded(4 * vector.count(spec)).0)
    }

    /// The vectors after the layers: they end the payload, so that the layers need not be walked.
    pub(crate) const fn last_vectors(&self, spec: &ModelSpec) -> [F32s<'m>; Vector::AFTER_LAYERS.len()] {
        let bytes = Vector::bytes_after_layers(spec);
        let mut cursor = Cursor { rest: split(self.rest, self.rest.len().saturating_sub(bytes)).1 };
        let mut vectors = [F32s::new(&[]); Vector::AFTER_LAYERS.len()];
        let mut index = 0;
        while index < Vector::AFTER_LAYERS.len() {
            vectors[index] = cursor.vector(Vector::AFTER_LAYERS[index], spec);
            index += 1;
        }
        vectors
    }
}

/// Both parts of a slice. Beyond the end everything is empty: reading a checkpoint has compared the total
/// with the payload.
const fn split(slice: &[u8], count: usize) -> (&[u8], &[u8]) {
    match slice.split_at_checked(count) {
        Some(parts) => parts,
        None => (&[], &[]),
    }
}

#[cfg(all(test, feature = "quantized"))]
mod tests {
    use super::*;

    #[test]
    fn words_are_aligned_at_every_fourth_byte() {
        let bytes = [0; 12];
        let start = bytes.as_ptr().align_offset(align_of::<u32>());
        for offset in 0..8 {
            let cursor = Cursor::new(&bytes[start + offset..]);
            assert_eq!(cursor.is_word_aligned(), offset % 4 == 0, "{offset}");
        }
    }
}
