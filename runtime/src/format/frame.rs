//! The frame of every checkpoint: preamble, header, payload and checksum.

#[cfg(feature = "write")]
use super::WriteError;
use super::cursor::Cursor;
use super::shape::aligned;
use super::{Error, PLAIN_VERSION, Part, VERSION, crc, validate};

/// Bytes of the preamble before the header: magic, version, reserved, header length, payload length.
pub(super) const PREAMBLE: usize = 16;

/// First bytes of an envelope with a signature, in which a checkpoint may lie.
pub(crate) const SIGNED_MAGIC: [u8; 4] = *b"QVSG";

/// Content of a checkpoint, identified by its first four bytes. Frozen: programs that accept all kinds match
/// on it, and another one would be a new version of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// One network: a [`Model`](crate::Model).
    Predictor,
    /// Two networks around latent variables: a [`LatentCheckpoint`](crate::checkpoint::LatentCheckpoint).
    Latent,
    /// A network whose units or outputs are pooled over time, and a classifier: a
    /// [`ReducerCheckpoint`](crate::checkpoint::ReducerCheckpoint).
    Reducer,
}

impl Kind {
    /// First bytes of every checkpoint of this kind.
    pub const fn magic(self) -> [u8; 4] {
        match self {
            Kind::Predictor => *b"QVER",
            Kind::Latent => *b"QVLS",
            Kind::Reducer => *b"QVRD",
        }
    }

    /// Kind of the checkpoint that begins with these bytes; `None` if they are no checkpoint.
    ///
    /// ```
    /// use quaver::checkpoint::Kind;
    /// let bytes = quaver::include_checkpoint!("../../examples/grip_force.qvr");
    /// assert_eq!(Kind::of(bytes), Some(Kind::Predictor));
    /// ```
    pub const fn of(bytes: &[u8]) -> Option<Self> {
        match bytes.first_chunk() {
            Some(b"QVER") => Some(Kind::Predictor),
            Some(b"QVLS") => Some(Kind::Latent),
            Some(b"QVRD") => Some(Kind::Reducer),
            _ => None,
        }
    }
}

/// Parts of a checkpoint whose lengths and checksum are right.
pub(crate) struct Frame<'m> {
    pub(crate) header: &'m [u8],
    pub(crate) payload: &'m [u8],
    pub(crate) version: u16,
    pub(crate) crc: u32,
}

impl<'m> Frame<'m> {
    /// Checks the preamble, the checksum and the padding.
    pub(crate) fn read(bytes: &'m [u8], kind: Kind) -> Result<Self, Error> {
        let Preamble { header_bytes, payload_bytes, version } = Preamble::read(bytes, kind)?;
        let crc = check_crc(bytes)?;
        // The preamble has compared the sum of all parts with the file: none of them can be short.
        let mut cursor = Cursor::new(bytes.get(PREAMBLE..).unwrap_or_default());
        let (header, padding) = cursor.padded(header_bytes);
        validate::zeros(padding, Part::Preamble, "header padding")?;
        let payload = cursor.rest().get(..payload_bytes).unwrap_or_default();
        Ok(Frame { header, payload, version, crc })
    }
}

/// Header and payload of a checkpoint without checking it; `None` if it is too short. For constants: a
/// checksum over a large model would exceed the limits of compile-time evaluation.
pub(crate) const fn unchecked_sections(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let Some([_, _, _, _, _, _, _, _, h0, h1, h2, h3, _, _, _, _]) = bytes.first_chunk::<PREAMBLE>() else {
        return None;
    };
    let header_bytes = u32::from_le_bytes([*h0, *h1, *h2, *h3]) as usize;
    let (_, sections) = bytes.split_at(PREAMBLE);
    match sections.split_at_checked(aligned(header_bytes)) {
        Some((header, payload)) => Some((header.split_at(header_bytes).0, payload)),
        None => None,
    }
}

/// Header, payload and stored checksum of a checkpoint in a constant; `None` if a length is not right.
pub(crate) const fn known_sections(bytes: &[u8]) -> Option<[&[u8]; 3]> {
    let (Some((header, rest)), Some([.., p0, p1, p2, p3])) =
        (unchecked_sections(bytes), bytes.first_chunk::<PREAMBLE>())
    else {
        return None;
    };
    let payload_bytes = u32::from_le_bytes([*p0, *p1, *p2, *p3]) as usize;
    match rest.split_at_checked(payload_bytes) {
        Some((payload, crc)) if crc.len() == 4 => Some([header, payload, crc]),
        _ => None,
    }
}

struct Preamble {
    header_bytes: usize,
    payload_bytes: usize,
    version: u16,
}

impl Preamble {
    fn read(bytes: &[u8], kind: Kind) -> Result<Self, Error> {
        let found = bytes.len();
        let short = Error::Length { field: "preamble", expected: PREAMBLE, found };
        let preamble = bytes.first_chunk::<PREAMBLE>().ok_or(short)?;
        let [_, _, _, _, v0, v1, r0, r1, h0, h1, h2, h3, p0, p1, p2, p3] = *preamble;
        match Kind::of(bytes) {
            Some(found) if found == kind => {}
            Some(found) => return Err(Error::Kind { found }),
            None if bytes.starts_with(&SIGNED_MAGIC) => return Err(Error::Signed),
            None => return Err(Error::Magic),
        }
        let version = u16::from_le_bytes([v0, v1]);
        if !(PLAIN_VERSION..=VERSION).contains(&version) {
            return Err(Error::Version { found: version });
        }
        validate::zeros(&[r0, r1], Part::Preamble, "reserved")?;
        let header_bytes = u32::from_le_bytes([h0, h1, h2, h3]) as usize;
        let payload_bytes = u32::from_le_bytes([p0, p1, p2, p3]) as usize;
        let expected = aligned(header_bytes).saturating_add(payload_bytes).saturating_add(PREAMBLE + 4);
        if expected != found {
            return Err(Error::Length { field: "file", expected, found });
        }
        Ok(Preamble { header_bytes, payload_bytes, version })
    }
}

fn check_crc(bytes: &[u8]) -> Result<u32, Error> {
    let short = Error::Length { field: "file", expected: 4, found: bytes.len() };
    let (content, stored) = bytes.split_last_chunk::<4>().ok_or(short)?;
    let stored = u32::from_le_bytes(*stored);
    let computed = crc::checksum(content);
    if stored == computed { Ok(stored) } else { Err(Error::Crc { stored, computed }) }
}

/// Puts preamble, padding and checksum around a header and a payload.
#[cfg(feature = "write")]
pub(crate) fn framed(
    kind: Kind,
    version: u16,
    header: &[u8],
    payload: &[u8],
) -> Result<std::vec::Vec<u8>, WriteError> {
    let length = |bytes: usize, field| {
        u32::try_from(bytes).map(u32::to_le_bytes).map_err(|_| WriteError::TooLong { field, bytes })
    };
    let mut bytes = std::vec::Vec::with_capacity(PREAMBLE + header.len() + payload.len() + 20);
    bytes.extend(kind.magic());
    bytes.extend(version.to_le_bytes());
    bytes.extend([0, 0]);
    bytes.extend(length(header.len(), "header")?);
    bytes.extend(length(payload.len(), "payload")?);
    extend_padded(&mut bytes, header);
    bytes.extend(payload);
    bytes.extend(crc::checksum(&bytes).to_le_bytes());
    Ok(bytes)
}

/// Appends a section and its padding.
#[cfg(feature = "write")]
pub(crate) fn extend_padded(bytes: &mut std::vec::Vec<u8>, section: &[u8]) {
    bytes.extend(section);
    let padding = aligned(section.len()) - section.len();
    bytes.extend(core::iter::repeat_n(0, padding));
}

/// Numbers as little-endian bytes.
#[cfg(feature = "write")]
pub(crate) fn le_bytes(values: &[f32]) -> std::vec::Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
