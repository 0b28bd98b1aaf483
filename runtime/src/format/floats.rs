//! Numbers borrowed from a checkpoint's bytes.

/// Little-endian f32 values inside a checkpoint, read in place.
///
/// Bytes rather than `&[f32]`, because a checkpoint may sit at any address: on cores with unaligned loads
/// this compiles to the same single instruction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct F32s<'m>(&'m [[u8; 4]]);

impl<'m> F32s<'m> {
    /// Views bytes as numbers; a remainder of fewer than four bytes is ignored.
    pub(crate) const fn new(bytes: &'m [u8]) -> Self {
        F32s(bytes.as_chunks().0)
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(self) -> bool {
        self.0.is_empty()
    }

    /// The numbers in order.
    pub(crate) fn iter(self) -> impl ExactSizeIterator<Item = f32> + 'm {
        self.0.iter().map(|bytes| f32::from_le_bytes(*bytes))
    }

    /// The raw four-byte groups, for kernels that read several at a time.
    pub(crate) fn words(self) -> &'m [[u8; 4]] {
        self.0
    }

    /// The numbers from `start`, at most `len` of them.
    pub(crate) fn part(self, start: usize, len: usize) -> Self {
        let tail = self.0.get(start..).unwrap_or_default();
        F32s(tail.get(..len).unwrap_or(tail))
    }

    /// The numbers in order, two at a time; the last of an odd number is ignored.
    #[inline(always)]
    pub(crate) fn pairs(self) -> impl ExactSizeIterator<Item = [f32; 2]> + 'm {
        self.0.as_chunks::<2>().0.iter().map(|bytes| bytes.map(f32::from_le_bytes))
    }

    /// The numbers in order, three at a time.
    pub(crate) fn triples(self) -> impl ExactSizeIterator<Item = [f32; 3]> + 'm {
        self.0.as_chunks::<3>().0.iter().map(|bytes| bytes.map(f32::from_le_bytes))
    }

    /// Group `index` of `N` numbers, or zeros beyond the end.
    pub(crate) fn group<const N: usize>(self, index: usize) -> [f32; N] {
        self.0.as_chunks::<N>().0.get(index).map_or([0.0; N], |bytes| bytes.map(f32::from_le_bytes))
    }

    /// The number at `index`, or 0 beyond the end.
    pub(crate) const fn at(self, index: usize) -> f32 {
        if index < self.0.len() { f32::from_le_bytes(self.0[index]) } else { 0.0 }
    }
}
