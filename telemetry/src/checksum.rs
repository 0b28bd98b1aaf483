//! The checksum of a frame: CRC-32, as in checkpoints.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, NoTable};
use postcard::Result;
use postcard::ser_flavors::Flavor;

/// Without a table: a frame has some hundred bytes, and a board better uses for its flash than 1 KB of these.
static CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// Bytes of the checksum.
pub(crate) const BYTES: usize = 4;

/// Checksum of some bytes.
#[cfg(any(feature = "std", test))]
pub(crate) fn of(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// Passes bytes on, and their checksum after the last.
pub(crate) struct Checksummed<F> {
    inner: F,
    digest: Digest<'static, u32, NoTable>,
}

impl<F> Checksummed<F> {
    pub(crate) fn new(inner: F) -> Self {
        Checksummed { inner, digest: CRC.digest() }
    }
}

impl<F: Flavor> Flavor for Checksummed<F> {
    type Output = F::Output;

    fn try_push(&mut self, byte: u8) -> Result<()> {
        self.digest.update(&[byte]);
        self.inner.try_push(byte)
    }

    fn finalize(mut self) -> Result<Self::Output> {
        self.inner.try_extend(&self.digest.finalize().to_le_bytes())?;
        self.inner.finalize()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::vec::Vec;

    use super::*;

    /// Any bytes in a frame with a valid checksum, without zeros around it.
    pub(crate) fn checksummed(bytes: &[u8]) -> Vec<u8> {
        let sum = of(bytes).to_le_bytes();
        let whole = [bytes, &sum].concat();
        let mut frame = std::vec![0; cobs::max_encoding_length(whole.len())];
        let length = cobs::encode(&whole, &mut frame);
        frame.truncate(length);
        frame
    }

    /// The check value of the catalogue of parametrised CRC algorithms for CRC-32/ISO-HDLC.
    #[test]
    fn the_checksum_is_the_common_one() {
        assert_eq!(of(b"123456789"), 0xCBF4_3926);
    }
}
