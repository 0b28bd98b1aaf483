//! Elementary functions from additions, multiplications and bit shifts alone.
//!
//! They give the same bits on every core, cost a third of their general counterparts because their domains
//! are narrow, and have no branches, so that a compiler can run several at once on a host.

use core::f32::consts::LN_2;

/// 1/√x for x from 1 to 10³⁸, within 2·10⁻⁷ of itself.
///
/// Halving the bits of a float halves its exponent, which makes a start that is right to 4 %; a third-order
/// and then a second-order step of Householder's method on y⁻² − x do the rest.
#[inline(always)]
pub(super) fn inverse_sqrt(x: f32) -> f32 {
    /// Bits of a float three halves up the range of exponents, less what makes the start's error smallest.
    const MIRROR: u32 = 0x5f37_5a86;
    // Never wraps, as x is positive; saying so keeps a check for overflow out of debug builds.
    let start = f32::from_bits(MIRROR.wrapping_sub(x.to_bits() >> 1));
    let error = 1.0 - (x * start) * start;
    let closer = start + start * error * (0.5 + 0.375 * error);
    let error = 1.0 - (x * closer) * closer;
    closer + closer * error * 0.5
}

/// 2ˣ for |x| ≤ 126, within 3·10⁻⁷ of itself.
///
/// Adding a number so large that its last bit counts ones rounds x to an integer n and leaves n in the low
/// bits, whence it is shifted into the exponent. The fraction that is left, in ±½, goes through a polynomial
/// with the smallest largest error among those that are right in value and slope at zero.
#[inline(always)]
pub(crate) fn exp2(x: f32) -> f32 {
    /// 1.5·2²³, and the bias of the exponent.
    const ROUNDER: f32 = 12_582_912.0 + 127.0;
    let rounded = x + ROUNDER;
    let power = f32::from_bits(rounded.to_bits() << 23);
    let f = x - (rounded - ROUNDER);
    power
        * (1.0
            + f * (LN_2 + f * (0.240_222_81 + f * (0.055_505_6 + f * (0.009_669_708 + f * 0.001_330_026_5)))))
}
