//! Keys that sign checkpoints, and their files.

mod key_file;

use anyhow::{Context, Result, anyhow};
use ed25519_dalek::{Signer, SigningKey};
use quaver::signed::{PublicKey, open, seal};

pub(crate) use key_file::{
    create_public, create_rust, create_secret, hex, read_public, read_secret, rust_constant,
};

/// An Ed25519 secret key. It is overwritten in memory when it is dropped, and has no `Debug`.
pub(crate) struct SecretKey(SigningKey);

impl SecretKey {
    /// A new key from the random numbers of the operating system.
    pub(crate) fn generate() -> Result<Self> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed)
            .map_err(|error| anyhow!("the operating system has no random numbers for a key: {error}"))?;
        Ok(SecretKey(SigningKey::from_bytes(&seed)))
    }

    /// The public key that belongs to it.
    pub(crate) fn public(&self) -> PublicKey {
        PublicKey::new(self.0.verifying_key().to_bytes())
    }

    /// Puts a checkpoint into a signed envelope and opens it again.
    pub(crate) fn seal(&self, checkpoint: &[u8], counter: u32) -> Result<Vec<u8>> {
        let envelope = seal(checkpoint, counter, |message| self.0.sign(message).to_bytes())?;
        open(&envelope, &self.public(), counter).context("the envelope does not open with its own key")?;
        Ok(envelope)
    }
}
