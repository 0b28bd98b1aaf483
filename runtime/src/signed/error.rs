//! Errors of opening an envelope.

use core::fmt;

/// Why an envelope was not opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum SignedError {
    /// The bytes begin neither like an envelope nor like a checkpoint.
    Magic,
    /// A checkpoint without an envelope: nobody has signed it.
    NotSigned,
    /// The version of the envelope is not one this crate reads.
    Version {
        /// The version found.
        found: u16,
    },
    /// Reserved bytes of the header are not zero.
    Reserved,
    /// The length of the envelope is another than its header states.
    Length {
        /// Bytes expected.
        expected: usize,
        /// Bytes found.
        found: usize,
    },
    /// The public key cannot be used: not a canonical point, or one of small order.
    Key,
    /// The signature is not one of these bytes by this key.
    Signature,
    /// The signature is right, but the model is older than one that was accepted.
    Rollback {
        /// The counter of the envelope.
        found: u32,
        /// The lowest counter that is accepted.
        least: u32,
    },
}

impl fmt::Display for SignedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            SignedError::Magic => f.write_str("not a signed Quaver checkpoint: the magic bytes are missing"),
            SignedError::NotSigned => {
                f.write_str("a checkpoint without a signature: sign it with `quaver sign`")
            }
            SignedError::Version { found } => {
                write!(f, "signed checkpoint of version {found}, but this build reads version 1")
            }
            SignedError::Reserved => f.write_str("reserved bytes of the header are not zero"),
            SignedError::Length { expected, found } => write!(
                f,
                "signed checkpoint: {expected} bytes expected, {found} found; the file is truncated or damaged"
            ),
            SignedError::Key => f.write_str(
                "the public key is unusable: not a canonical point of the curve, or one of small order",
            ),
            SignedError::Signature => {
                f.write_str("the signature does not match: signed with another key, or changed afterwards")
            }
            SignedError::Rollback { found, least } => write!(
                f,
                "rolled back: the counter is {found}, and models below {least} are no longer accepted"
            ),
        }
    }
}

impl core::error::Error for SignedError {}
