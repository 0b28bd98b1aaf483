//! Signed envelopes for tests, firmware images and examples. The secret key is published here: a device that
//! trusts it trusts everybody.

use ed25519_dalek::{Signer, SigningKey};
use quaver::signed::{PublicKey, seal};

/// The secret key.
const SEED: &[u8; 32] = b"Quaver example key: never use it";

/// The counter of the example `runtime/examples/grip_force.qvs`.
pub const EXAMPLE_COUNTER: u32 = 7;

/// The key pair.
pub fn key() -> SigningKey {
    SigningKey::from_bytes(SEED)
}

/// The public key.
pub fn public_key() -> PublicKey {
    PublicKey::new(key().verifying_key().to_bytes())
}

/// A checkpoint in an envelope that is signed with [`key`].
pub fn sealed(checkpoint: &[u8], counter: u32) -> Vec<u8> {
    seal(checkpoint, counter, |message| key().sign(message).to_bytes()).expect("a checkpoint below 4 GB")
}
