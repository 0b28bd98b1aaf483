//! Vectors of the payload: one f32 per channel.

use crate::spec::{Likelihood, ModelSpec};

/// A vector of f32 values, one per channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Vector {
    /// Training mean of each input.
    InputMean,
    /// Training standard deviation of each input.
    InputStdDev,
    /// Training mean of each output.
    OutputMean,
    /// Training standard deviation of each output.
    OutputStdDev,
    /// Noise variance of each output, in standardised units.
    NoiseVar,
    /// Factor on the total variance of each output.
    Calibration,
}

impl Vector {
    /// The vectors before the layers, in file order.
    pub(crate) const BEFORE_LAYERS: [Vector; 4] =
        [Vector::InputMean, Vector::InputStdDev, Vector::OutputMean, Vector::OutputStdDev];
    /// The vectors after the layers, in file order.
    pub(crate) const AFTER_LAYERS: [Vector; 2] = [Vector::NoiseVar, Vector::Calibration];

    /// Number of values that a model stores.
    pub(crate) fn count(self, spec: &ModelSpec) -> usize {
        match self {
            Vector::InputMean | Vector::InputStdDev => spec.inputs.into(),
            Vector::OutputMean | Vector::OutputStdDev => spec.outputs.into(),
            // The variance of a probability follows from its mean; a heteroscedastic output predicts its
            // noise.
            Vector::NoiseVar => match spec.likelihood {
                Likelihood::Gaussian => spec.outputs.into(),
                Likelihood::Bernoulli | Likelihood::Heteroscedastic | Likelihood::Categorical => 0,
            },
            Vector::Calibration => match spec.likelihood {
                Likelihood::Gaussian | Likelihood::Heteroscedastic => spec.outputs.into(),
                Likelihood::Bernoulli | Likelihood::Categorical => 0,
            },
        }
    }

    /// The name used in error messages and in `SPEC.md`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Vector::InputMean => "input_mean",
            Vector::InputStdDev => "input_std_dev",
            Vector::OutputMean => "output_mean",
            Vector::OutputStdDev => "output_std_dev",
            Vector::NoiseVar => "noise_var",
            Vector::Calibration => "calibration",
        }
    }
}
