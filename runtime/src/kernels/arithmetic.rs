//! Integer arithmetic that costs one instruction where the core has it and gives the same bits where it has not.

/// ⌊a·b / 2¹⁶⌋ for a 16-bit `b`: `SMULWB` on cores with DSP instructions.
#[inline(always)]
pub(crate) fn mul_word(a: i32, b: i32) -> i32 {
    debug_assert!(i16::try_from(b).is_ok(), "{b} has more than 16 bits");
    // A core without a long multiplication would call a library for it.
    if cfg!(all(target_arch = "arm", not(target_has_atomic = "32"))) {
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
pub(crate) fn mul_high(a: i32, b: i32) -> i32 {
    ((i64::from(a) * i64::from(b)) >> 32) as i32
}

/// ⌊a·b / 2³²⌋ of numbers without sign.
#[inline(always)]
pub(crate) fn mul_high_unsigned(a: u32, b: u32) -> u32 {
    ((u64::from(a) * u64::from(b)) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_give_the_same_bits_as_a_long_product() {
        for a in [0, 1, -1, 65_535, -65_536, 123_456_789, -987_654_321, i32::MAX, i32::MIN] {
            for b in [0, 1, -1, 12_345, -12_345, 32_767, -32_768] {
                assert_eq!(mul_word(a, b), mul_word_in_halves(a, b), "{a} {b}");
            }
        }
    }
}
