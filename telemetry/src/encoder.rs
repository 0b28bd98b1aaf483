//! Binary frames in the caller's memory.

use core::fmt;

use postcard::ser_flavors::{Cobs, Slice};
use serde::Serialize;

use crate::checksum::{self, Checksummed};
use crate::frame::{HELLO, Hello, SAMPLE, Sample};

/// Why a frame was not encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// The buffer is too short: [`sample_bytes`] and [`hello_bytes`] are always enough.
    TooShort,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the buffer is too short for the frame; sample_bytes and hello_bytes compute enough")
    }
}

impl core::error::Error for Error {}

/// Numbers frames and encodes them: a zero, the frame in COBS, a zero.
#[derive(Clone, Copy, Debug, Default)]
pub struct Encoder {
    pub(crate) sequence: u32,
}

impl Encoder {
    /// Starts with frame 0, which tells a viewer that the board was started.
    pub fn new() -> Self {
        Encoder::default()
    }

    /// Encodes a sample.
    ///
    /// # Errors
    /// If the buffer is too short. The frame counts as sent: the viewer will count it as lost.
    pub fn sample<'b>(&mut self, sample: &Sample<&[f32]>, buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
        self.frame(SAMPLE, sample, buffer)
    }

    /// Encodes a greeting.
    ///
    /// # Errors
    /// If the buffer is too short. The frame counts as sent: the viewer will count it as lost.
    pub fn hello<'b, I, O>(
        &mut self,
        hello: &Hello<&str, I, O>,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8], Error>
    where
        I: Serialize,
        O: Serialize,
    {
        self.frame(HELLO, hello, buffer)
    }

    fn frame<'b>(
        &mut self,
        kind: u8,
        body: &impl Serialize,
        buffer: &'b mut [u8],
    ) -> Result<&'b [u8], Error> {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let (first, rest) = buffer.split_first_mut().ok_or(Error::TooShort)?;
        *first = 0;
        let cobs = Cobs::try_new(Slice::new(rest)).map_err(|_| Error::TooShort)?;
        let written = postcard::serialize_with_flavor(&(kind, 0_u8, sequence, body), Checksummed::new(cobs));
        let length = 1 + written.map_err(|_| Error::TooShort)?.len();
        buffer.get(..length).ok_or(Error::TooShort)
    }
}

/// Bytes on the wire of some bytes before COBS: one in 254 more, and three for the beginning and both zeros.
const fn on_the_wire(bytes: usize) -> usize {
    bytes + bytes / 254 + 3
}

/// Most bytes of an integer of so many bits: seven of them in each byte.
const fn varint_bytes(bits: usize) -> usize {
    bits.div_ceil(7)
}

/// Kind, the zero after it, sequence number and checksum.
const ENVELOPE: usize = 2 + varint_bytes(32) + checksum::BYTES;

/// Most bytes of the frame of a sample with so many channels, zeros on both sides included.
pub const fn sample_bytes(inputs: usize, outputs: usize) -> usize {
    let counters = varint_bytes(64) + 3 * varint_bytes(32);
    let scores = 1 + 4 + 1;
    let lists = 4 * varint_bytes(32) + 4 * (inputs + 3 * outputs);
    on_the_wire(ENVELOPE + counters + scores + lists)
}

/// Most bytes of the frame of a greeting with so many channels, whose texts have so many bytes in total.
pub const fn hello_bytes(channels: usize, texts: usize) -> usize {
    let lengths = (3 + 2 * channels) * varint_bytes(32);
    on_the_wire(ENVELOPE + 1 + varint_bytes(32) + 4 + lengths + texts)
}
