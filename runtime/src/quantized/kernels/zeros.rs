//! Leading zeros on cores without an instruction that counts them.

/// Leading zeros of a word by its upper six bits. With none of them set there are six: v + 5/8 has twelve at
/// most (`moments::Root`), six of which are shifted out before.
pub(super) static ZEROS: [u8; 64] = {
    let mut zeros = [6; 64];
    let mut bits = 1;
    while bits < zeros.len() {
        zeros[bits] = (bits as u8).leading_zeros() as u8 - 2;
        bits += 1;
    }
    zeros
};
