//! Frames and lines from a stream of bytes, in chunks of any size.

use std::string::String;
use std::vec::Vec;

use serde::de::DeserializeOwned;

use crate::checksum;
use crate::counts::Counts;
use crate::frame::{Channel, HELLO, Hello, SAMPLE, Sample, VERSION};
use crate::teleplot::{self, Value};

/// Most bytes between two delimiters. Longer pieces count as damaged and are not kept.
pub const MAX_FRAME: usize = 64 * 1024;

/// Something that arrived.
#[derive(Clone, Debug, PartialEq)]
pub enum Item {
    /// Names and units of the channels.
    Hello(Hello<String, Vec<Channel<String>>>),
    /// A row with its prediction.
    Sample(Sample<Vec<f32>>),
    /// A value as a line of text.
    Value(Value<String>),
    /// Any other line of text, without its end.
    Text(String),
}

/// Takes bytes as they arrive.
///
/// Memory is bounded: at most one piece of [`MAX_FRAME`] bytes is kept.
#[derive(Clone, Debug, Default)]
pub struct Decoder {
    pub(crate) piece: Vec<u8>,
    /// Whether the piece holds a byte that text does not.
    has_control: bool,
    /// Whether the piece is too long, and all up to the next delimiter is ignored.
    is_overlong: bool,
    /// Whether there was a delimiter: what is before the first may be half of something.
    is_synchronised: bool,
    last: Option<u32>,
    counts: Counts,
}

impl Decoder {
    /// Before the first byte.
    pub fn new() -> Self {
        Decoder::default()
    }

    /// Takes some bytes; returns what they completed, in order.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<Item> {
        let mut items = Vec::new();
        for byte in bytes {
            let item = match byte {
                0 => self.end_piece(),
                b'\n' if self.is_text() => self.end_line(),
                _ => self.keep(*byte),
            };
            items.extend(item);
        }
        items
    }

    /// What became of the frames so far.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    fn keep(&mut self, byte: u8) -> Option<Item> {
        if self.piece.len() == MAX_FRAME {
            self.is_overlong = true;
            self.piece.clear();
        }
        if !self.is_overlong {
            self.has_control |= byte < b' ' && !matches!(byte, b'\t' | b'\r');
            self.piece.push(byte);
        }
        None
    }

    /// A line of text has no control characters, and a frame always has: its second byte is the kind.
    fn is_text(&self) -> bool {
        !self.is_overlong && !self.has_control && core::str::from_utf8(&self.piece).is_ok()
    }

    fn end_line(&mut self) -> Option<Item> {
        self.is_synchronised = true;
        let line = String::from_utf8(core::mem::take(&mut self.piece)).ok()?;
        self.counts.lines += 1;
        let line = line.trim_end_matches('\r');
        match teleplot::parse(line) {
            Some(value) => Some(Item::Value(value.into_owned())),
            None if line.starts_with('>') => {
                self.counts.damaged += 1;
                None
            }
            None => Some(Item::Text(line.into())),
        }
    }

    fn end_piece(&mut self) -> Option<Item> {
        if self.is_text() {
            // Nothing, or text that was cut off by a frame.
            let is_empty = self.piece.is_empty();
            self.is_synchronised = true;
            return if is_empty { None } else { self.end_line() };
        }
        let mut piece = core::mem::take(&mut self.piece);
        self.has_control = false;
        self.is_overlong = false;
        let was_synchronised = core::mem::replace(&mut self.is_synchronised, true);
        let length = piece.len() as u64;
        match frame(&mut piece) {
            Some((sequence, body)) => {
                self.counts.arrived(self.last.replace(sequence), sequence);
                self.body(body)
            }
            None if was_synchronised => {
                self.counts.damaged += 1;
                None
            }
            None => {
                self.counts.skipped_bytes += length;
                None
            }
        }
    }

    fn body(&mut self, (kind, body): (u8, &[u8])) -> Option<Item> {
        let item = match kind {
            HELLO if body.first() == Some(&VERSION) => whole(body).map(Item::Hello),
            SAMPLE => whole(body).filter(is_consistent).map(Item::Sample),
            _ => None,
        };
        self.counts.unknown += u64::from(item.is_none());
        item
    }
}

/// Undoes COBS and checks the sum: sequence number, kind and body.
fn frame(piece: &mut [u8]) -> Option<(u32, (u8, &[u8]))> {
    let length = cobs::decode_in_place(piece).ok()?;
    let (checked, sum) = piece.get(..length)?.split_last_chunk::<{ checksum::BYTES }>()?;
    if checksum::of(checked) != u32::from_le_bytes(*sum) {
        return None;
    }
    let ((kind, _, sequence), body) = postcard::take_from_bytes::<(u8, u8, u32)>(checked).ok()?;
    Some((sequence, (kind, body)))
}

/// A value that takes all bytes there are.
fn whole<T: DeserializeOwned>(body: &[u8]) -> Option<T> {
    postcard::take_from_bytes(body).ok().and_then(|(value, rest)| rest.is_empty().then_some(value))
}

/// Every output has a mean and two variances.
fn is_consistent(sample: &Sample<Vec<f32>>) -> bool {
    let outputs = sample.mean.len();
    sample.epistemic.len() == outputs && sample.aleatoric.len() == outputs
}
