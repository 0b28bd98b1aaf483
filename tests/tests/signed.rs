//! Signed envelopes: what was changed, cut, signed by another key or rolled back is refused, and what is
//! accepted is the checkpoint itself.

use std::fs;
use std::path::Path;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use quaver::signed::{Envelope, HEADER_BYTES, Opened, PublicKey, SignedError, open, seal};
use quaver::{Error, Model};
use quaver_tests::signing::{EXAMPLE_COUNTER, key, public_key, sealed};
use quaver_tests::{golden, golden_latent};

/// The smallest golden model.
fn small() -> Vec<u8> {
    golden::cases().into_iter().map(|case| case.model).min_by_key(Vec::len).expect("golden cases")
}

/// The counter and the length of the checkpoint of an envelope that opens.
fn opened(bytes: &[u8], least: u32) -> Result<(u32, usize), SignedError> {
    open(bytes, &public_key(), least).map(|opened| (opened.counter, opened.checkpoint.len()))
}

#[test]
fn every_kind_of_checkpoint_comes_out_as_it_went_in() {
    for case in golden::cases().into_iter().chain(golden_latent::cases()) {
        let envelope = sealed(&case.model, 3);
        let Opened { checkpoint, counter, .. } = open(&envelope, &public_key(), 3).expect("signed by us");
        assert_eq!((checkpoint, counter), (&case.model[..], 3), "{}", case.name);
        // In place, and aligned as the envelope is.
        assert_eq!(checkpoint.as_ptr(), envelope[HEADER_BYTES..].as_ptr());
        assert_eq!(HEADER_BYTES % 16, 0);
    }
}

#[test]
fn every_flipped_bit_is_refused() {
    let envelope = sealed(&small(), 5);
    for bit in 0..8 * envelope.len() {
        let mut changed = envelope.clone();
        changed[bit / 8] ^= 1 << (bit % 8);
        let error = opened(&changed, 0).expect_err("a changed bit");
        // Counter, signature and checkpoint are protected by the signature alone.
        assert!(
            error == SignedError::Signature || !(8..12).contains(&(bit / 8)) && bit / 8 < 16,
            "bit {bit}: {error}"
        );
    }
}

#[test]
fn every_byte_set_to_an_extreme_is_refused() {
    let envelope = sealed(&small(), 5);
    for index in 0..envelope.len() {
        for value in [0x00, 0x01, 0x7f, 0x80, 0xff] {
            let mut changed = envelope.clone();
            changed[index] = value;
            assert!(changed == envelope || opened(&changed, 0).is_err(), "byte {index} = {value}");
        }
    }
}

#[test]
fn every_truncation_and_every_extension_is_refused() {
    let envelope = sealed(&small(), 5);
    for len in 0..envelope.len() {
        let expected =
            if len < 4 { SignedError::Magic } else { SignedError::Length { expected: 0, found: len } };
        let error = opened(&envelope[..len], 0).expect_err("a truncated envelope");
        assert_eq!(std::mem::discriminant(&error), std::mem::discriminant(&expected), "{len} bytes: {error}");
    }
    for more in [&[0][..], &[0; 16], &envelope] {
        let found = envelope.len() + more.len();
        let longer = [&envelope, more].concat();
        assert_eq!(opened(&longer, 0), Err(SignedError::Length { expected: envelope.len(), found }));
    }
}

/// The same fields and checkpoint with the length of one, and the signature of another.
#[test]
fn parts_of_two_envelopes_do_not_make_a_third() {
    let (one, other) = (sealed(&small(), 5), sealed(&small(), 6));
    let mixed = [&one[..16], &other[16..]].concat();
    assert_eq!(opened(&mixed, 0), Err(SignedError::Signature));
}

#[test]
fn another_key_is_refused() {
    let model = small();
    let stranger = SigningKey::from_bytes(&[9; 32]);
    let envelope = seal(&model, 1, |message| stranger.sign(message).to_bytes()).expect("a small model");
    assert_eq!(opened(&envelope, 0), Err(SignedError::Signature));
    let theirs = PublicKey::new(stranger.verifying_key().to_bytes());
    assert!(open(&envelope, &theirs, 0).is_ok(), "their own key opens it");
    assert_eq!(open(&envelope, &PublicKey::new([0; 32]), 0), Err(SignedError::Key));
}

#[test]
fn a_signature_for_another_purpose_is_refused() {
    let model = small();
    // Signed without the words that begin every message.
    let envelope =
        seal(&model, 1, |message| key().sign(&message[message.len() - model.len() - 16..]).to_bytes());
    assert_eq!(opened(&envelope.expect("a small model"), 0), Err(SignedError::Signature));
}

#[test]
fn an_older_model_is_refused_and_the_same_one_is_not() {
    let model = small();
    for (counter, least) in [(5, 0), (5, 5), (u32::MAX, u32::MAX), (0, 0), (6, 5)] {
        assert_eq!(opened(&sealed(&model, counter), least), Ok((counter, model.len())));
    }
    for (found, least) in [(4, 5), (0, 1), (u32::MAX - 1, u32::MAX)] {
        assert_eq!(opened(&sealed(&model, found), least), Err(SignedError::Rollback { found, least }));
    }
    // Of a rolled-back and changed envelope the signature is reported: its counter is nobody's word.
    let mut changed = sealed(&model, 4);
    *changed.last_mut().expect("a byte") ^= 1;
    assert_eq!(opened(&changed, 5), Err(SignedError::Signature));
}

#[test]
fn headers_are_checked_before_the_signature() {
    let envelope = sealed(&small(), 5);
    let with = |index: usize, value: u8| {
        let mut changed = envelope.clone();
        changed[index] = value;
        Envelope::parse(&changed).err()
    };
    assert_eq!(with(0, b'X'), Some(SignedError::Magic));
    assert_eq!(with(4, 2), Some(SignedError::Version { found: 2 }));
    assert_eq!(with(6, 1), Some(SignedError::Reserved));
    assert!(matches!(with(15, 0xff), Some(SignedError::Length { .. })));
    assert_eq!(Envelope::parse(&small()), Err(SignedError::NotSigned));
    assert_eq!(Envelope::parse(b""), Err(SignedError::Magic));
}

#[test]
fn a_model_does_not_load_with_its_envelope() {
    let envelope = sealed(&small(), 5);
    assert_eq!(Model::load(&envelope).err(), Some(Error::Signed));
    assert_eq!(quaver::LatentModel::load(&envelope).err(), Some(Error::Signed));
}

/// Envelopes that differ in one byte of header, signature or checkpoint, against the strict verification of
/// ed25519-dalek.
#[test]
fn both_verifications_agree() {
    let (envelope, dalek) = (sealed(&small(), 5), key().verifying_key());
    let agree = |bytes: &[u8], dalek: &VerifyingKey| {
        let Ok(parsed) = Envelope::parse(bytes) else { return };
        let message =
            [b"quaver signed checkpoint 1\n", &bytes[..16], parsed.unverified_checkpoint()].concat();
        let signature = Signature::from_bytes(&bytes[16..HEADER_BYTES].try_into().expect("64 bytes"));
        let expected = dalek.verify_strict(&message, &signature).is_ok();
        assert_eq!(open(bytes, &PublicKey::new(dalek.to_bytes()), 0).is_ok(), expected);
    };
    agree(&envelope, &dalek);
    agree(&envelope, &SigningKey::from_bytes(&[1; 32]).verifying_key());
    for index in 0..envelope.len() {
        let mut changed = envelope.clone();
        changed[index] = changed[index].wrapping_mul(37).wrapping_add(11);
        agree(&changed, &dalek);
    }
}

#[test]
fn the_example_is_signed_with_the_example_key() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../runtime/examples");
    let read = |name: &str| fs::read(folder.join(name)).expect("an example");
    let expected = sealed(&read("grip_force.qvr"), EXAMPLE_COUNTER);
    assert!(read("grip_force.qvs") == expected, "run the binary signed_example of quaver-tests again");
}
