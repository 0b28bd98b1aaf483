//! Classical causal filters of one channel at a time: baselines of denoising.
//!
//! Each is tuned for every channel separately, on training data with known clean signals: the parameters with
//! the smallest squared error. No model is tuned per channel, which makes these filters hard to beat on
//! channels that have little in common.

mod exponential;
mod kalman;
mod one_euro;
mod tune;

use crate::data::{Rows, Scaler, Sequence};
pub use exponential::Exponential;
pub use kalman::ConstantVelocity;
pub use one_euro::OneEuro;
use tune::{Grid, minimise};

/// A causal filter of one channel, in units in which the channel has variance 1.
pub trait Filter {
    /// Its state.
    type State;

    /// The state after the first observed value, which is also the first estimate.
    fn start(&self, first: f64) -> Self::State;

    /// Processes the next value, or a missing one, and estimates the clean signal.
    fn step(&self, state: &mut Self::State, observed: Option<f64>) -> f64;
}

/// A filter that can be tuned: `N` parameters on logarithmic axes.
pub trait Tunable<const N: usize>: Filter + Sized {
    /// Its name.
    const NAME: &'static str;
    /// How it works.
    const DETAIL: &'static str;
    /// Ranges of its parameters.
    const GRID: [Grid; N];

    /// The filter with these parameters.
    fn with(parameters: [f64; N]) -> Self;
}

/// Estimates of one channel. Before the first observation, the estimate is 0, the mean.
pub fn run<F: Filter>(filter: &F, observed: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut state: Option<F::State> = None;
    let estimate = |value: f64| {
        let observed = (!value.is_nan()).then_some(value);
        match (&mut state, observed) {
            (Some(state), _) => filter.step(state, observed),
            (None, Some(first)) => {
                state = Some(filter.start(first));
                first
            }
            (None, None) => 0.0,
        }
    };
    observed.map(estimate).collect()
}

/// A filter for every channel, tuned on training data.
#[derive(Clone, Debug)]
pub struct FilterBank<F> {
    /// One filter per channel.
    pub filters: Vec<F>,
    scaler: Scaler,
}

impl<F> FilterBank<F> {
    /// Finds the filters with the smallest squared error on noisy sequences with known clean signals; nothing
    /// if they are not known.
    pub fn tune<const N: usize>(train: &[Sequence]) -> Option<Self>
    where
        F: Tunable<N>,
    {
        let truths: Option<Vec<&Rows>> = train.iter().map(|sequence| sequence.truth.as_deref()).collect();
        let truths = truths?;
        let scaler =
            Scaler::fit(truths.first()?.channels, train.iter().map(|sequence| sequence.inputs.as_ref()));
        let filter = |channel: usize| {
            let pairs: Vec<(Vec<f64>, Vec<f64>)> = train
                .iter()
                .zip(&truths)
                .map(|(sequence, truth)| {
                    (column(&scaler, &sequence.inputs, channel), column(&scaler, truth, channel))
                })
                .collect();
            F::with(minimise(&F::GRID, |parameters| squared_error(&F::with(parameters), &pairs)))
        };
        let filters = (0..scaler.channels()).map(filter).collect();
        Some(FilterBank { filters, scaler })
    }

    /// Estimates of a sequence, in raw units.
    pub fn estimate(&self, noisy: &Rows) -> Rows
    where
        F: Filter,
    {
        let mut estimate = noisy.clone();
        for (channel, filter) in self.filters.iter().enumerate() {
            let values = run(filter, column(&self.scaler, noisy, channel).into_iter());
            for (row, value) in values.into_iter().enumerate() {
                let raw = self.scaler.unstandardise(channel, value as f32);
                estimate.values[row * noisy.channels + channel] = raw;
            }
        }
        estimate
    }
}

fn column(scaler: &Scaler, rows: &Rows, channel: usize) -> Vec<f64> {
    rows.iter().map(|row| f64::from(scaler.standardise(channel, row[channel]))).collect()
}

/// Squared error over values that were observed and whose clean signal is known.
fn squared_error<F: Filter>(filter: &F, pairs: &[(Vec<f64>, Vec<f64>)]) -> f64 {
    let of_sequence = |(noisy, truth): &(Vec<f64>, Vec<f64>)| -> f64 {
        let errors = run(filter, noisy.iter().copied()).into_iter().zip(truth).zip(noisy);
        errors
            .filter(|(_, noisy)| !noisy.is_nan())
            .map(|((e, t), _)| (e - t).powi(2))
            .filter(|e| !e.is_nan())
            .sum()
    };
    pairs.iter().map(of_sequence).sum()
}

#[cfg(test)]
mod tests;
