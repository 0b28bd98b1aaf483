//! Noise on units before an affine map (Bayer 2015, thesis, 2.3.4 and 2.5).

use crate::checkpoint::UnitNoise;
use crate::moments::Moments;

/// Moments (m̃, ṽ) of a unit after noise.
pub(crate) fn with_noise(noise: UnitNoise, unit: Moments) -> Moments {
    let Moments { mean, var } = unit;
    match noise {
        UnitNoise::None => unit,
        // m̃ = p m, ṽ = p (1 − p) m² + p v
        UnitNoise::Dropout { keep } => {
            Moments { mean: keep * mean, var: keep * (1.0 - keep) * (mean * mean) + keep * var }
        }
        // ṽ = v + α (m² + v)
        UnitNoise::Multiplicative { var: factor_var } => {
            Moments { mean, var: var + factor_var * (mean * mean + var) }
        }
        // ṽ = v + s²
        UnitNoise::Additive { var: summand_var } => Moments { mean, var: var + summand_var },
    }
}
