//! What every checkpoint has around its contents: a preamble, a header, a payload and a checksum.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use serde::Deserialize;

use super::layout::{PREAMBLE, aligned};
use super::{Error, Part, VERSION, validate};

/// Bitwise, because a table of 1 KB of flash for one pass at start-up is a poor bargain.
pub(crate) const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// What a checkpoint holds, told by its first four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// One network: a [`Model`](crate::Model).
    Predictor,
    /// Two networks around latent variables: a [`LatentCheckpoint`](super::LatentCheckpoint).
    Latent,
}

impl Kind {
    /// First bytes of every checkpoint of this kind.
    pub const fn magic(self) -> [u8; 4] {
        match self {
            Kind::Predictor => *b"QVER",
            Kind::Latent => *b"QVLS",
        }
    }

    /// The kind of a checkpoint that begins with these bytes; `None` if it is no checkpoint at all.
    ///
    /// ```
    /// use quaver::checkpoint::Kind;
    /// let bytes = quaver::include_checkpoint!("../../examples/grip_force.qvr");
    /// assert_eq!(Kind::of(bytes), Some(Kind::Predictor));
    /// ```
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let magic = bytes.first_chunk::<4>()?;
        [Kind::Predictor, Kind::Latent].into_iter().find(|kind| kind.magic() == *magic)
    }
}

/// The parts of a checkpoint whose lengths and checksum are right.
pub(crate) struct Frame<'m> {
    pub(crate) header: &'m [u8],
    pub(crate) payload: &'m [u8],
    pub(crate) crc: u32,
}

impl<'m> Frame<'m> {
    /// Checks the preamble, the checksum and the padding.
    pub(crate) fn read(bytes: &'m [u8], kind: Kind) -> Result<Self, Error> {
        let (preamble, rest) = Preamble::read(bytes, kind)?;
        let crc = check_crc(bytes)?;
        let (header, rest) = take(rest, preamble.header_bytes.into(), "header")?;
        let padding = aligned(preamble.header_bytes.into()) - u64::from(preamble.header_bytes);
        let (padding, rest) = take(rest, padding, "header padding")?;
        validate::zeros(padding, Part::Preamble, "header padding")?;
        let (payload, _) = take(rest, preamble.payload_bytes.into(), "payload")?;
        Ok(Frame { header, payload, crc })
    }

    /// The header, which must be used up to its last byte.
    pub(crate) fn decode<T: Deserialize<'m>>(&self) -> Result<T, Error> {
        let (header, unread) = postcard::take_from_bytes(self.header).map_err(|_| Error::Header)?;
        if unread.is_empty() {
            return Ok(header);
        }
        let found = self.header.len() as u64;
        Err(Error::Length { field: "header", expected: found - unread.len() as u64, found })
    }
}

struct Preamble {
    header_bytes: u32,
    payload_bytes: u32,
}

impl Preamble {
    fn read(bytes: &[u8], kind: Kind) -> Result<(Self, &[u8]), Error> {
        let short = Error::Length { field: "preamble", expected: PREAMBLE as u64, found: bytes.len() as u64 };
        let (preamble, rest) = bytes.split_first_chunk::<PREAMBLE>().ok_or(short)?;
        let [_, _, _, _, v0, v1, r0, r1, h0, h1, h2, h3, p0, p1, p2, p3] = *preamble;
        match Kind::of(bytes) {
            Some(found) if found == kind => {}
            Some(found) => return Err(Error::Kind { found }),
            None => return Err(Error::Magic),
        }
        let found = u16::from_le_bytes([v0, v1]);
        if found != VERSION {
            return Err(Error::Version { found });
        }
        validate::zeros(&[r0, r1], Part::Preamble, "reserved")?;
        let header_bytes = u32::from_le_bytes([h0, h1, h2, h3]);
        let payload_bytes = u32::from_le_bytes([p0, p1, p2, p3]);
        let expected = PREAMBLE as u64 + aligned(header_bytes.into()) + u64::from(payload_bytes) + 4;
        if expected != bytes.len() as u64 {
            return Err(Error::Length { field: "file", expected, found: bytes.len() as u64 });
        }
        Ok((Preamble { header_bytes, payload_bytes }, rest))
    }
}

fn check_crc(bytes: &[u8]) -> Result<u32, Error> {
    let short = Error::Length { field: "file", expected: 4, found: bytes.len() as u64 };
    let (content, stored) = bytes.split_last_chunk::<4>().ok_or(short)?;
    let stored = u32::from_le_bytes(*stored);
    let computed = CRC.checksum(content);
    if stored == computed { Ok(stored) } else { Err(Error::Crc { stored, computed }) }
}

/// The first `count` bytes, and the rest.
pub(crate) fn take<'m>(
    bytes: &'m [u8],
    count: u64,
    field: &'static str,
) -> Result<(&'m [u8], &'m [u8]), Error> {
    let short = Error::Length { field, expected: count, found: bytes.len() as u64 };
    usize::try_from(count).ok().and_then(|count| bytes.split_at_checked(count)).ok_or(short)
}
