//! Moments of tanh and sigmoid in integers, by table: for cores that run int8 models.
//!
//! For a ~ N(m, v) let ρ = 1/√(1 + πv/2) and τ = mρ, the argument of the well-known tanh(m/√(1 + πv/2)) (Bayer 2015,
//! thesis, 2.3.4, with tanh a = 2σ(2a) − 1). In (τ, ρ) both E and V/(vρ²) are bounded and nearly straight, so that a
//! table of 17 × 64 cells with straight lines between them suffices. V is the product vρ² · ratio: it vanishes with v, and
//! keeps its relative precision however small v is.
//!
//! σ(a) = (1 + tanh(a/2))/2 uses the same table; whoever makes the pre-activations halves them.
//!
//! Largest errors against quadrature on m ∈ [−8, 8], √v ∈ [0, 8], as the tests measure them: 5·10⁻⁴ in the mean of tanh, 10⁻³
//! in its variance, 4 % of the variance where it is above 10⁻³; half of that in the mean of sigmoid and a quarter in its
//! variance.

pub(crate) use super::fixed_table::{CELLS, ROOTS};
use crate::kernels::{mul_word, with_sign_of};

/// Fractional bits of a pre-activation's mean.
pub(crate) const INPUT_BITS: u32 = 18;
/// Fractional bits of a mean that comes out.
pub(crate) const MEAN_BITS: u32 = 15;
/// Fractional bits of a variance that comes out.
pub(crate) const VAR_BITS: u32 = 20;

/// Mean with [`MEAN_BITS`] and variance with [`VAR_BITS`] fractional bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)] // for kernels in assembler
pub(crate) struct FixedMoments {
    pub(crate) mean: i32,
    pub(crate) var: i32,
}

/// A variance `mantissa`·2^−([`VAR_BITS`] + `shift`): mantissa below 2³⁰, shift from 0 to 31.
///
/// All units of a layer share the shift, whatever size their variances are at the time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spread {
    pub(crate) mantissa: i32,
    pub(crate) shift: u32,
}

/// τ is cut off at 4, where tanh is 1 up to 7·10⁻⁴.
const LARGEST_TAU: i32 = (4 << 17) - 1;

/// Moments of tanh(a) for a pre-activation with [`INPUT_BITS`] fractional bits.
#[inline(always)]
pub(crate) fn tanh(mean: i32, spread: Spread) -> FixedMoments {
    let root = inverse_root(spread);
    let rho = root >> 16;
    let tau = mul_word(mean, rho);
    let (cell, part) = place(tau);
    let row = (root >> 27) as usize & 15;
    let row_part = (root >> 12) & 0x7FFF;
    let [low, high] = [&CELLS[row], &CELLS[row + 1]].map(|row| [row[2 * cell], row[2 * cell + 1]]);
    let size = between(along(low[0], part), along(high[0], part), row_part) >> 16;
    let ratio = between(along(low[1], part), along(high[1], part), row_part) >> 16;
    let narrowed = mul_word(mul_word(spread.mantissa, rho), rho);
    // Two factors of 15 bits and one of 14 were divided by 2¹⁶ each: four bits are owed.
    let var = (mul_word(narrowed, ratio) << 4).wrapping_shr(spread.shift);
    FixedMoments { mean: with_sign_of(tau, size), var }
}

/// tanh(m) of a number that is certain.
#[inline(always)]
pub(crate) fn tanh_certain(mean: i32) -> i32 {
    let tau = mean >> 1;
    let (cell, part) = place(tau);
    with_sign_of(tau, along(CELLS[16][2 * cell], part) >> 16)
}

/// σ from tanh of half the argument: 15 bits again.
#[inline(always)]
pub(crate) fn sigmoid_mean(tanh: i32) -> i32 {
    (tanh + (1 << MEAN_BITS)) >> 1
}

/// ρ = 1/√(1 + πv/2), 15 bits in the upper half.
#[inline(always)]
fn inverse_root(spread: Spread) -> i32 {
    // The lowest bit is nothing to a variance and spares a case for zero.
    let mantissa = spread.mantissa as u32 | 1;
    let zeros = mantissa.leading_zeros();
    let normal = mantissa << zeros;
    // The table begins with the octave from 2¹¹, that of a mantissa without leading zeros and without shift.
    let octave = (zeros as i32 + spread.shift as i32).clamp(0, 31);
    let word = ROOTS[octave as usize & 31][(normal >> 27) as usize & 15];
    along(word, (normal >> 12) as i32 & 0x7FFF)
}

/// The table's cell for τ, and how far into it, in 13 bits.
#[inline(always)]
fn place(tau: i32) -> (usize, i32) {
    let size = with_sign_of(tau, tau).clamp(0, LARGEST_TAU);
    ((size >> 13) as usize & 63, size & 0x1FFF)
}

/// The value at `part` of a table's segment, in the upper half of the word: base plus slope × part in one instruction.
#[inline(always)]
fn along(word: i32, part: i32) -> i32 {
    word.wrapping_add(i32::from(word as i16) * part)
}

/// The value at `part` of the way from `low` to `high`.
#[inline(always)]
fn between(low: i32, high: i32, part: i32) -> i32 {
    low.wrapping_add(mul_word(high.wrapping_sub(low), part) << 1)
}
