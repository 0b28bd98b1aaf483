//! Scores of a mixture of predictions, one for each draw of a network.

use std::collections::BTreeMap;
use std::f64::consts::SQRT_2;

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::score_totals::{INTERVALS, by_percent};
use super::scores::{Scores, counted_steps, for_each_value};
use crate::data::Sequence;
use crate::prediction::{ScoredValue, SequencePrediction};

/// Scores of predictions, by whatever means they were made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PredictionScores {
    /// Negative log-likelihood in nats per time step, summed over outputs, with densities in raw units.
    pub nll: f64,
    /// The same with densities in units of each output's training standard deviation.
    pub nll_standardised: f64,
    /// Root mean squared error over all observed values.
    pub rmse: f64,
    /// Coverage of each central interval, by its percentage; empty for binary outputs.
    pub coverage: BTreeMap<String, f64>,
    /// Mean epistemic variance: propagated, or that of the means of the draws.
    pub epistemic: f64,
    /// Mean aleatoric variance.
    pub aleatoric: f64,
}

impl From<&Scores> for PredictionScores {
    fn from(scores: &Scores) -> Self {
        PredictionScores {
            nll: scores.nll,
            nll_standardised: scores.nll_standardised.unwrap_or(f64::NAN),
            rmse: scores.mse.sqrt(),
            coverage: scores.uncertainty.coverage.clone(),
            epistemic: scores.uncertainty.epistemic,
            aleatoric: scores.uncertainty.aleatoric,
        }
    }
}

/// The mixture of the predictions of several draws: p(y) = (1/S) Σ_s p(y | draw s), for each output alone.
#[derive(Clone, Debug)]
pub struct MonteCarloMixture<'a> {
    likelihood: Likelihood,
    sequences: &'a [Sequence],
    draws: usize,
    values: Vec<ValueMixture>,
}

/// Sums over the draws of one observed value.
#[derive(Clone, Copy, Debug)]
struct ValueMixture {
    output: usize,
    observed: f64,
    /// ln Σ p, as its largest term and the sum of the terms relative to it.
    largest: f64,
    relative: f64,
    /// Sums of the means, their squares, and the noise variances.
    mean: f64,
    square: f64,
    noise: f64,
    /// Σ P(y below the observed value).
    below: f64,
}

impl<'a> MonteCarloMixture<'a> {
    /// A mixture of no predictions yet.
    pub fn new(likelihood: Likelihood, sequences: &'a [Sequence]) -> Self {
        MonteCarloMixture { likelihood, sequences, draws: 0, values: Vec::new() }
    }

    /// Adds the predictions of one draw.
    ///
    /// # Panics
    /// If predictions and sequences do not match.
    pub fn add(&mut self, predictions: &[SequencePrediction]) {
        let (likelihood, first) = (self.likelihood, self.draws == 0);
        let values = &mut self.values;
        let mut index = 0;
        for_each_value(self.sequences, predictions, |place, value| {
            if first {
                values.push(ValueMixture::new(place.output, value.observed));
            }
            values[index].add(likelihood, &value);
            index += 1;
        });
        self.draws += 1;
    }

    /// Scores of the mixture; `std_devs` of the outputs in the training data.
    pub fn scores(&self, std_devs: &[f32]) -> PredictionScores {
        let draws = self.draws.max(1) as f64;
        let mean = |sum: f64| sum / self.values.len().max(1) as f64;
        let sum = |part: &dyn Fn(&ValueMixture) -> f64| self.values.iter().map(part).sum::<f64>();
        let steps = counted_steps(self.sequences).max(1) as f64;
        let nll = sum(&|value| draws.ln() - value.largest - value.relative.ln()) / steps;
        let shift = sum(&|value| f64::from(std_devs[value.output]).ln()) / steps;
        let covered = INTERVALS.map(|(percent, _)| {
            let central = f64::from(percent) / 100.0;
            mean(sum(&|value| f64::from(u8::from((2.0 * value.below / draws - 1.0).abs() <= central))))
        });
        PredictionScores {
            nll,
            nll_standardised: nll - shift,
            rmse: mean(sum(&|value| (value.observed - value.mean / draws).powi(2))).sqrt(),
            coverage: by_percent(self.likelihood, covered.into_iter()),
            epistemic: mean(sum(&|value| value.square / draws - (value.mean / draws).powi(2))),
            aleatoric: mean(sum(&|value| value.noise / draws)),
        }
    }
}

impl ValueMixture {
    fn new(output: usize, observed: f64) -> Self {
        let zero = 0.0;
        ValueMixture {
            output,
            observed,
            largest: f64::NEG_INFINITY,
            relative: zero,
            mean: zero,
            square: zero,
            noise: zero,
            below: zero,
        }
    }

    fn add(&mut self, likelihood: Likelihood, value: &ScoredValue) {
        let log = -value.nll(likelihood);
        if log > self.largest {
            self.relative = self.relative * (self.largest - log).exp() + 1.0;
            self.largest = log;
        } else {
            self.relative += (log - self.largest).exp();
        }
        self.mean += value.mean;
        self.square += value.mean * value.mean;
        self.noise += value.aleatoric;
        self.below += 0.5 * libm::erfc(-value.z() / SQRT_2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn sequences() -> Vec<Sequence> {
        let rows = |values: &[f32]| Rows { channels: 1, values: values.to_vec() };
        vec![Sequence::columns(rows(&[0.0; 3]), rows(&[0.5, f32::NAN, 3.0]))]
    }

    fn prediction(mean: f32, noise: f32) -> Vec<SequencePrediction> {
        let mut prediction = SequencePrediction::zeros(3, 1);
        (0..3).for_each(|step| prediction.set(step, 0, mean, 0.0, noise));
        vec![prediction]
    }

    #[test]
    fn the_density_is_the_mean_of_the_densities() {
        let sequences = sequences();
        let mut mixture = MonteCarloMixture::new(Likelihood::Gaussian, &sequences);
        for (mean, noise) in [(0.0, 1.0), (1.0, 0.25)] {
            mixture.add(&prediction(mean, noise));
        }
        let density = |y: f64, mean: f64, var: f64| {
            (-(y - mean).powi(2) / (2.0 * var)).exp() / (std::f64::consts::TAU * var).sqrt()
        };
        let nll = |y: f64| -(0.5 * (density(y, 0.0, 1.0) + density(y, 1.0, 0.25))).ln();
        let found = mixture.scores(&[2.0]);
        let expected = 0.5 * (nll(0.5) + nll(3.0));
        assert!((found.nll - expected).abs() < 1e-9, "{} against {expected}", found.nll);
        assert!((found.nll_standardised - (expected - 2.0_f64.ln())).abs() < 1e-9);
        // The mean of both is 0.5: errors 0 and 2.5. Variance of the means 0.25; of the noise 0.625.
        assert!((found.rmse - (6.25_f64 / 2.0).sqrt()).abs() < 1e-9);
        assert!((found.epistemic - 0.25).abs() < 1e-9 && (found.aleatoric - 0.625).abs() < 1e-9);
        // P(y < 0.5) = (Φ(0.5) + Φ(−1))/2 = 0.425; P(y < 3) = (Φ(3) + Φ(4))/2 = 0.9993.
        let coverage: Vec<f64> = found.coverage.values().copied().collect();
        assert_eq!(coverage, [0.5, 0.5, 0.5], "one of two values is inside every interval");
    }

    #[test]
    fn probabilities_are_averaged() {
        let sequences = vec![Sequence::columns(
            Rows { channels: 1, values: vec![0.0; 2] },
            Rows { channels: 1, values: vec![1.0, 0.0] },
        )];
        let mut mixture = MonteCarloMixture::new(Likelihood::Bernoulli, &sequences);
        for p in [0.2, 0.6] {
            let mut one = SequencePrediction::zeros(2, 1);
            (0..2).for_each(|step| one.set(step, 0, p, 0.0, p * (1.0 - p)));
            mixture.add(&[one]);
        }
        let found = mixture.scores(&[1.0]);
        assert!((found.nll + 0.5 * (0.4_f64.ln() + 0.6_f64.ln())).abs() < 1e-6, "{}", found.nll);
        assert!(found.coverage.is_empty());
    }
}
