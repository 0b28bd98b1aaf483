//! Noise on units before an affine map, and its derivative.

use quaver::checkpoint::UnitNoise;

/// Noise as the coefficients of what it does to a unit of mean m and variance v:
/// m̃ = `mean`·m and ṽ = `square`·m² + `var`·v + `constant`.
///
/// Every kind of noise that a model can hold has this form (Bayer 2015, thesis, 2.3.4 and 2.5), so that kernels
/// need no case distinction in their loops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NoiseCoefficients {
    /// Factor on the mean.
    pub mean: f32,
    /// Factor from the squared mean into the variance.
    pub square: f32,
    /// Factor on the variance.
    pub var: f32,
    /// What is added to the variance.
    pub constant: f32,
}

impl From<UnitNoise> for NoiseCoefficients {
    fn from(noise: UnitNoise) -> Self {
        match noise {
            UnitNoise::None => NoiseCoefficients::SILENT,
            UnitNoise::Dropout { keep } => {
                NoiseCoefficients { mean: keep, square: keep * (1.0 - keep), var: keep, constant: 0.0 }
            }
            UnitNoise::Multiplicative { var } => {
                NoiseCoefficients { square: var, var: 1.0 + var, ..NoiseCoefficients::SILENT }
            }
            UnitNoise::Additive { var } => NoiseCoefficients { constant: var, ..NoiseCoefficients::SILENT },
        }
    }
}

impl NoiseCoefficients {
    /// No noise: every unit stays as it is.
    pub const SILENT: NoiseCoefficients =
        NoiseCoefficients { mean: 1.0, square: 0.0, var: 1.0, constant: 0.0 };

    /// Moments of a unit after the noise.
    pub fn apply(self, mean: f32, var: f32) -> (f32, f32) {
        (self.mean * mean, self.square * mean * mean + self.var * var + self.constant)
    }

    /// Gradient for the unit's (mean, variance), given its mean and the gradient for its noisy moments.
    pub fn backward(self, mean: f32, grad_mean: f32, grad_var: f32) -> (f32, f32) {
        (self.mean * grad_mean + 2.0 * self.square * mean * grad_var, self.var * grad_var)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropout_has_the_moments_of_a_masked_unit() {
        // A unit that is ±1 around 3 (mean 3, variance 1), kept with probability 0.8: four equally simple cases.
        let (keep, values) = (0.8_f64, [2.0_f64, 4.0]);
        let mean: f64 = values.iter().map(|x| keep * x / 2.0).sum();
        let square: f64 = values.iter().map(|x| keep * x * x / 2.0).sum();
        let (m, v) = NoiseCoefficients::from(UnitNoise::Dropout { keep: 0.8 }).apply(3.0, 1.0);
        assert!((f64::from(m) - mean).abs() < 1e-6);
        assert!((f64::from(v) - (square - mean * mean)).abs() < 1e-6);
    }

    #[test]
    fn multiplicative_and_additive_noise_follow_the_product_and_sum_rules() {
        assert_eq!(
            NoiseCoefficients::from(UnitNoise::Multiplicative { var: 0.5 }).apply(2.0, 1.0),
            (2.0, 3.5)
        );
        assert_eq!(NoiseCoefficients::from(UnitNoise::Additive { var: 0.5 }).apply(2.0, 1.0), (2.0, 1.5));
    }

    #[test]
    fn backward_is_the_derivative() {
        let noise = NoiseCoefficients { mean: 0.7, square: 0.21, var: 0.6, constant: 0.1 };
        let (mean, var, step) = (1.3_f32, 0.4_f32, 1e-2_f32);
        let objective = |mean: f32, var: f32| {
            let (m, v) = noise.apply(mean, var);
            2.0 * m - 3.0 * v
        };
        let (by_mean, by_var) = noise.backward(mean, 2.0, -3.0);
        let slope_mean = (objective(mean + step, var) - objective(mean - step, var)) / (2.0 * step);
        let slope_var = (objective(mean, var + step) - objective(mean, var - step)) / (2.0 * step);
        assert!((by_mean - slope_mean).abs() < 1e-3, "{by_mean} against {slope_mean}");
        assert!((by_var - slope_var).abs() < 1e-3, "{by_var} against {slope_var}");
    }
}
