//! Damaged checkpoints, for the tests of every kind of reader.

use quaver::Error;

/// Asserts that a reader refuses a checkpoint that was cut short anywhere, or has a byte too many.
pub fn assert_every_truncation_is_refused(bytes: &[u8], error: impl Fn(&[u8]) -> Option<Error>) {
    for len in 0..bytes.len() {
        assert!(error(&bytes[..len]).is_some(), "{len} of {} bytes", bytes.len());
    }
    let longer = [bytes, &[0]].concat();
    assert!(matches!(error(&longer), Some(Error::Length { field: "file", .. })));
}

/// Asserts that a reader refuses a checkpoint in which a single bit has changed.
pub fn assert_every_flipped_bit_is_refused(bytes: &[u8], error: impl Fn(&[u8]) -> Option<Error>) {
    for bit in 0..8 * bytes.len() {
        let mut damaged = bytes.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(error(&damaged).is_some(), "bit {bit}");
    }
}

/// Sets the checksum at the end to that of the rest, so that a reader's other checks are on their own.
pub fn mend(bytes: &mut [u8]) {
    let (content, crc) = bytes.split_last_chunk_mut::<4>().expect("a checksum");
    *crc = crc32(content).to_le_bytes();
}

/// CRC-32 bit by bit, independent of what the product uses.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}
