//! The bytes of an envelope: a header, then the checkpoint.

#[cfg(feature = "write")]
use std::vec::Vec;

use super::{Opened, PublicKey, SIGNATURE_BYTES, SignedError, verify};
#[cfg(feature = "write")]
use crate::format::WriteError;
use crate::format::{Kind, SIGNED_MAGIC};

/// The part of the header that is signed: magic, version, reserved, counter, length of the checkpoint.
const FIELDS_BYTES: usize = 16;

/// Bytes before the checkpoint. A multiple of 16, so that the checkpoint is aligned as the envelope is.
pub const HEADER_BYTES: usize = FIELDS_BYTES + SIGNATURE_BYTES;

/// The only version there is.
const VERSION: u16 = 1;

/// Begins every signed message, so that no signature for another purpose, made with the same key, is one for
/// a checkpoint.
const DOMAIN: &[u8] = b"quaver signed checkpoint 1\n";

/// The parts of an envelope. Nothing says yet who has made them: [`verify`](Self::verify) does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'m> {
    fields: &'m [u8; FIELDS_BYTES],
    signature: &'m [u8; SIGNATURE_BYTES],
    checkpoint: &'m [u8],
    counter: u32,
}

impl<'m> Envelope<'m> {
    /// Whether these bytes begin like an envelope.
    pub const fn is_at(bytes: &[u8]) -> bool {
        matches!(bytes.first_chunk(), Some(&SIGNED_MAGIC))
    }

    /// Splits an envelope into its parts. Checks the header, but neither signature nor checkpoint; a
    /// `const fn`, for the size of an arena:
    ///
    /// ```
    /// use quaver::signed::Envelope;
    ///
    /// static BUILT_IN: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvs");
    /// const WORDS: usize = match Envelope::parse(BUILT_IN) {
    ///     Ok(envelope) => quaver::arena_words(envelope.unverified_checkpoint()),
    ///     Err(_) => panic!("not a signed checkpoint"),
    /// };
    /// assert_eq!(WORDS, 142);
    /// ```
    ///
    /// # Errors
    /// If the header is not that of an envelope, or the length is another than it states.
    pub const fn parse(bytes: &'m [u8]) -> Result<Self, SignedError> {
        if !Self::is_at(bytes) {
            return Err(if Kind::of(bytes).is_some() { SignedError::NotSigned } else { SignedError::Magic });
        }
        let short = Err(SignedError::Length { expected: HEADER_BYTES, found: bytes.len() });
        let Some((fields, rest)) = bytes.split_first_chunk::<FIELDS_BYTES>() else { return short };
        let Some((signature, checkpoint)) = rest.split_first_chunk::<SIGNATURE_BYTES>() else { return short };
        let [_, _, _, _, v0, v1, r0, r1, c0, c1, c2, c3, l0, l1, l2, l3] = *fields;
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(SignedError::Version { found: version });
        }
        if r0 != 0 || r1 != 0 {
            return Err(SignedError::Reserved);
        }
        let expected = (u32::from_le_bytes([l0, l1, l2, l3]) as usize).saturating_add(HEADER_BYTES);
        if expected != bytes.len() {
            return Err(SignedError::Length { expected, found: bytes.len() });
        }
        Ok(Envelope { fields, signature, checkpoint, counter: u32::from_le_bytes([c0, c1, c2, c3]) })
    }

    /// The counter in the header, which anyone may have written.
    pub const fn unverified_counter(&self) -> u32 {
        self.counter
    }

    /// The checkpoint, which anyone may have written.
    pub const fn unverified_checkpoint(&self) -> &'m [u8] {
        self.checkpoint
    }

    /// Verifies the signature, then the counter; see [`open`](super::open).
    ///
    /// # Errors
    /// If the key is unusable, the signature is not that of these bytes by this key, or the counter is below
    /// `least_counter`.
    pub fn verify(&self, key: &PublicKey, least_counter: u32) -> Result<Opened<'m>, SignedError> {
        verify::verify(key.as_bytes(), self.signature, &[DOMAIN, self.fields, self.checkpoint])?;
        if self.counter < least_counter {
            return Err(SignedError::Rollback { found: self.counter, least: least_counter });
        }
        Ok(Opened { checkpoint: self.checkpoint, counter: self.counter })
    }
}

/// Puts a checkpoint into an envelope (feature `write`). `sign` returns the Ed25519 signature of the message
/// that it is given; the key stays with the caller.
///
/// # Errors
/// If the checkpoint is longer than 2³² − 1 bytes.
#[cfg(feature = "write")]
pub fn seal(
    checkpoint: &[u8],
    counter: u32,
    sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
) -> Result<Vec<u8>, WriteError> {
    let bytes = checkpoint.len();
    let length = u32::try_from(bytes).map_err(|_| WriteError::TooLong { field: "checkpoint", bytes })?;
    let mut fields = Vec::with_capacity(HEADER_BYTES + bytes);
    fields.extend(SIGNED_MAGIC);
    fields.extend(VERSION.to_le_bytes());
    fields.extend([0, 0]);
    fields.extend(counter.to_le_bytes());
    fields.extend(length.to_le_bytes());
    let signature = sign(&[DOMAIN, &fields, checkpoint].concat());
    let mut envelope = fields;
    envelope.extend(signature);
    envelope.extend(checkpoint);
    Ok(envelope)
}
