//! Fixed-point formats: fractional bits of every integer that a step computes with.

/// Fractional bits of a pre-activation's mean.
pub(super) const INPUT_BITS: u32 = 14;
/// Fractional bits of the mean of an activation.
pub(super) const MEAN_BITS: u32 = 28;
/// Fractional bits of a mean narrowed to a halfword: that of a unit, or of a gate.
pub(super) const SHORT_MEAN_BITS: u32 = 15;
/// Fractional bits of the variance of an activation.
pub(super) const VAR_BITS: u32 = 20;
/// Fractional bits of a unit's variance.
pub(super) const UNIT_VAR_BITS: u32 = 16;
/// Fractional bits of the variance of a map's input, before it is narrowed to a code.
pub(super) const WIDE_VAR_BITS: u32 = 18;
/// Least shift by which a wide variance is narrowed.
pub(super) const MIN_NARROWING: u32 = 2;
/// Largest shift of a [`BlockFloat`], for which v + 5/8 still fits a word.
pub(super) const LARGEST_SHIFT: u32 = 12;

/// A variance in block floating point, `mantissa`·2^−([`VAR_BITS`] + `shift`): mantissa below 2³⁰, shift from
/// 0 to [`LARGEST_SHIFT`].
///
/// All units of a layer share the shift, which follows the largest of their variances from step to step.
#[derive(Clone, Copy, Debug)]
pub(super) struct BlockFloat {
    pub(super) mantissa: i32,
    pub(super) shift: u32,
}

/// Mean with [`MEAN_BITS`] and variance with [`VAR_BITS`] fractional bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct FixedMoments {
    pub(super) mean: i32,
    pub(super) var: i32,
}

impl FixedMoments {
    /// The mean with [`SHORT_MEAN_BITS`] fractional bits.
    #[inline(always)]
    pub(super) fn short_mean(self) -> i32 {
        self.mean >> (MEAN_BITS - SHORT_MEAN_BITS)
    }
}

/// Moments of a unit, in one word: the mean in the lower half with [`SHORT_MEAN_BITS`] fractional bits, the
/// variance in the upper half with [`UNIT_VAR_BITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QuantizedUnit {
    /// −2¹⁵ to 2¹⁵ − 1.
    pub(super) mean: i32,
    /// 0 to 2¹⁶ − 1.
    pub(super) var: i32,
}

impl QuantizedUnit {
    #[inline(always)]
    pub(super) fn from_word(word: f32) -> Self {
        let bits = word.to_bits();
        QuantizedUnit { mean: i32::from(bits as i16), var: (bits >> 16) as i32 }
    }

    #[inline(always)]
    pub(super) fn to_word(self) -> f32 {
        f32::from_bits(self.mean as u16 as u32 | (self.var as u32) << 16)
    }
}
