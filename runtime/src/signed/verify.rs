//! Ed25519 verification (RFC 8032, section 5.1.7), strict: as `verify_strict` of the crate ed25519-dalek,
//! with which the tests compare it.
//!
//! It is composed here of curve25519-dalek and sha2, because ed25519-dalek verifies with a table lookup of
//! variable time, whose bounds check is a panic path that the compiler cannot remove. Multiplication in
//! constant time has none, at the price of more instructions.

use curve25519_dalek::constants::ED25519_BASEPOINT_POINT;
use curve25519_dalek::edwards::{CompressedEdwardsY, EdwardsPoint};
use curve25519_dalek::scalar::Scalar;
use sha2::{Digest, Sha512};

use super::{SIGNATURE_BYTES, SignedError};

/// Verifies the signature of a message in parts.
///
/// With a signature (R, S), a key A and h = SHA-512(R ‖ A ‖ message): S B − h A must be R, bit for bit, which
/// also excludes other encodings of R. S must be below the order of the group, so that a signature cannot be
/// changed into another one; A and R must not be of small order.
pub(super) fn verify(
    key: &[u8; 32],
    signature: &[u8; SIGNATURE_BYTES],
    message: &[&[u8]],
) -> Result<(), SignedError> {
    let ([r, s], []) = signature.as_chunks::<32>() else { return Err(SignedError::Signature) };
    let a = decode_key(key)?;
    let s: Option<Scalar> = Scalar::from_canonical_bytes(*s).into();
    let s = s.ok_or(SignedError::Signature)?;
    let mut hash = Sha512::new();
    hash.update(r);
    hash.update(key);
    message.iter().for_each(|part| hash.update(part));
    let h = Scalar::from_bytes_mod_order_wide(&hash.finalize().into());
    let expected = ED25519_BASEPOINT_POINT * s - a * h;
    let is_valid = !expected.is_small_order() && expected.compress().as_bytes() == r;
    if is_valid { Ok(()) } else { Err(SignedError::Signature) }
}

/// The point of a key that can be used.
pub(super) fn decode_key(key: &[u8; 32]) -> Result<EdwardsPoint, SignedError> {
    let point = CompressedEdwardsY(*key).decompress().ok_or(SignedError::Key)?;
    if point.is_small_order() || !is_canonical(key) { Err(SignedError::Key) } else { Ok(point) }
}

/// Whether the coordinate y of an encoded point is below 2²⁵⁵ − 19. The highest bit is the sign of x; its
/// second encoding of x = 0 is a point of small order.
fn is_canonical(key: &[u8; 32]) -> bool {
    let [lowest, middle @ .., highest] = key;
    *lowest < 0xed || middle.iter().any(|byte| *byte != 0xff) || highest & 0x7f != 0x7f
}
