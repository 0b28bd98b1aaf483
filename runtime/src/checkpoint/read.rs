//! Reading a checkpoint where it lies: everything is checked once, nothing is copied.

#[cfg(feature = "std")]
use serde::Serialize;

use super::frame::{Frame, Kind};
use super::layout::{Vector, aligned};
use super::spec::ModelSpec;
use super::{Error, F32s, Part};
use super::{decode, validate};

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
        let Frame { header, payload, crc } = Frame::read(bytes, Kind::Predictor)?;
        let checkpoint = Checkpoint { header: decode::all(header, decode::header)?, payload, crc };
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
        Cursor::new(self.payload)
    }
}

/// Read as text where names are asked for, and not before: most boards never do.
fn names(lines: &[u8]) -> impl Iterator<Item = &str> {
    core::str::from_utf8(lines).unwrap_or_default().lines()
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
    pub(super) fn new(bytes: &'m [u8]) -> Self {
        Cursor { rest: bytes }
    }

    /// What is left.
    pub(super) fn rest(&self) -> &'m [u8] {
        self.rest
    }

    /// The next section without its padding, and the padding.
    #[cfg_attr(not(feature = "std"), inline(never))] // small on a board, fast on a host
    pub(crate) fn padded(&mut self, bytes: usize) -> (&'m [u8], &'m [u8]) {
        // Beyond the end everything is empty: `Checkpoint::read` has compared the total with the payload.
        let cut = |slice: &'m [u8], count| slice.split_at_checked(count).unwrap_or((&[], &[]));
        let (section, rest) = cut(self.rest, aligned(bytes));
        self.rest = rest;
        cut(section, bytes)
    }

    /// The next bytes; empty beyond the end, as [`padded`](Self::padded).
    #[cfg(feature = "quantized")]
    pub(crate) fn take(&mut self, bytes: usize) -> &'m [u8] {
        let (section, rest) = self.rest.split_at_checked(bytes).unwrap_or_default();
        self.rest = rest;
        section
    }

    /// The next list of numbers.
    pub(crate) fn vector(&mut self, vector: Vector, spec: &ModelSpec) -> F32s<'m> {
        F32s::new(self.padded(4 * vector.count(spec)).0)
    }

    /// The lists after the layers. They end the payload, so that nobody has to walk there.
    #[inline(never)] // its stack is free again for what comes after
    pub(crate) fn last_vectors(&self, spec: &ModelSpec) -> [F32s<'m>; 2] {
        let bytes = Vector::AFTER_LAYERS.map(|vector| aligned(4 * vector.count(spec)));
        let start = self.rest.len().saturating_sub(bytes[0] + bytes[1]);
        let mut cursor = Cursor { rest: self.rest.get(start..).unwrap_or_default() };
        Vector::AFTER_LAYERS.map(|vector| cursor.vector(vector, spec))
    }
}
