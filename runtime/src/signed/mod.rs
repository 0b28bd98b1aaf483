//! Only models you trust: an envelope with a signature and a counter around a checkpoint (feature `signed`).
//!
//! The checksum of a checkpoint detects accidents, and anyone can compute it. If models reach a device over a
//! channel that others can write to, sign them with `quaver sign`, and [`open`] them before they are loaded:
//!
//! ```
//! use quaver::signed::{self, PublicKey};
//! use quaver::{Arena, Predictor};
//!
//! // Written by `quaver keygen`; a constant of the firmware, in flash.
//! const KEY: PublicKey = PublicKey::new([
//!     0xde, 0xcf, 0x70, 0xe7, 0x67, 0x18, 0x51, 0xb6, 0xe1, 0x99, 0xdc, 0x49, 0x94, 0x4d, 0xa2, 0xd6,
//!     0x32, 0x97, 0x6b, 0x44, 0xb2, 0x07, 0x11, 0x4a, 0x37, 0x81, 0x19, 0xb5, 0x37, 0x13, 0x73, 0xbb,
//! ]);
//! # static UPDATE: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvs");
//! let mut highest_counter = 3; // of all models that this device has accepted; kept in flash
//!
//! let opened = signed::open(UPDATE, &KEY, highest_counter).expect("a model of ours, and no old one");
//! let mut arena = Arena::<142>::new();
//! let mut predictor = Predictor::load(opened.checkpoint, &mut arena)?; // in place: nothing was copied
//! highest_counter = opened.counter; // the model runs: no older one from now on
//! # assert_eq!(highest_counter, 7);
//! # assert!(predictor.step(&[14.0; 8]).mean().iter().all(|force| force.is_finite()));
//! # Ok::<(), quaver::Error>(())
//! ```
//!
//! Nothing of the checkpoint is interpreted before its signature has been verified. The signature is Ed25519
//! (RFC 8032), verified strictly, over every other byte of the envelope; the format is in `SPEC.md` next to
//! [`checkpoint`](crate::checkpoint). What it does not protect against: whoever has the secret key, whoever
//! can replace the firmware or the public key in it, and changes after [`open`] has returned.
//!
//! # Rollback
//!
//! An old model stays validly signed. The counter prevents it from coming back: store the highest counter
//! that was accepted, and pass it to every later [`open`]. Store it only after the new model has loaded and
//! run, in memory that survives a reset and that the channel of updates cannot write to. An equal counter is
//! accepted, because a device opens its model again at every start.
//!
//! # Cost
//!
//! Verifying multiplies two points in constant time, which leaves no panic path for the linker to find. It
//! happens once, before loading.

mod envelope;
mod error;
mod verify;

#[cfg(feature = "write")]
#[cfg_attr(docsrs, doc(cfg(feature = "write")))]
pub use envelope::seal;
pub use envelope::{Envelope, HEADER_BYTES};
pub use error::SignedError;

/// Bytes of a signature.
pub const SIGNATURE_BYTES: usize = 64;

/// An Ed25519 public key: 32 bytes of flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The key with these bytes, as `quaver keygen` writes them. They are checked when it is used.
    pub const fn new(bytes: [u8; 32]) -> Self {
        PublicKey(bytes)
    }

    /// The bytes of the key.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Checks that signatures can be verified with this key.
    ///
    /// # Errors
    /// [`SignedError::Key`] if it is not the canonical encoding of a point, or a point of small order, for
    /// which anybody can make signatures.
    pub fn check(&self) -> Result<(), SignedError> {
        verify::decode_key(&self.0).map(|_| ())
    }
}

/// A checkpoint whose signature was right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Opened<'m> {
    /// The checkpoint: part of the bytes that were opened, and aligned as they are. Loading validates it as
    /// any other.
    pub checkpoint: &'m [u8],
    /// The counter that it was signed with: at least the one that was asked for.
    pub counter: u32,
}

/// Verifies an envelope; the checkpoint in it is then one that the owner of the key has signed, and not older
/// than `least_counter`.
///
/// # Errors
/// See [`SignedError`]. Only [`SignedError::Rollback`] is returned after the signature was right.
pub fn open<'m>(bytes: &'m [u8], key: &PublicKey, least_counter: u32) -> Result<Opened<'m>, SignedError> {
    Envelope::parse(bytes)?.verify(key, least_counter)
}

#[cfg(test)]
mod tests;
