//! Affine maps on moments in floating point: (m̃, ṽ) → (E[a], V[a]).
//!
//! E[a_j] = Σ_i m̃_i μ_ij + μ_bj  (Bayer 2015, thesis, eq. 17)
//!
//! V[a_j] = Σ_i ( ṽ_i μ_ij² + (m̃_i² + ṽ_i) τ_ij ) + τ_bj  (eq. 18, with a weight variance τ)

mod rows;
mod sums;

pub(super) use rows::{NoisyInput, means, moments};
