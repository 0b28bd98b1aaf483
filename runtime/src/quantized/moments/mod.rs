//! Moments of tanh and sigmoid in integers, by table.
//!
//! For a ~ N(m, v) let ρ be near 1/√(1 + πv/2) and τ = mρ, the argument of the well-known tanh(m/√(1 + πv/2))
//! (Bayer 2015, thesis, 2.3.4, with tanh a = 2σ(2a) − 1). In (τ, ρ) both E and V/(vρ²) are bounded and nearly
//! straight, so that 8 × 64 cells with a plane each suffice. V is the product v · ρ² · ratio: it vanishes
//! with v, and keeps its relative precision however small v is.
//!
//! σ(a) = (1 + tanh(a/2))/2 uses the same table; rows that end in a sigmoid are stored for half their
//! argument.
//!
//! Largest errors against quadrature on m ∈ [−8, 8], √v ∈ [0, 8], as the tests measure them: 6·10⁻⁴ in the
//! mean of tanh, 2.2·10⁻³ in its variance, 3 % of the variance where it is above 10⁻³; half of that in the
//! mean of sigmoid and a quarter in its variance.

mod table;

pub(super) use table::{CELLS, ROOTS};

use super::arithmetic::{Products, Scalar, mul_high_unsigned};
use super::fixed::{BlockFloat, FixedMoments, MEAN_BITS, SHORT_MEAN_BITS, VAR_BITS};

/// 5/8 with [`VAR_BITS`] fractional bits: what the table of roots adds to a variance.
pub(super) const ROOT_OFFSET: u32 = 5 << (VAR_BITS - 3);
/// Entries of the table of roots for each octave.
pub(super) const ROOT_PARTS: usize = 32;
/// Cells of the table of moments for each eighth of ρ.
pub(super) const CELL_COLUMNS: usize = 64;
/// τ is limited to 4, where tanh is 1 up to 7·10⁻⁴.
const LARGEST_TAU: i32 = (4 << 13) - 1;
/// ρ of a deterministic input, 15 bits.
const DETERMINISTIC_RHO: i32 = 32767;

/// Moments of tanh(a) for a pre-activation with [`INPUT_BITS`](super::fixed::INPUT_BITS) fractional bits.
#[inline(never)] // five inlined copies in one function would spill registers
pub(super) fn tanh(mean: i32, var: BlockFloat) -> FixedMoments {
    let root = Root::new(var);
    let argument = Argument::new::<Scalar>(mean, root.rho(root_word(root.place)));
    argument.moments::<Scalar>(cell(argument.place()), var)
}

/// Where ρ is found: an entry of the table of roots, and the part of the way to the next one.
#[derive(Clone, Copy)]
pub(super) struct Root {
    pub(super) place: u32,
    pub(super) part: i32,
}

impl Root {
    #[inline(always)]
    pub(super) fn new(var: BlockFloat) -> Self {
        let shift = var.shift & 15;
        // Bounded from below, and smooth near zero, which octaves of the variance itself would not be.
        let sum = (var.mantissa as u32).wrapping_add(ROOT_OFFSET << shift);
        let zeros = sum.leading_zeros();
        let normal = sum.unbounded_shl(zeros);
        let place = (zeros + shift) * ROOT_PARTS as u32 + (normal >> 26);
        // The highest bit of a normal number counts an octave too many.
        Root { place: place.wrapping_sub(ROOT_PARTS as u32), part: (normal >> 11) as i32 & 0x7FFF }
    }

    /// ρ, 15 bits, from the word of the table.
    #[inline(always)]
    pub(super) fn rho(self, word: i32) -> i32 {
        word.wrapping_add(low(word).wrapping_mul(self.part)) >> 16
    }
}

/// An entry of the table of roots.
#[inline(always)]
pub(super) fn root_word(place: u32) -> i32 {
    ROOTS.get(place as usize).copied().unwrap_or(0)
}

/// Where the moments of tanh are found.
#[derive(Clone, Copy)]
pub(super) struct Argument {
    pub(super) tau: i32,
    /// |τ|, less one unit if τ is negative, limited to the table.
    pub(super) size: i32,
    pub(super) rho: i32,
}

impl Argument {
    #[inline(always)]
    pub(super) fn new<P: Products>(mean: i32, rho: i32) -> Self {
        let tau = P::mul_word(mean, rho);
        Argument { tau, size: size(tau), rho }
    }

    /// A deterministic input.
    #[inline(always)]
    pub(super) fn deterministic(mean: i32) -> Self {
        let tau = mean >> 1;
        Argument { tau, size: size(tau), rho: DETERMINISTIC_RHO }
    }

    /// The place of the table's cell.
    #[inline(always)]
    pub(super) fn place(self) -> u32 {
        (self.rho >> 12) as u32 * CELL_COLUMNS as u32 + (self.size >> 9) as u32
    }

    /// The mean, from the table's cell.
    #[inline(always)]
    pub(super) fn mean(self, [mean, _, by_tau, by_rho]: [i32; 4]) -> i32 {
        signed_as(self.tau, mean + low(by_tau) * self.size + low(by_rho) * self.rho)
    }

    /// Both moments, from the table's cell and the variance of the pre-activation.
    #[inline(always)]
    pub(super) fn moments<P: Products>(self, cell: [i32; 4], var: BlockFloat) -> FixedMoments {
        let Argument { size, rho, .. } = self;
        let [_, ratio, by_tau, by_rho] = cell;
        let ratio = ratio + (by_tau >> 16) * size + (by_rho >> 16) * rho;
        // V/v with 25 fractional bits, below one by the making of the table.
        let factor = P::mul_word(P::mul_word(ratio, rho), rho) as u32;
        let var = mul_high_unsigned(var.mantissa as u32, factor << 7) >> var.shift;
        FixedMoments { mean: self.mean(cell), var: var as i32 }
    }
}

/// tanh(m) of a deterministic input.
#[inline(always)]
pub(super) fn deterministic_tanh(mean: i32) -> i32 {
    let argument = Argument::deterministic(mean);
    argument.mean(cell(argument.place()))
}

/// Mean of σ from that of tanh of half the argument, narrowed to [`SHORT_MEAN_BITS`].
#[inline(always)]
pub(super) fn sigmoid_mean(tanh: i32) -> i32 {
    (tanh + (1 << MEAN_BITS)) >> (MEAN_BITS - SHORT_MEAN_BITS + 1)
}

/// A cell of the table of moments.
#[inline(always)]
pub(super) fn cell(place: u32) -> [i32; 4] {
    CELLS[place as usize % CELLS.len()]
}

/// |τ|, less one unit if τ is negative, limited to the table.
#[inline(always)]
fn size(tau: i32) -> i32 {
    (tau ^ (tau >> 31)).min(LARGEST_TAU)
}

/// The magnitude with the sign of another number, less one unit if that is negative.
#[inline(always)]
fn signed_as(sign: i32, magnitude: i32) -> i32 {
    magnitude ^ (sign >> 31)
}

/// The lower half of a word.
#[inline(always)]
fn low(word: i32) -> i32 {
    i32::from(word as i16)
}

#[cfg(test)]
mod tests;
