//! Bytes of a checkpoint: frame, header, and the sections that every backend has.
//!
//! The format is specified in `checkpoint/SPEC.md`. This module moves bytes and checks them; it does none of
//! the network's arithmetic, and affine maps are the backends' own.

mod crc;
mod cursor;
mod decode;
#[cfg(feature = "write")]
mod encode;
mod error;
mod floats;
mod frame;
mod header;
mod known;
mod recheck;
mod shape;
mod validate;
mod vector;
#[cfg(feature = "write")]
mod write_error;

pub(crate) use cursor::Cursor;
pub(crate) use decode::{Decoder, decode_header, decode_latent_header, decode_reducer_header};
#[cfg(feature = "write")]
pub(crate) use encode::{encode_header, encode_latent_header, encode_reducer_header};
pub use error::{Error, Part};
pub(crate) use floats::F32s;
pub use frame::Kind;
#[cfg(feature = "signed")]
pub(crate) use frame::SIGNED_MAGIC;
pub(crate) use frame::{Frame, known_sections, unchecked_sections};
#[cfg(feature = "write")]
pub(crate) use frame::{extend_padded, framed, le_bytes};
pub(crate) use header::{Header, LatentHeader, ReducerHeader};
pub(crate) use known::{fingerprint, known_header, known_uses};
pub use recheck::Recheck;
#[cfg(all(feature = "write", feature = "quantized"))]
pub use shape::StoredBlocks;
pub(crate) use shape::{AffineShape, aligned};
#[cfg(feature = "float")]
pub(crate) use validate::{Limits, numbers};
pub(crate) use validate::{check, names, spec, vector, vectors, zeros};
pub(crate) use vector::Vector;
#[cfg(feature = "write")]
pub use write_error::WriteError;

/// Newest format version that this crate reads and writes: that of checkpoints with a linear part
/// ([`Extensions::linear`](crate::checkpoint::Extensions::linear)).
pub const VERSION: u16 = 5;

/// Version of checkpoints with plausible ranges, but without a linear part.
pub(crate) const RANGES_VERSION: u16 = 4;

/// Version of checkpoints with other [`Extensions`](crate::checkpoint::Extensions), and of latent models
/// with a prior that was fitted after training.
pub(crate) const EXTENDED_VERSION: u16 = 3;

/// Version of checkpoints without extensions, and of latent models without a prior that was fitted after
/// training.
pub(crate) const PLAIN_VERSION: u16 = 2;

/// Version of the frame of reducers; the network inside has one of its own.
pub(crate) const REDUCER_VERSION: u16 = 4;
