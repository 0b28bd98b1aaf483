//! Moments of a unit after noise (Bayer 2015, thesis, 2.3.4 and 2.5).
//!
//! For a unit of mean m and variance v, independent of its noise:
//!
//! | noise | m̃ | ṽ |
//! |---|---|---|
//! | none | m | v |
//! | dropout, keep probability p | p m | p (1 − p) m² + p v |
//! | multiplicative, mean 1 and variance α | m | v + α (m² + v) |
//! | additive, variance s² | m | v + s² |
//!
//! All have the form m̃ = a m, ṽ = b m² + c v + d: [`NoiseCoefficients`], by which integer kernels and
//! training apply any noise without a case distinction. [`apply`] evaluates the table as it stands. The two
//! agree up to rounding only (v + α (m² + v) against α m² + (1 + α) v), and the order of operations is part
//! of the bits that a float model computes; hence both are kept, side by side.

use crate::moments::{Moments, Scalar};
use crate::spec::UnitNoise;

/// Noise as the coefficients of m̃ = a m and ṽ = b m² + c v + d.
///
/// ```
/// use quaver::checkpoint::UnitNoise;
/// use quaver::noise::NoiseCoefficients;
///
/// let dropout = NoiseCoefficients::<f64>::new(UnitNoise::Dropout { keep: 0.75 });
/// assert_eq!(dropout.apply(2.0, 1.0), (1.5, 0.1875 * 4.0 + 0.75));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseCoefficients<S = f32> {
    /// a: factor on the mean.
    pub mean: S,
    /// b: factor from the squared mean into the variance.
    pub square: S,
    /// c: factor on the variance.
    pub var: S,
    /// d: constant added to the variance.
    pub constant: S,
}

impl<S: Scalar> NoiseCoefficients<S> {
    /// Coefficients of a noise.
    #[inline]
    pub fn new(noise: UnitNoise) -> Self {
        match noise {
            UnitNoise::None => Self::none(),
            UnitNoise::Dropout { keep } => Self::dropout(S::constant(keep.into())),
            UnitNoise::Multiplicative { var } => Self::multiplicative(S::constant(var.into())),
            UnitNoise::Additive { var } => Self::additive(S::constant(var.into())),
        }
    }

    /// No noise: the identity.
    #[inline]
    pub fn none() -> Self {
        let (zero, one) = (S::ZERO, S::constant(1.0));
        NoiseCoefficients { mean: one, square: zero, var: one, constant: zero }
    }

    /// Dropout with a keep probability, which may carry derivatives.
    #[inline]
    pub fn dropout(keep: S) -> Self {
        let drop = S::constant(1.0) - keep;
        NoiseCoefficients { mean: keep, square: keep * drop, var: keep, constant: S::ZERO }
    }

    /// Multiplication by a variate of mean 1 and variance `var`.
    #[inline]
    pub fn multiplicative(var: S) -> Self {
        NoiseCoefficients { square: var, var: S::constant(1.0) + var, ..Self::none() }
    }

    /// Addition of a variate of mean 0 and variance `var`.
    #[inline]
    pub fn additive(var: S) -> Self {
        NoiseCoefficients { constant: var, ..Self::none() }
    }

    /// Moments of a unit after the noise.
    #[inline]
    pub fn apply(self, mean: S, var: S) -> (S, S) {
        (self.mean * mean, self.square * (mean * mean) + self.var * var + self.constant)
    }

    /// Gradient with respect to the unit's (mean, variance), from that with respect to its moments after the
    /// noise: ∂m̃/∂m = a, ∂ṽ/∂m = 2 b m, ∂ṽ/∂v = c.
    #[inline]
    pub fn backward(self, mean: S, grad_mean: S, grad_var: S) -> (S, S) {
        let by_square = S::constant(2.0) * self.square * mean;
        (self.mean * grad_mean + by_square * grad_var, self.var * grad_var)
    }
}

impl<S: Scalar> From<UnitNoise> for NoiseCoefficients<S> {
    fn from(noise: UnitNoise) -> Self {
        Self::new(noise)
    }
}

/// Moments (m̃, ṽ) of a unit after noise, in the order of operations of the float backend.
#[inline]
pub fn apply(noise: UnitNoise, unit: Moments) -> Moments {
    let Moments { mean, var } = unit;
    match noise {
        UnitNoise::None => unit,
        UnitNoise::Dropout { keep } => {
            Moments { mean: keep * mean, var: keep * (1.0 - keep) * (mean * mean) + keep * var }
        }
        UnitNoise::Multiplicative { var: factor_var } => {
            Moments { mean, var: var + factor_var * (mean * mean + var) }
        }
        UnitNoise::Additive { var: summand_var } => Moments { mean, var: var + summand_var },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::moments::Dual;

    const NOISES: [UnitNoise; 6] = [
        UnitNoise::None,
        UnitNoise::Dropout { keep: 0.1 },
        UnitNoise::Dropout { keep: 0.9 },
        UnitNoise::Dropout { keep: 1.0 },
        UnitNoise::Multiplicative { var: 0.25 },
        UnitNoise::Additive { var: 0.7 },
    ];
    const UNITS: [(f32, f32); 5] = [(0.0, 0.0), (2.0, 0.0), (-1.5, 0.7), (0.0, 3.0), (0.3, 0.01)];

    /// Mean and variance by enumeration: the unit is m ± √v, and the noise one of two values, all equally
    /// likely but for dropout's. Two-point distributions have the first two moments of any other, which is
    /// all that the result depends on.
    fn by_cases(noise: UnitNoise, mean: f64, var: f64) -> (f64, f64) {
        let outcomes: [(f64, f64, f64); 2] = match noise {
            UnitNoise::None => [(1.0, 1.0, 0.0), (0.0, 1.0, 0.0)],
            UnitNoise::Dropout { keep } => [(keep.into(), 1.0, 0.0), (1.0 - f64::from(keep), 0.0, 0.0)],
            UnitNoise::Multiplicative { var } => {
                let s = f64::from(var).sqrt();
                [(0.5, 1.0 + s, 0.0), (0.5, 1.0 - s, 0.0)]
            }
            UnitNoise::Additive { var } => {
                let s = f64::from(var).sqrt();
                [(0.5, 1.0, s), (0.5, 1.0, -s)]
            }
        };
        let (mut first, mut second) = (0.0, 0.0);
        for (probability, factor, summand) in outcomes {
            for unit in [mean - var.sqrt(), mean + var.sqrt()] {
                let value = factor * unit + summand;
                first += 0.5 * probability * value;
                second += 0.5 * probability * value * value;
            }
        }
        (first, second - first * first)
    }

    /// Tolerances: a few roundings of numbers up to 5, at 2⁻²⁴ each in f32 and 2⁻⁵³ in f64.
    #[test]
    fn both_forms_agree_with_enumeration() {
        for noise in NOISES {
            for (mean, var) in UNITS {
                let (expected_mean, expected_var) = by_cases(noise, mean.into(), var.into());
                let noisy = apply(noise, Moments { mean, var });
                assert!((f64::from(noisy.mean) - expected_mean).abs() <= 1e-6, "{noise:?}");
                assert!((f64::from(noisy.var) - expected_var).abs() <= 2e-6, "{noise:?}");
                let (m, v) = NoiseCoefficients::<f64>::new(noise).apply(mean.into(), var.into());
                assert!((m - expected_mean).abs() <= 1e-14 && (v - expected_var).abs() <= 1e-14, "{noise:?}");
            }
        }
    }

    #[test]
    fn keeping_everything_is_no_noise() {
        let unit = Moments { mean: 1.25, var: 0.3 };
        for noise in [
            UnitNoise::None,
            UnitNoise::Dropout { keep: 1.0 },
            UnitNoise::Multiplicative { var: 0.0 },
            UnitNoise::Additive { var: 0.0 },
        ] {
            assert_eq!(apply(noise, unit), unit);
            assert_eq!(NoiseCoefficients::new(noise), NoiseCoefficients::<f32>::none());
        }
    }

    /// Central differences of quadratic functions are exact up to rounding: 2⁻⁵³ times 10 over a step of
    /// 10⁻³.
    #[test]
    fn backward_is_the_derivative() {
        for noise in NOISES {
            let coefficients = NoiseCoefficients::<f64>::new(noise);
            let objective = |mean: f64, var: f64| {
                let (m, v) = coefficients.apply(mean, var);
                2.0 * m - 3.0 * v
            };
            let (mean, var, step) = (1.3, 0.4, 1e-3);
            let (by_mean, by_var) = coefficients.backward(mean, 2.0, -3.0);
            let by_mean_found = (objective(mean + step, var) - objective(mean - step, var)) / (2.0 * step);
            let by_var_found = (objective(mean, var + step) - objective(mean, var - step)) / (2.0 * step);
            assert!((by_mean - by_mean_found).abs() < 1e-11, "{noise:?}: {by_mean} against {by_mean_found}");
            assert!((by_var - by_var_found).abs() < 1e-11, "{noise:?}: {by_var} against {by_var_found}");
        }
    }

    /// A learned keep probability p as a dual number: ∂m̃/∂p = m, ∂ṽ/∂p = (1 − 2p) m² + v.
    #[test]
    fn coefficients_carry_the_derivative_of_a_keep_probability() {
        let (keep, mean, var) = (0.8, 1.5, 0.4);
        let [m, v] = [mean, var].map(Dual::<f64>::constant);
        let (noisy_mean, noisy_var) = NoiseCoefficients::dropout(Dual::by_mean(keep)).apply(m, v);
        assert!((noisy_mean.by_mean - mean).abs() < 1e-14);
        assert!((noisy_var.by_mean - ((1.0 - 2.0 * keep) * mean * mean + var)).abs() < 1e-14);
    }
}
