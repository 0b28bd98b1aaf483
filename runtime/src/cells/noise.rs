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

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean and variance of `mask · unit`, from the law of total variance over the two values of the mask.
    fn dropout_by_cases(keep: f64, mean: f64, var: f64) -> (f64, f64) {
        let first = keep * mean;
        let second = keep * (mean * mean + var);
        (first, second - first * first)
    }

    #[test]
    fn dropout_agrees_with_its_two_cases() {
        for keep in [0.1_f32, 0.5, 0.9, 1.0] {
            for (mean, var) in [(0.0_f32, 0.0_f32), (2.0, 0.0), (-1.5, 0.7), (0.0, 3.0)] {
                let noisy = with_noise(UnitNoise::Dropout { keep }, Moments { mean, var });
                let (expected_mean, expected_var) = dropout_by_cases(keep.into(), mean.into(), var.into());
                // A few roundings of f32.
                assert!((f64::from(noisy.mean) - expected_mean).abs() <= 1e-6);
                assert!((f64::from(noisy.var) - expected_var).abs() <= 2e-6);
            }
        }
    }

    #[test]
    fn keeping_everything_is_no_noise() {
        let unit = Moments { mean: 1.25, var: 0.3 };
        assert_eq!(with_noise(UnitNoise::Dropout { keep: 1.0 }, unit), unit);
        assert_eq!(with_noise(UnitNoise::Multiplicative { var: 0.0 }, unit), unit);
        assert_eq!(with_noise(UnitNoise::Additive { var: 0.0 }, unit), unit);
        assert_eq!(with_noise(UnitNoise::None, unit), unit);
    }

    #[test]
    fn multiplicative_and_additive_noise_keep_the_mean() {
        let unit = Moments { mean: 2.0, var: 0.5 };
        // E[(εx)²] − m² with ε ~ (1, ¼): (1 + ¼)(4 + ½) − 4 = 1.625.
        let scaled = with_noise(UnitNoise::Multiplicative { var: 0.25 }, unit);
        assert_eq!((scaled.mean, scaled.var), (2.0, 1.625));
        let shifted = with_noise(UnitNoise::Additive { var: 0.25 }, unit);
        assert_eq!((shifted.mean, shifted.var), (2.0, 0.75));
    }
}
