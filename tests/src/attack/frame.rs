//! The frame of a file: preamble, header, payload and checksum.

use quaver::checkpoint::Kind;

/// CRC-32 bit by bit, independent of the runtime's.
pub fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ (0xedb8_8320 * (crc & 1)))
    })
}

/// Appends zeros up to a multiple of 16.
pub fn pad(bytes: &mut Vec<u8>) {
    bytes.resize(bytes.len().next_multiple_of(16), 0);
}

/// A file from its parts.
pub fn framed(kind: Kind, version: u16, header: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut bytes = kind.magic().to_vec();
    bytes.extend(version.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend((header.len() as u32).to_le_bytes());
    bytes.extend((payload.len() as u32).to_le_bytes());
    bytes.extend(header);
    pad(&mut bytes);
    bytes.extend(payload);
    bytes.extend(crc32(&bytes).to_le_bytes());
    bytes
}

/// Version, header and payload of a file whose frame is right.
pub fn parts(bytes: &[u8]) -> Option<(u16, &[u8], &[u8])> {
    let word =
        |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().expect("four bytes")) as usize);
    let version = u16::from_le_bytes(bytes.get(4..6)?.try_into().expect("two bytes"));
    let (header, payload) = (word(8)?, word(12)?);
    let start = 16 + header.next_multiple_of(16);
    Some((version, bytes.get(16..16 + header)?, bytes.get(start..start + payload)?))
}

/// Length of the file that begins with these bytes.
pub fn length(bytes: &[u8]) -> Option<usize> {
    parts(bytes).map(|(_, header, payload)| 20 + header.len().next_multiple_of(16) + payload.len())
}

/// Mends the checksum of a changed file, and of the networks inside if there are any.
pub fn mend(bytes: &mut [u8]) {
    for start in (16..bytes.len()).step_by(16) {
        let Some((_, header, payload)) =
            bytes.get(start..).filter(|rest| rest.starts_with(b"QVER")).and_then(parts)
        else {
            continue;
        };
        let end = start + 16 + header.len().next_multiple_of(16) + payload.len() + 4;
        bytes.get_mut(start..end).map(mend_one);
    }
    mend_one(bytes);
}

fn mend_one(bytes: &mut [u8]) {
    if let Some((content, crc)) = bytes.split_last_chunk_mut::<4>() {
        *crc = crc32(content).to_le_bytes();
    }
}
