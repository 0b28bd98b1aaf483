//! The line between a board and a viewer: rows, predictions and scores, as binary frames or as text.
//!
//! One definition for both ends. A board encodes in fixed memory; a host decodes bytes in chunks of any
//! size, and counts what was damaged or lost on the way. `docs/reference/line-protocol.md` specifies both
//! forms.
//!
//! - [`Sample`] and [`Hello`]: what is sent.
//! - [`Encoder`]: binary frames, postcard in COBS with a sequence number and a CRC.
//! - [`teleplot`]: the same as lines of text, `>name:value`, for plotters that exist.
//! - `Decoder`: both forms from one stream of bytes (feature `std`).
//!
//! ```
//! use quaver_telemetry::{Encoder, Sample, sample_bytes};
//!
//! let mut buffer = [0; sample_bytes(2, 1)];
//! let (mean, epistemic, aleatoric) = (&[51.7][..], &[2.0][..], &[20.0][..]);
//! let row = &[14.0, f32::NAN][..];
//! let sample = Sample { row, mean, epistemic, aleatoric, ..Sample::default() };
//! let mut encoder = Encoder::new();
//! let frame = encoder.sample(&sample, &mut buffer)?;
//! assert!(frame.len() < 50);
//! # #[cfg(feature = "std")] {
//! use quaver_telemetry::{Decoder, Item};
//! let mut decoder = Decoder::new();
//! let items: Vec<Item> = frame.chunks(7).flat_map(|chunk| decoder.read(chunk)).collect();
//! assert!(matches!(&items[..], [Item::Sample(sample)] if sample.mean == [51.7]));
//! # }
//! # Ok::<(), quaver_telemetry::Error>(())
//! ```
#![no_std]
#![warn(missing_docs)]

#[cfg(any(feature = "std", test))]
extern crate std;

mod checksum;
#[cfg(any(feature = "std", test))]
mod counts;
#[cfg(any(feature = "std", test))]
mod decoder;
mod encoder;
mod frame;
pub mod teleplot;

#[cfg(any(feature = "std", test))]
pub use counts::Counts;
#[cfg(any(feature = "std", test))]
pub use decoder::{Decoder, Item, MAX_FRAME};
pub use encoder::{Encoder, Error, hello_bytes, sample_bytes};
pub use frame::{Channel, Hello, List, Sample, VERSION};

#[cfg(test)]
mod tests;
