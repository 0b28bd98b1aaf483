//! An envelope of any bytes is refused, or is exactly what its key has signed; with its signature mended it
//! opens, and gives back the bytes that are in it.
#![no_main]

use std::sync::LazyLock;

use ed25519_dalek::{Signer, SigningKey};
use libfuzzer_sys::fuzz_target;
use quaver::Model;
use quaver::signed::{Envelope, HEADER_BYTES, PublicKey, SignedError, open, seal};

static KEY: LazyLock<SigningKey> = LazyLock::new(|| SigningKey::from_bytes(&[7; 32]));

fuzz_target!(|bytes: &[u8]| {
    let key = PublicKey::new(KEY.verifying_key().to_bytes());
    let parsed = Envelope::parse(bytes);
    // Nobody here has signed these bytes.
    let opened = open(bytes, &key, 0);
    assert_eq!(opened.map(|_| ()).unwrap_err(), parsed.map_or_else(|error| error, |_| SignedError::Signature));
    let Ok(envelope) = parsed else { return };
    let (counter, checkpoint) = (envelope.unverified_counter(), envelope.unverified_checkpoint());
    assert_eq!(checkpoint.len() + HEADER_BYTES, bytes.len());
    let mended = seal(checkpoint, counter, |message| KEY.sign(message).to_bytes()).expect("a small model");
    assert_eq!(mended[..16], bytes[..16]);
    let opened = open(&mended, &key, counter).expect("signed by the key");
    assert_eq!((opened.counter, opened.checkpoint), (counter, checkpoint));
    let _ = Model::load(opened.checkpoint);
});
