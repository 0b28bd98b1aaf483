//! What is sent, as plain data. Borrowed on a board, owned on a host: the same definition, generic over both.

use serde::{Deserialize, Serialize, Serializer, ser::SerializeSeq};

/// Version of the binary frames, in every [`Hello`].
pub const VERSION: u8 = 1;

/// The first byte of a frame. A zero follows, so that every frame begins with 2 and its kind on the wire: no
/// line of text does, and none begins in the middle of a frame.
pub(crate) const HELLO: u8 = 1;
/// As [`HELLO`].
pub(crate) const SAMPLE: u8 = 2;

/// One row, and what the model made of it. All values in raw units.
///
/// `V` is `&[f32]` where frames are made, and `Vec<f32>` where they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Sample<V> {
    /// When the row was sampled, in microseconds since the board started.
    pub time_us: u64,
    /// How long the step took, in nanoseconds.
    pub step_ns: u32,
    /// Steps so far that began after the next row had been sampled.
    pub late: u32,
    /// Rows so far that were never read, because the queue was full.
    pub dropped: u32,
    /// Negative log-likelihood of the row in nats, for models that predict their own next input.
    pub surprise: Option<f32>,
    /// Whether the row exceeds the limit that was stored in the checkpoint for a rate of false alarms.
    pub anomalous: bool,
    /// The input row; NaN for a missing channel.
    pub row: V,
    /// Expected value of each output.
    pub mean: V,
    /// Propagated part of each variance.
    pub epistemic: V,
    /// Noise part of each variance.
    pub aleatoric: V,
}

/// What a viewer needs to label plots. Sent at the start and again from time to time, for viewers that come
/// later.
///
/// `S` is a text and `L` a list of [`Channel`]s: `&str` and a [`List`] where frames are made, `String` and
/// `Vec<Channel<String>>` where they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Hello<S, I, O = I> {
    /// [`VERSION`] of the sender.
    pub version: u8,
    /// The board and the program on it, such as "rp2040-pico replay".
    pub device: S,
    /// Checksum of the checkpoint: a name for exactly this model.
    pub model: u32,
    /// Rows per second that the board aims at.
    pub rate_hz: f32,
    /// Inputs of a row.
    pub inputs: I,
    /// Outputs of a prediction.
    pub outputs: O,
}

/// Name and unit of a channel; either may be empty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel<S> {
    /// Name of the channel.
    pub name: S,
    /// Its unit, such as "N" or "rad/s".
    pub unit: S,
}

/// An iterator that is sent as a list: names in a checkpoint are found by walking through it, and a board has
/// no memory to collect them in.
#[derive(Clone, Copy, Debug, Default)]
pub struct List<I>(pub I);

impl<I: Iterator<Item: Serialize> + Clone> Serialize for List<I> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.0.clone().count()))?;
        self.0.clone().try_for_each(|item| sequence.serialize_element(&item))?;
        sequence.end()
    }
}
