//! Integer arithmetic: one instruction on cores that have it, the same bits on cores that do not.

/// Whether a long product would be a library call, as on Armv6-M.
const WITHOUT_LONG_PRODUCT: bool = cfg!(all(target_arch = "arm", not(target_has_atomic = "32")));

/// How words are multiplied. Both ways give the same bits.
pub(super) trait Products {
    /// ⌊a·b / 2¹⁶⌋ for a 16-bit `b`.
    fn mul_word(a: i32, b: i32) -> i32;
}

/// By one instruction on cores that have it: `SMULWB` on those with DSP instructions.
pub(super) struct Scalar;

impl Products for Scalar {
    #[inline(always)]
    fn mul_word(a: i32, b: i32) -> i32 {
        mul_word(a, b)
    }
}

/// In words of 32 bits, of which compilers make vectors.
#[cfg_attr(not(quaver_kernel = "portable"), allow(dead_code))] // for streams side by side
pub(super) struct Vector;

impl Products for Vector {
    #[inline(always)]
    fn mul_word(a: i32, b: i32) -> i32 {
        debug_assert!(i16::try_from(b).is_ok(), "{b} has more than 16 bits");
        mul_word_in_halves(a, b)
    }
}

/// ⌊a·b / 2¹⁶⌋ for a 16-bit `b`: `SMULWB` on cores with DSP instructions.
#[inline(always)]
pub(super) fn mul_word(a: i32, b: i32) -> i32 {
    debug_assert!(i16::try_from(b).is_ok(), "{b} has more than 16 bits");
    if WITHOUT_LONG_PRODUCT {
        mul_word_in_halves(a, b)
    } else {
        ((i64::from(a) * i64::from(b as i16)) >> 16) as i32
    }
}

/// [`mul_word`] by two short products: neither leaves 32 bits, and the upper one has no fraction to round.
#[inline(always)]
fn mul_word_in_halves(a: i32, b: i32) -> i32 {
    ((a >> 16).wrapping_mul(b)).wrapping_add((a & 0xFFFF).wrapping_mul(b) >> 16)
}

/// ⌊a·b / 2³²⌋: `SMMUL` on cores with DSP instructions, the upper half of a long product elsewhere.
#[inline(always)]
pub(super) fn mul_high(a: i32, b: i32) -> i32 {
    if WITHOUT_LONG_PRODUCT { mul_high_in_halves(a, b) } else { ((i64::from(a) * i64::from(b)) >> 32) as i32 }
}

/// [`mul_high`] by four short products, none of which leaves 32 bits with what is carried into it.
#[inline(always)]
fn mul_high_in_halves(a: i32, b: i32) -> i32 {
    let ([a, low_a], [b, low_b]) = ([a >> 16, a & 0xFFFF], [b >> 16, b & 0xFFFF]);
    let low = (low_a as u32).wrapping_mul(low_b as u32) >> 16;
    let middle = a.wrapping_mul(low_b).wrapping_add(low as i32);
    let cross = low_a.wrapping_mul(b).wrapping_add(middle & 0xFFFF);
    a.wrapping_mul(b).wrapping_add(middle >> 16).wrapping_add(cross >> 16)
}

/// ⌊a·b / 2³²⌋ of unsigned numbers.
#[inline(always)]
pub(super) fn mul_high_unsigned(a: u32, b: u32) -> u32 {
    if WITHOUT_LONG_PRODUCT {
        mul_high_unsigned_in_halves(a, b)
    } else {
        ((u64::from(a) * u64::from(b)) >> 32) as u32
    }
}

/// [`mul_high_unsigned`] as [`mul_high_in_halves`].
#[inline(always)]
fn mul_high_unsigned_in_halves(a: u32, b: u32) -> u32 {
    let ([a, low_a], [b, low_b]) = ([a >> 16, a & 0xFFFF], [b >> 16, b & 0xFFFF]);
    let middle = a.wrapping_mul(low_b).wrapping_add(low_a.wrapping_mul(low_b) >> 16);
    let cross = low_a.wrapping_mul(b).wrapping_add(middle & 0xFFFF);
    a.wrapping_mul(b).wrapping_add(middle >> 16).wrapping_add(cross >> 16)
}

/// `value as u32`: saturating, 0 for NaN.
#[inline(always)]
pub(super) fn to_integer(value: f32) -> u32 {
    // Without floating-point hardware, converting and comparing take three library calls.
    let emulated = cfg!(any(
        all(target_arch = "arm", not(target_abi = "eabihf")),
        all(target_arch = "riscv32", not(target_feature = "f"))
    ));
    if emulated { to_integer_by_bits(value) } else { value as u32 }
}

/// [`to_integer`] from the fields of a float: 1.m · 2^(e − 127), the sign above the exponent e.
#[inline(always)]
fn to_integer_by_bits(value: f32) -> u32 {
    let bits = value.to_bits();
    let mantissa = bits << 8 | 1 << 31;
    match bits {
        // Below one.
        0..0x3F80_0000 => 0,
        0x3F80_0000..0x4F80_0000 => mantissa >> (158_u32.wrapping_sub(bits >> 23) & 31),
        0x4F80_0000..=0x7F80_0000 => u32::MAX,
        // NaN, or negative.
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_give_the_same_integers_as_a_conversion() {
        for bits in (0..=u32::MAX).step_by(40_009).chain([0x3F7F_FFFF, 0x3F80_0000, 0x4F7F_FFFF, 0x4F80_0000])
        {
            let value = f32::from_bits(bits);
            assert_eq!(to_integer_by_bits(value), value as u32, "{value} {bits:x}");
        }
        for value in [0.0, -0.0, 1.0, 65_536.5, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, -f32::NAN] {
            assert_eq!(to_integer_by_bits(value), value as u32, "{value}");
        }
    }

    #[test]
    fn halves_give_the_same_bits_as_a_long_product() {
        for a in [0, 1, -1, 65_535, -65_536, 123_456_789, -987_654_321, i32::MAX, i32::MIN] {
            for b in [0, 1, -1, 12_345, -12_345, 32_767, -32_768] {
                assert_eq!(mul_word(a, b), mul_word_in_halves(a, b), "{a} {b}");
            }
        }
        let ends = [0, 1, -1, 65_535, 65_536, -65_536, 0x7FFF_8000, -0x7FFF_8001, i32::MAX, i32::MIN];
        let spread = (i32::MIN..i32::MAX).step_by(97_000_007);
        for a in ends.into_iter().chain(spread.clone()) {
            for b in ends.into_iter().chain(spread.clone()) {
                assert_eq!(mul_high(a, b), mul_high_in_halves(a, b), "{a} {b}");
                let (a, b) = (a as u32, b as u32);
                assert_eq!(mul_high_unsigned(a, b), mul_high_unsigned_in_halves(a, b), "{a} {b}");
            }
        }
    }
}
