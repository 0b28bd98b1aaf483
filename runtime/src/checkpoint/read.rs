//! Reading a checkpoint where it lies: everything is checked once, nothing is copied.

#[cfg(feature = "std")]
use serde::Serialize;

use super::layout::{AffineShape, PREAMBLE, Vector, aligned};
use super::spec::ModelSpec;
use super::{Error, F32s, MAGIC, Part, VERSION};
use super::{crc, decode, validate};

/// The part of a checkpoint that postcard encodes.
#[derive(Clone, Debug)]
#[cfg_attr(feature = "std", derive(Serialize))]
pub(crate) struct Header<'m> {
    pub(crate) spec: ModelSpec,
    /// One name per line.
    pub(crate) input_names: &'m [u8],
    /// One name per line.
    pub(crate) output_names: &'m [u8],
}

/// A checked checkpoint, borrowing its weights from the bytes it was read from.
#[derive(Clone, Debug)]
pub struct Checkpoint<'m> {
    header: Header<'m>,
    payload: &'m [u8],
    crc: u32,
}

impl<'m> Checkpoint<'m> {
    /// Checks every length, every number and the checksum.
    pub fn read(bytes: &'m [u8]) -> Result<Self, Error> {
        let Preamble { header_bytes, payload_bytes } = Preamble::read(bytes)?;
        let crc = check_crc(bytes)?;
        // The preamble has compared the sum of all parts with the file: none of them can be short.
        let mut cursor = Cursor { rest: bytes.get(PREAMBLE..).unwrap_or_default() };
        let (header, padding) = cursor.padded(header_bytes);
        validate::zeros(padding, Part::Preamble, "header padding")?;
        let payload = cursor.rest.get(..payload_bytes).unwrap_or_default();

        let (header, left) = decode::header(header).ok_or(Error::Header)?;
        if left != 0 {
            let expected = header_bytes - left;
            return Err(Error::Length { field: "header", expected, found: header_bytes });
        }
        let checkpoint = Checkpoint { header, payload, crc };
        checkpoint.check_contents()?;
        Ok(checkpoint)
    }

    #[inline(never)]
    fn check_contents(&self) -> Result<(), Error> {
        validate::spec(self.spec())?;
        validate::names(self.header.input_names, self.spec().inputs, "input_names")?;
        validate::names(self.header.output_names, self.spec().outputs, "output_names")?;
        self.check_payload()
    }

    fn check_payload(&self) -> Result<(), Error> {
        let expected = self.spec().payload_bytes();
        let found = self.payload.len();
        if expected != found {
            return Err(Error::Length { field: "payload", expected, found });
        }
        let mut cursor = self.cursor();
        for vector in Vector::BEFORE_LAYERS {
            validate::vector(cursor.padded(4 * vector.count(self.spec())), vector, Part::Scaler)?;
        }
        for (index, shape) in self.spec().layer_shapes().enumerate() {
            validate::affine(&mut cursor, shape, Part::Layer(index as u8))?;
        }
        validate::affine(&mut cursor, self.spec().output_shape(), Part::Output)?;
        for vector in Vector::AFTER_LAYERS {
            validate::vector(cursor.padded(4 * vector.count(self.spec())), vector, Part::Output)?;
        }
        Ok(())
    }

    /// The architecture.
    pub fn spec(&self) -> &ModelSpec {
        &self.header.spec
    }

    /// The checksum stored at the end of the file: a name for exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// Bytes of weights, biases and scales.
    pub fn payload_bytes(&self) -> usize {
        self.payload.len()
    }

    /// Names of the inputs, in order; none if they are not UTF-8.
    pub fn input_names(&self) -> impl Iterator<Item = &'m str> + use<'m> {
        names(self.header.input_names)
    }

    /// Names of the outputs, in order; none if they are not UTF-8.
    pub fn output_names(&self) -> impl Iterator<Item = &'m str> + use<'m> {
        names(self.header.output_names)
    }

    /// The payload from its start.
    pub(crate) fn cursor(&self) -> Cursor<'m> {
        Cursor { rest: self.payload }
    }
}

/// Read as text where names are asked for, and not before: most boards never do.
fn names(lines: &[u8]) -> impl Iterator<Item = &str> {
    core::str::from_utf8(lines).unwrap_or_default().lines()
}

struct Preamble {
    header_bytes: usize,
    payload_bytes: usize,
}

impl Preamble {
    fn read(bytes: &[u8]) -> Result<Self, Error> {
        let found = bytes.len();
        let short = Error::Length { field: "preamble", expected: PREAMBLE, found };
        let preamble = bytes.first_chunk::<PREAMBLE>().ok_or(short)?;
        let [m0, m1, m2, m3, v0, v1, r0, r1, h0, h1, h2, h3, p0, p1, p2, p3] = *preamble;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(Error::Magic);
        }
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(Error::Version { found: version });
        }
        validate::zeros(&[r0, r1], Part::Preamble, "reserved")?;
        let header_bytes = u32::from_le_bytes([h0, h1, h2, h3]) as usize;
        let payload_bytes = u32::from_le_bytes([p0, p1, p2, p3]) as usize;
        let expected = aligned(header_bytes).saturating_add(payload_bytes).saturating_add(PREAMBLE + 4);
        if expected != found {
            return Err(Error::Length { field: "file", expected, found });
        }
        Ok(Preamble { header_bytes, payload_bytes })
    }
}

fn check_crc(bytes: &[u8]) -> Result<u32, Error> {
    let short = Error::Length { field: "file", expected: 4, found: bytes.len() };
    let (content, stored) = bytes.split_last_chunk::<4>().ok_or(short)?;
    let stored = u32::from_le_bytes(*stored);
    let computed = crc::checksum(content);
    if stored == computed { Ok(stored) } else { Err(Error::Crc { stored, computed }) }
}

/// Walks the payload section by section.
///
/// A step walks it anew, which costs a few additions per layer and spares the table of offsets that would
/// otherwise stand in RAM.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'m> {
    rest: &'m [u8],
}

impl<'m> Cursor<'m> {
    /// The next section without its padding, and the padding.
    #[inline(never)]
    pub(crate) fn padded(&mut self, bytes: usize) -> (&'m [u8], &'m [u8]) {
        // Beyond the end everything is empty: `Checkpoint::read` has compared the total with the payload.
        let cut = |slice: &'m [u8], count| slice.split_at_checked(count).unwrap_or((&[], &[]));
        let (section, rest) = cut(self.rest, aligned(bytes));
        self.rest = rest;
        cut(section, bytes)
    }

    /// The next list of numbers.
    pub(crate) fn vector(&mut self, vector: Vector, spec: &ModelSpec) -> F32s<'m> {
        F32s::new(self.padded(4 * vector.count(spec)).0)
    }

    /// Leaves out the next affine map.
    pub(crate) fn skip(&mut self, shape: AffineShape) {
        self.padded(shape.total());
    }
}
