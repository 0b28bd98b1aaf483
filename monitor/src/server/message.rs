//! What a viewer is sent: rows as bytes, everything else as JSON.

use crate::hub::Batch;
use crate::row::Meta;

/// First bytes of a message with rows.
pub const MAGIC: [u8; 4] = *b"QVM1";
/// Bytes before the first row, and of each row before its values.
pub const HEAD: usize = 32;
/// As [`HEAD`].
pub const ROW_HEAD: usize = 40;

/// Rows of a batch, all numbers with the lowest byte first:
///
/// | bytes | |
/// |---|---|
/// | 0–4 | `QVM1` |
/// | 4–8 | u32: number of rows |
/// | 8–12 | u32: numbers per row |
/// | 12–16 | u32: zero |
/// | 16–24 | f64: number of the first row since the start |
/// | 24–32 | f64: rows that this viewer was too slow for, in total |
///
/// then for each row f64 time, f64 arrival, u32 flags (1: begins, 2: anomalous, label × 256), u32 late, u32
/// dropped, f32 surprise, score and step in microseconds, and the values.
pub(super) fn encode(batch: &Batch, skipped: u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + batch.metas.len() * (ROW_HEAD + 4 * batch.width));
    bytes.extend(MAGIC);
    for number in [batch.metas.len() as u32, batch.width as u32, 0] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [batch.first as f64, skipped as f64] {
        bytes.extend(number.to_le_bytes());
    }
    for (meta, values) in batch.rows() {
        encode_meta(meta, &mut bytes);
        values.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    }
    bytes
}

fn encode_meta(meta: &Meta, bytes: &mut Vec<u8>) {
    bytes.extend(meta.time.to_le_bytes());
    bytes.extend(meta.arrival.to_le_bytes());
    let flags = u32::from(meta.begins) | u32::from(meta.anomalous) << 1 | u32::from(meta.label) << 8;
    for number in [flags, meta.late, meta.dropped] {
        bytes.extend(number.to_le_bytes());
    }
    for number in [meta.surprise, meta.score, meta.step_us] {
        bytes.extend(number.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_their_places() {
        let meta = Meta { time: 1.5, arrival: 2.5, late: 3, dropped: 4, surprise: 0.1, ..Meta::default() };
        let meta = Meta { label: 7, begins: true, anomalous: true, ..meta };
        let batch =
            Batch { first: 9, width: 2, metas: vec![meta], values: vec![1.0, f32::NAN], ..Batch::default() };
        let bytes = encode(&batch, 5);
        assert_eq!(bytes.len(), HEAD + ROW_HEAD + 8);
        assert_eq!(bytes[..12], *b"QVM1\x01\0\0\0\x02\0\0\0");
        let double = |at: usize| f64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four"));
        assert_eq!([double(16), double(24), double(32), double(40)], [9.0, 5.0, 1.5, 2.5]);
        assert_eq!([word(48), word(52), word(56)], [0x703, 3, 4]);
        assert_eq!([f32::from_bits(word(60)), f32::from_bits(word(HEAD + ROW_HEAD))], [0.1, 1.0]);
    }
}
