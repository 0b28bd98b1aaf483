//! Verification against the vectors of RFC 8032 and signatures that a lenient verifier accepts. The tests of
//! whole envelopes are in `tests/tests/signed.rs`.

use std::vec::Vec;

use curve25519_dalek::constants::{ED25519_BASEPOINT_POINT, EIGHT_TORSION};
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

use super::verify::verify;
use super::{PublicKey, SignedError};

/// Public key, message and signature: RFC 8032, section 7.1, tests 1 to 3 and "SHA(abc)".
const VECTORS: [[&str; 3]; 4] = [
    [
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b\
         d25bf5f0595bbe24655141438e7a100b",
    ],
    [
        "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c",
        "72",
        "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c\
         387b2eaeb4302aeeb00d291612bb0c00",
    ],
    [
        "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025",
        "af82",
        "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc659\
         4a7c15e9716ed28dc027beceea1ec40a",
    ],
    [
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd\
         454d4423643ce80e2a9ac94fa54ca49f",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b58909351fc9ac90b3ecfdfbc7c66431e030\
         3dca179c138ac17ad9bef1177331a704",
    ],
];

/// The order of the group, 2²⁵² + 27742317777372353535851937790883648493 (RFC 8032, section 5.1).
const ORDER: &str = "edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.chars().map(|digit| digit.to_digit(16).expect("hexadecimal") as u8).collect();
    digits.chunks(2).map(|pair| 16 * pair[0] + pair[1]).collect()
}

fn array<const N: usize>(hex: &str) -> [u8; N] {
    bytes(hex).try_into().expect("the right length")
}

#[test]
fn the_vectors_of_the_standard_are_accepted_in_any_parts() {
    for [key, message, signature] in VECTORS {
        let (key, message, signature) = (array(key), bytes(message), array(signature));
        assert_eq!(verify(&key, &signature, &[&message]), Ok(()));
        let (first, second) = message.split_at(message.len() / 2);
        assert_eq!(verify(&key, &signature, &[first, &[], second]), Ok(()));
        assert_eq!(verify(&key, &signature, &[&message, &[0]]), Err(SignedError::Signature));
    }
}

#[test]
fn every_flipped_bit_of_a_signature_is_refused() {
    for [key, message, signature] in VECTORS {
        let (key, message, signature) = (array(key), bytes(message), array::<64>(signature));
        for bit in 0..8 * signature.len() {
            let mut changed = signature;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(verify(&key, &changed, &[&message]), Err(SignedError::Signature), "bit {bit}");
        }
    }
}

/// S + L satisfies the same equation as S.
#[test]
fn a_second_form_of_a_signature_is_refused() {
    let [key, message, signature] = VECTORS[2];
    let (key, message, mut signature) = (array(key), bytes(message), array::<64>(signature));
    let mut carry = 0;
    for (byte, order) in signature[32..].iter_mut().zip(bytes(ORDER)) {
        let sum = u16::from(*byte) + u16::from(order) + carry;
        (*byte, carry) = (sum as u8, sum >> 8);
    }
    assert_eq!(carry, 0, "S + L fits 32 bytes");
    assert_eq!(verify(&key, &signature, &[&message]), Err(SignedError::Signature));
}

/// A signature by the secret scalar 5, with any R = r B + `torsion`.
fn signed(r: Scalar, torsion: EdwardsPoint, message: &[u8]) -> ([u8; 32], [u8; 64]) {
    let secret = Scalar::from(5_u8);
    let key = (ED25519_BASEPOINT_POINT * secret).compress().to_bytes();
    let r_bytes = (ED25519_BASEPOINT_POINT * r + torsion).compress().to_bytes();
    let hash = Sha512::new().chain_update(r_bytes).chain_update(key).chain_update(message).finalize();
    let s = r + Scalar::from_bytes_mod_order_wide(&hash.into()) * secret;
    (key, [r_bytes, s.to_bytes()].concat().try_into().expect("64 bytes"))
}

#[test]
fn points_of_small_order_in_a_signature_are_refused() {
    let (key, signature) = signed(Scalar::from(9_u8), EIGHT_TORSION[0], b"model");
    assert_eq!(verify(&key, &signature, &[b"model"]), Ok(()), "the signature is one");
    for torsion in EIGHT_TORSION {
        let (key, signature) = signed(Scalar::ZERO, torsion, b"model");
        assert_eq!(verify(&key, &signature, &[b"model"]), Err(SignedError::Signature));
    }
    for torsion in &EIGHT_TORSION[1..] {
        let (key, signature) = signed(Scalar::from(9_u8), *torsion, b"model");
        assert_eq!(verify(&key, &signature, &[b"model"]), Err(SignedError::Signature));
    }
}

#[test]
fn keys_of_small_order_off_the_curve_or_in_another_form_are_refused() {
    let refused = |key| assert_eq!(PublicKey::new(key).check(), Err(SignedError::Key));
    EIGHT_TORSION.iter().for_each(|point| refused(point.compress().to_bytes()));
    refused(array(&"02".repeat(32)));
    // The coordinates y + p with y below 19; half of them are on the curve.
    let mut on_curve = 0;
    for y in 2..19_u8 {
        let canonical: [u8; 32] = core::array::from_fn(|index| if index == 0 { y } else { 0 });
        let mut other = [0xff; 32];
        (other[0], other[31]) = (0xed + y, 0x7f);
        if let Some(point) = CompressedEdwardsY(canonical).decompress() {
            on_curve += 1;
            assert_eq!(CompressedEdwardsY(other).decompress(), Some(point), "the same point");
            assert_eq!(PublicKey::new(canonical).check(), Ok(()));
        }
        refused(other);
    }
    assert!(on_curve > 3, "{on_curve}");
}
