//! Reading a checkpoint where it lies: everything is checked once, nothing is copied.

use crc::{CRC_32_ISO_HDLC, Crc, NoTable};
use serde::{Deserialize, Serialize};

use super::layout::{AffineShape, PREAMBLE, Section, Vector, aligned};
use super::packed::PackedView;
use super::spec::{ModelSpec, WeightFormat};
use super::validate;
use super::{Error, F32s, MAGIC, Part, VERSION};

/// Bitwise, because a table of 1 KB of flash for one pass at start-up is a poor bargain.
pub(crate) const CRC: Crc<u32, NoTable> = Crc::<u32, NoTable>::new(&CRC_32_ISO_HDLC);

/// The part of a checkpoint that postcard encodes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Header<'m> {
    pub(crate) spec: ModelSpec,
    /// One name per line.
    pub(crate) input_names: &'m str,
    /// One name per line.
    pub(crate) output_names: &'m str,
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
        let (preamble, rest) = Preamble::read(bytes)?;
        let crc = check_crc(bytes)?;
        let (header_bytes, rest) = take(rest, preamble.header_bytes.into(), "header")?;
        let padding = aligned(preamble.header_bytes.into()) - u64::from(preamble.header_bytes);
        let (padding_bytes, rest) = take(rest, padding, "header padding")?;
        validate::zeros(padding_bytes, Part::Preamble, "header padding")?;
        let (payload, _) = take(rest, preamble.payload_bytes.into(), "payload")?;

        let (header, unread) =
            postcard::take_from_bytes::<Header<'m>>(header_bytes).map_err(|_| Error::Header)?;
        if !unread.is_empty() {
            let found = header_bytes.len() as u64;
            return Err(Error::Length { field: "header", expected: found - unread.len() as u64, found });
        }
        let checkpoint = Checkpoint { header, payload, crc };
        validate::spec(checkpoint.spec())?;
        validate::names(checkpoint.header.input_names, checkpoint.spec().inputs, "input_names")?;
        validate::names(checkpoint.header.output_names, checkpoint.spec().outputs, "output_names")?;
        checkpoint.check_payload()?;
        Ok(checkpoint)
    }

    fn check_payload(&self) -> Result<(), Error> {
        let expected = self.spec().payload_bytes();
        let found = self.payload.len() as u64;
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

    /// Names of the inputs, in order.
    pub fn input_names(&self) -> impl Iterator<Item = &'m str> + use<'m> {
        self.header.input_names.lines()
    }

    /// Names of the outputs, in order.
    pub fn output_names(&self) -> impl Iterator<Item = &'m str> + use<'m> {
        self.header.output_names.lines()
    }

    /// The payload from its start.
    pub(crate) fn cursor(&self) -> Cursor<'m> {
        Cursor { rest: self.payload }
    }
}

struct Preamble {
    header_bytes: u32,
    payload_bytes: u32,
}

impl Preamble {
    fn read(bytes: &[u8]) -> Result<(Self, &[u8]), Error> {
        let short = Error::Length { field: "preamble", expected: PREAMBLE as u64, found: bytes.len() as u64 };
        let (preamble, rest) = bytes.split_first_chunk::<PREAMBLE>().ok_or(short)?;
        let [m0, m1, m2, m3, v0, v1, r0, r1, h0, h1, h2, h3, p0, p1, p2, p3] = *preamble;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(Error::Magic);
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

fn take<'m>(bytes: &'m [u8], count: u64, field: &'static str) -> Result<(&'m [u8], &'m [u8]), Error> {
    let short = Error::Length { field, expected: count, found: bytes.len() as u64 };
    usize::try_from(count).ok().and_then(|count| bytes.split_at_checked(count)).ok_or(short)
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
    pub(crate) fn padded(&mut self, bytes: u64) -> (&'m [u8], &'m [u8]) {
        // Beyond the end everything is empty: `Checkpoint::read` has compared the total with the payload.
        let cut = |slice: &'m [u8], count: u64| {
            usize::try_from(count).ok().and_then(|count| slice.split_at_checked(count)).unwrap_or((&[], &[]))
        };
        let (section, rest) = cut(self.rest, aligned(bytes));
        self.rest = rest;
        cut(section, bytes)
    }

    /// The next bytes; empty beyond the end, as [`padded`](Self::padded).
    pub(crate) fn take(&mut self, bytes: usize) -> &'m [u8] {
        let (section, rest) = self.rest.split_at_checked(bytes).unwrap_or_default();
        self.rest = rest;
        section
    }

    /// The next list of numbers.
    pub(crate) fn vector(&mut self, vector: Vector, spec: &ModelSpec) -> F32s<'m> {
        F32s::new(self.padded(4 * vector.count(spec)).0)
    }

    /// The next affine map.
    pub(crate) fn affine(&mut self, shape: AffineShape) -> AffineView<'m> {
        let mut section = |section| self.padded(shape.bytes(section)).0;
        AffineView {
            shape,
            bias: F32s::new(section(Section::Bias)),
            bias_var: F32s::new(section(Section::BiasVar)),
            weight_scale: F32s::new(section(Section::WeightScale)),
            weight: section(Section::Weight),
            deviation_scale: F32s::new(section(Section::DeviationScale)),
            weight_var: section(Section::WeightVar),
        }
    }
}

impl<'m> Cursor<'m> {
    /// Leaves out the next affine map.
    pub(crate) fn skip(&mut self, shape: AffineShape) {
        self.padded(shape.total());
    }

    /// The next affine map, in a packed layout.
    pub(crate) fn packed(&mut self, shape: AffineShape) -> PackedView<'m> {
        PackedView::read(self, shape)
    }
}

/// One affine map, its numbers still in the checkpoint.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AffineView<'m> {
    shape: AffineShape,
    bias: F32s<'m>,
    bias_var: F32s<'m>,
    weight_scale: F32s<'m>,
    weight: &'m [u8],
    deviation_scale: F32s<'m>,
    weight_var: &'m [u8],
}

/// One row of an affine map.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'m> {
    /// Mean of the bias.
    pub bias: f32,
    /// Variance of the bias; 0 without weight variances.
    pub bias_var: f32,
    /// The weights of the row.
    pub weights: WeightRow<'m>,
}

/// The weights of one row, as stored.
#[derive(Clone, Copy, Debug)]
pub(crate) enum WeightRow<'m> {
    /// Single precision; `var` is empty without weight variances.
    F32 {
        /// Means.
        mean: F32s<'m>,
        /// Variances.
        var: F32s<'m>,
    },
    /// Bytes; `deviation` is empty without weight variances.
    Int8 {
        /// Signed codes: mean = code × `scale`.
        codes: &'m [u8],
        /// Scale of the means.
        scale: f32,
        /// Unsigned codes: standard deviation = code × `deviation_scale`.
        deviations: &'m [u8],
        /// Scale of the standard deviations.
        deviation_scale: f32,
    },
}

impl<'m> AffineView<'m> {
    /// Number of columns.
    pub(crate) fn cols(&self) -> usize {
        self.shape.cols
    }

    /// The rows in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = Row<'m>> {
        (0..self.shape.rows).map(move |index| self.row(index))
    }

    /// Row `index`.
    fn row(&self, index: usize) -> Row<'m> {
        let cols = self.shape.cols;
        let start = index * cols;
        let weights = match self.shape.format {
            WeightFormat::F32 => WeightRow::F32 {
                mean: F32s::new(self.weight).part(start, cols),
                var: F32s::new(self.weight_var).part(start, cols),
            },
            WeightFormat::Int8 => WeightRow::Int8 {
                codes: part(self.weight, start, cols),
                scale: self.weight_scale.at(index),
                deviations: part(self.weight_var, start, cols),
                deviation_scale: self.deviation_scale.at(index),
            },
        };
        Row { bias: self.bias.at(index), bias_var: self.bias_var.at(index), weights }
    }
}

fn part(bytes: &[u8], start: usize, len: usize) -> &[u8] {
    bytes.get(start..).and_then(|tail| tail.get(..len)).unwrap_or_default()
}
