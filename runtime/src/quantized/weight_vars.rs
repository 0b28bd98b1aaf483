//! Variances of weights, the third section of an affine map in the layouts `fast` and `sparse`.
//!
//! V[a] = Σ ṽ (μ² + τ) + Σ m̃² τ + τ_b for weights of mean μ and variance τ, and a bias of variance τ_b. The
//! section `square` holds codes of μ² + τ; this one holds codes of τ, each row with a scale of its own, and
//! τ_b.

use super::fixed::{LARGEST_SHIFT, MIN_NARROWING, VAR_BITS};
use super::format::{QuantParams, Words, words};
use super::pairs::GroupPairs;

/// Bytes of [`WeightVarParams`].
pub(super) const WEIGHT_VAR_PARAMS: usize = 16;
/// Bytes of the scales of τ and of the variances of biases of four rows.
pub(super) const WEIGHT_VAR_SCALES: usize = 32;

/// Scales of variances from squares stay below this where weights have variances, so that the sum of all
/// three terms stays below 2³⁰ (see `BlockFloat`).
pub(super) const SHARED_VAR_SCALE_LIMIT: u32 = 1 << 30;
/// Scales of τ stay below this.
pub(super) const WEIGHT_VAR_SCALE_LIMIT: u32 = 1 << 29;
/// Variances of biases stay below this.
pub(super) const BIAS_VAR_LIMIT: u32 = 1 << 28;
/// Bits of the largest square of a code.
const LARGEST_SQUARE_BITS: u32 = 30;
/// Least exponent of squared means, for a shift of zero in `BlockFloat`.
const LEAST_SQUARE_EXPONENT: u32 = VAR_BITS + MIN_NARROWING;
/// Largest exponent of squared means: shifts fit a word.
pub(super) const LARGEST_SQUARE_EXPONENT: u32 = LEAST_SQUARE_EXPONENT + 31;

/// Fixed-point scales of a map's weight variances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WeightVarParams {
    /// Bits of the codes of m̃².
    pub(super) square_bits: u32,
    /// Σ m̃² τ = accumulator × row scale / 2³² · 2^(shift − exponent), with the shift by which squares of the
    /// codes of means were narrowed.
    pub(super) square_exponent: u32,
    /// Shift of the variances of biases (see `BlockFloat`).
    pub(super) bias_shift: u32,
    /// Zero.
    reserved: u32,
}

impl WeightVarParams {
    #[cfg(feature = "write")]
    pub(super) fn new(square_bits: u32, square_exponent: u32, bias_shift: u32) -> Self {
        WeightVarParams { square_bits, square_exponent, bias_shift, reserved: 0 }
    }

    fn read(bytes: [u8; WEIGHT_VAR_PARAMS]) -> Self {
        let [square_bits, square_exponent, bias_shift, reserved] = words(bytes);
        WeightVarParams { square_bits, square_exponent, bias_shift, reserved }
    }

    #[cfg(feature = "write")]
    pub(super) fn to_bytes(self) -> [u8; WEIGHT_VAR_PARAMS] {
        super::format::bytes([self.square_bits, self.square_exponent, self.bias_shift, self.reserved])
    }

    /// Largest shift by which squares are narrowed.
    pub(super) fn largest_narrowing(&self) -> u32 {
        self.square_exponent.saturating_sub(VAR_BITS)
    }

    /// The largest square of a code that the exponent leaves room for; larger ones saturate.
    pub(super) fn square_limit(&self) -> u32 {
        (1 << (self.square_bits + self.largest_narrowing()).min(LARGEST_SQUARE_BITS)) - 1
    }

    /// How many more bits the codes of m̃² need, so that no squared mean of a unit saturates.
    #[cfg(feature = "write")]
    pub(super) fn missing_bits(&self, quant_params: &QuantParams) -> u32 {
        let bits = ((quant_params.unit * quant_params.unit) as u32).max(1).ilog2() + 1;
        bits.saturating_sub(self.square_bits + self.largest_narrowing())
    }

    /// Whether a step with these scales stays inside its integers, and no squared mean of a unit saturates.
    pub(super) fn is_sound(&self, quant_params: &QuantParams) -> bool {
        (1..=14).contains(&self.square_bits)
            && (LEAST_SQUARE_EXPONENT..=LARGEST_SQUARE_EXPONENT).contains(&self.square_exponent)
            && self.bias_shift <= LARGEST_SHIFT
            && self.reserved == 0
            && quant_params.unit * quant_params.unit <= self.square_limit() as f32
    }
}

/// Weight variances of four rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightVarGroup<'m> {
    /// Blocks of codes of τ.
    pub(super) codes: &'m [u8],
    pub(super) scales: &'m Words,
    /// Variances of the biases, with the fractional bits of `WeightVarParams::bias_shift`.
    pub(super) bias_vars: &'m Words,
    /// The pairs of columns that the blocks hold.
    pub(super) pairs: GroupPairs<'m>,
}

/// The section of a map; empty without weight variances.
#[derive(Clone, Copy, Debug)]
pub(super) struct WeightVars<'m>(pub(super) &'m [u8]);

impl<'m> WeightVars<'m> {
    /// The scales that all rows share; `None` without weight variances.
    #[inline(always)]
    pub(super) fn params(self) -> Option<WeightVarParams> {
        self.0.first_chunk().map(|bytes| WeightVarParams::read(*bytes))
    }

    /// The groups: for each four rows their blocks, then their scales and variances of biases.
    #[inline(always)]
    pub(super) fn stream(self) -> &'m [u8] {
        self.0.get(WEIGHT_VAR_PARAMS..).unwrap_or_default()
    }
}
