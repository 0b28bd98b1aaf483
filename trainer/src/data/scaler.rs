//! Standardisation: every channel to mean 0 and variance 1 over the training split.

use quaver::checkpoint::Target;
use quaver::density::{MISSING, impute, scratch_words};
use serde::{Deserialize, Serialize};

use super::input_density::InputDensity;
use super::linear_part::LinearPart;
use super::rows::{Rows, Sequence};

/// Mean and standard deviation of every channel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaler {
    /// Subtracted from each channel.
    pub mean: Vec<f32>,
    /// Each channel is divided by it; always positive and finite.
    pub std_dev: Vec<f32>,
}

impl Scaler {
    /// Leaves `channels` channels unchanged.
    pub fn identity(channels: usize) -> Self {
        Scaler { mean: vec![0.0; channels], std_dev: vec![1.0; channels] }
    }

    /// Measures every channel, ignoring missing values.
    ///
    /// The variance is the population variance (divided by N), so that the measured data have variance 1
    /// after standardising. A constant channel is only centred.
    pub fn fit<'a>(channels: usize, parts: impl Iterator<Item = &'a Rows> + Clone) -> Self {
        let mut scaler = Scaler::identity(channels);
        for channel in 0..channels {
            if let Some((mean, std_dev)) = measure(observed(&parts, channel)) {
                (scaler.mean[channel], scaler.std_dev[channel]) = (mean, std_dev);
            }
        }
        scaler
    }

    /// Like [`Scaler::fit`], but leaves channels of zeros and ones unchanged, as a Bernoulli likelihood
    /// requires.
    pub fn fit_but_binary<'a>(channels: usize, parts: impl Iterator<Item = &'a Rows> + Clone) -> Self {
        let mut scaler = Scaler::fit(channels, parts.clone());
        for channel in 0..channels {
            if observed(&parts, channel).all(|value| value == 0.0 || value == 1.0) {
                (scaler.mean[channel], scaler.std_dev[channel]) = (0.0, 1.0);
            }
        }
        scaler
    }

    /// Number of channels.
    pub fn channels(&self) -> usize {
        self.mean.len()
    }

    /// From raw to standardised units.
    pub fn standardise(&self, channel: usize, value: f32) -> f32 {
        (value - self.mean[channel]) / self.std_dev[channel]
    }

    /// From standardised to raw units.
    pub fn unstandardise(&self, channel: usize, value: f32) -> f32 {
        value * self.std_dev[channel] + self.mean[channel]
    }

    /// What a mean NLL per time step with standardised densities lacks to one with densities in raw units: ln
    /// s of every observed target, summed over outputs and averaged over the steps with a target.
    pub fn log_scale(&self, sequences: &[Sequence]) -> f64 {
        let (mut sum, mut steps) = (0.0, 0);
        for row in sequences.iter().flat_map(|sequence| sequence.targets.iter().skip(sequence.burn_in)) {
            let observed = row.iter().zip(&self.std_dev).filter(|(value, _)| !value.is_nan());
            let logs: Vec<f64> = observed.map(|(_, std_dev)| f64::from(*std_dev).ln()).collect();
            sum += logs.iter().sum::<f64>();
            steps += usize::from(!logs.is_empty());
        }
        sum / steps.max(1) as f64
    }

    /// A variance, from standardised to raw units.
    pub fn unstandardise_variance(&self, channel: usize, variance: f32) -> f32 {
        variance * self.std_dev[channel] * self.std_dev[channel]
    }
}

/// The observed values of one channel.
fn observed<'a>(
    parts: &(impl Iterator<Item = &'a Rows> + Clone),
    channel: usize,
) -> impl Iterator<Item = f32> + Clone {
    let values = parts.clone().flat_map(move |rows| rows.iter().map(move |row| row[channel]));
    values.filter(|value| !value.is_nan())
}

/// Mean and standard deviation of one channel in two passes, or `None` if no value was observed.
fn measure(values: impl Iterator<Item = f32> + Clone) -> Option<(f32, f32)> {
    values.clone().next()?;
    let (count, sum) = values.clone().fold((0.0, 0.0), |(count, sum), v| (count + 1.0, sum + f64::from(v)));
    let mean = sum / count;
    let squares: f64 = values.map(|value| (f64::from(value) - mean).powi(2)).sum();
    let std_dev = (squares / count).sqrt() as f32;
    // Fewer than 2²⁹ equal numbers of 24 bits add up exactly in 53, so a constant channel has standard
    // deviation exactly 0. A subnormal one cannot be divided by either.
    Some((mean as f32, if std_dev.is_normal() { std_dev } else { 1.0 }))
}

/// The scalers of inputs and targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// For the input channels.
    pub inputs: Scaler,
    /// For the target channels; equal to `inputs` where the network predicts its own inputs.
    pub targets: Scaler,
    /// Density of the input rows, by which missing inputs are imputed; without one, a missing input has mean
    /// 0 and variance 1. Not part of the encoding: a state stores it apart, because older states have none.
    #[serde(skip)]
    pub density: Option<InputDensity>,
    /// The linear part of the model, fitted in standardised units, if it has one. Stored apart, likewise.
    #[serde(skip)]
    pub linear: Option<LinearPart>,
}

impl Scaling {
    /// Fits both scalers on training sequences, without a density.
    ///
    /// # Panics
    /// If there is no sequence.
    pub fn fit(train: &[Sequence]) -> Self {
        let first = train.first().expect("a scaler needs at least one training sequence");
        let targets = train.iter().map(|sequence| sequence.targets.as_ref());
        let targets = Scaler::fit_but_binary(first.targets.channels, targets);
        let inputs = match first.target {
            Target::Next | Target::ResidualNext => targets.clone(),
            // Binary inputs are scaled too, so that mean 0 and variance 1 are the moments of a missing value.
            Target::Columns | Target::ResidualSame => {
                Scaler::fit(first.inputs.channels, train.iter().map(|sequence| sequence.inputs.as_ref()))
            }
        };
        Scaling { inputs, targets, density: None, linear: None }
    }
}

impl Scaling {
    /// The same scalers with the density of the inputs of training sequences, as far as it carries over to
    /// validation sequences.
    pub fn with_density(self, train: &[Sequence], valid: &[Sequence]) -> Self {
        let density = InputDensity::fit(train, valid, &self.inputs);
        Scaling { density, ..self }
    }

    /// Standardised moments of an input row. A missing value has its conditional mean and variance given the
    /// others, or mean 0 and variance 1 without a density.
    pub(crate) fn row_moments(&self, row: &[f32], mean: &mut [f32], var: &mut [f32]) {
        for (channel, &raw) in row.iter().enumerate() {
            let missing = raw.is_nan();
            mean[channel] = if missing { 0.0 } else { self.inputs.standardise(channel, raw) };
            var[channel] = f32::from(missing);
        }
        if let Some(density) = self.density.as_ref().filter(|_| var.contains(&1.0)) {
            var.iter_mut().filter(|var| **var == 1.0).for_each(|var| *var = MISSING);
            impute(|index| density.precision[index], mean, var, &mut vec![0.0; scratch_words(row.len())]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(channels: usize, values: &[f32]) -> Scaler {
        Scaler::fit(channels, [Rows { channels, values: values.to_vec() }].iter())
    }

    #[test]
    fn mean_and_std_dev_skip_missing_values() {
        let scaler = fit(2, &[1.0, 10.0, f32::NAN, 30.0, 5.0, f32::NAN]);
        assert_eq!(scaler, Scaler { mean: vec![3.0, 20.0], std_dev: vec![2.0, 10.0] });
        assert_eq!(scaler.standardise(0, 5.0), 1.0);
        assert_eq!(scaler.unstandardise(1, -1.0), 10.0);
        assert_eq!(scaler.unstandardise_variance(1, 0.5), 50.0);
    }

    #[test]
    fn several_sequences_count_as_one_sample() {
        let parts = [Rows { channels: 1, values: vec![0.0] }, Rows { channels: 1, values: vec![6.0, 3.0] }];
        assert_eq!(Scaler::fit(1, parts.iter()), Scaler { mean: vec![3.0], std_dev: vec![6f32.sqrt()] });
    }

    #[test]
    fn constant_binary_and_absent_channels() {
        let nan = f32::NAN;
        let values = [0.1, 0.0, nan, 0.0, 0.1, 1.0, nan, 1e-44, 0.1, nan, nan, 0.0];
        assert_eq!((fit(4, &values).mean[1], fit(4, &values).std_dev[1]), (0.5, 0.5));
        let rows = [Rows { channels: 4, values: values.to_vec() }];
        let scaler = Scaler::fit_but_binary(4, rows.iter());
        assert_eq!(scaler.mean, [0.1, 0.0, 0.0, 3e-45]);
        assert_eq!(scaler.std_dev, [1.0; 4]);
        assert_eq!(scaler.standardise(0, 0.1), 0.0);
    }

    #[test]
    fn the_log_scale_counts_observed_targets_per_step() {
        let scaler = Scaler { mean: vec![0.0; 2], std_dev: vec![2.0, 5.0] };
        let values = vec![1.0, 1.0, f32::NAN, 1.0, f32::NAN, f32::NAN];
        let sequence = Sequence::next(Rows { channels: 2, values });
        let expected = (2_f64.ln() + 2.0 * 5_f64.ln()) / 2.0;
        assert!((scaler.log_scale(&[sequence]) - expected).abs() < 1e-12, "the third row has no target");
    }

    #[test]
    fn a_large_offset_does_not_swallow_a_small_spread() {
        let scaler = fit(1, &[65536.0, 65536.5, 65535.5, 65536.0]);
        assert_eq!(scaler.mean, [65536.0]);
        assert!((scaler.std_dev[0] - 0.125f32.sqrt()).abs() < 1e-7);
    }
}
