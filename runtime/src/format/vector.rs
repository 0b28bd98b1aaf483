//! Vectors of the payload: f32 values of the channels.

use super::Part;
use super::shape::aligned;
use crate::anomaly::{CHANNEL_NUMBERS, ROW_NUMBERS};
use crate::conformal::LEVELS;
use crate::density::triangle;
use crate::linear;
use crate::spec::{Likelihood, LinearSpec, ModelSpec};

/// A vector of f32 values: one per channel, unless it says otherwise.
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
    /// Lower triangle of the precision matrix of standardised inputs.
    InputPrecision,
    /// Smallest value of each input in training.
    InputLow,
    /// Largest value of each input in training.
    InputHigh,
    /// Quantiles of each output's residuals, one per level of [`LEVELS`].
    Quantiles,
    /// Limits of statistics of whole rows.
    AnomalyRow,
    /// Settings and limits of each input's statistics, [`CHANNEL_NUMBERS`] for each.
    AnomalyChannels,
    /// Plausible range of each input in raw units: lower limit, upper limit.
    InputRange,
    /// Bias and weights of each output's linear prediction.
    Linear,
}

impl Vector {
    /// The vectors before the layers, in file order.
    pub(crate) const BEFORE_LAYERS: [Vector; 4] =
        [Vector::InputMean, Vector::InputStdDev, Vector::OutputMean, Vector::OutputStdDev];
    /// The vectors after the layers, in file order.
    pub(crate) const AFTER_LAYERS: [Vector; 10] = [
        Vector::NoiseVar,
        Vector::Calibration,
        Vector::InputPrecision,
        Vector::InputLow,
        Vector::InputHigh,
        Vector::Quantiles,
        Vector::AnomalyRow,
        Vector::AnomalyChannels,
        Vector::InputRange,
        Vector::Linear,
    ];

    /// Number of values that a model stores.
    pub(crate) const fn count(self, spec: &ModelSpec) -> usize {
        let (inputs, outputs) = (spec.inputs as usize, spec.outputs as usize);
        let extensions = &spec.extensions;
        match self {
            Vector::InputMean | Vector::InputStdDev => inputs,
            Vector::OutputMean | Vector::OutputStdDev => outputs,
            // The variance of a probability follows from its mean; a heteroscedastic output predicts its
            // noise.
            Vector::NoiseVar => match spec.likelihood {
                Likelihood::Gaussian => outputs,
                Likelihood::Bernoulli | Likelihood::Heteroscedastic | Likelihood::Categorical => 0,
            },
            Vector::Calibration => match spec.likelihood {
                Likelihood::Gaussian | Likelihood::Heteroscedastic => outputs,
                Likelihood::Bernoulli | Likelihood::Categorical => 0,
            },
            Vector::InputPrecision if extensions.density.is_some() => triangle(inputs),
            Vector::InputLow | Vector::InputHigh if extensions.density.is_some() => inputs,
            Vector::Quantiles if extensions.quantiles => LEVELS.len() * outputs,
            Vector::AnomalyRow if extensions.anomaly.is_some() => ROW_NUMBERS,
            Vector::AnomalyChannels if extensions.anomaly.is_some() => CHANNEL_NUMBERS * inputs,
            Vector::InputRange if extensions.ranges => 2 * inputs,
            Vector::Linear => match extensions.linear {
                Some(LinearSpec { rows }) => linear::numbers(rows as usize, inputs).saturating_mul(outputs),
                None => 0,
            },
            Vector::InputPrecision
            | Vector::InputLow
            | Vector::InputHigh
            | Vector::Quantiles
            | Vector::AnomalyRow
            | Vector::AnomalyChannels
            | Vector::InputRange => 0,
        }
    }

    /// Bytes of all vectors after the layers: they end the payload.
    pub(crate) const fn bytes_after_layers(spec: &ModelSpec) -> usize {
        let (mut bytes, mut index) = (0, 0);
        while index < Self::AFTER_LAYERS.len() {
            bytes += aligned(4 * Self::AFTER_LAYERS[index].count(spec));
            index += 1;
        }
        bytes
    }

    /// The part of the checkpoint that it belongs to.
    pub(crate) const fn part(self) -> Part {
        match self {
            Vector::InputMean | Vector::InputStdDev | Vector::OutputMean | Vector::OutputStdDev => {
                Part::Scaler
            }
            Vector::NoiseVar | Vector::Calibration | Vector::Quantiles => Part::Output,
            Vector::InputPrecision | Vector::InputLow | Vector::InputHigh => Part::Density,
            Vector::AnomalyRow | Vector::AnomalyChannels => Part::Anomaly,
            Vector::InputRange => Part::Ranges,
            Vector::Linear => Part::Linear,
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
            Vector::InputPrecision => "input_precision",
            Vector::InputLow => "input_low",
            Vector::InputHigh => "input_high",
            Vector::Quantiles => "quantiles",
            Vector::AnomalyRow => "anomaly_row",
            Vector::AnomalyChannels => "anomaly_channels",
            Vector::InputRange => "input_range",
            Vector::Linear => "linear",
        }
    }
}
