//! Likelihood, error and calibration of forecasts.
//!
//! Conventions, stated wherever they are printed: NLL is in nats with densities in raw units; per output it is the mean
//! over observed values, in all it is the sum over outputs, averaged over time steps. Coverage is the share of
//! observed values inside the central interval of the predictive normal.

use std::collections::BTreeMap;

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use super::Forecast;
use crate::data::Sequence;

/// Central intervals whose coverage is reported, in per cent.
const INTERVALS: [u32; 3] = [50, 90, 95];

/// Probabilities are kept this far from 0 and 1, as in the runtime's surprise score.
const PROBABILITY_MARGIN: f64 = 1e-7;

/// Scores of all outputs together, and of each.
#[derive(Clone, Debug, Serialize)]
pub struct Scores {
    /// Negative log-likelihood in nats per time step, summed over outputs.
    pub nll: f64,
    /// Mean squared error over all observed values.
    pub mse: f64,
    /// Mean over outputs of the share of variance explained.
    pub r2: f64,
    /// Share of values inside each central interval, by its percentage; empty for binary outputs.
    pub coverage: BTreeMap<String, f64>,
    /// Time steps with at least one observed target.
    pub n: usize,
    /// The same for each output.
    pub per_output: Vec<OutputScores>,
}

/// Scores of one output.
#[derive(Clone, Debug, Serialize)]
pub struct OutputScores {
    /// Its name.
    pub name: String,
    /// Negative log-likelihood in nats, mean over observed values.
    pub nll: f64,
    /// Mean squared error in squared raw units.
    pub mse: f64,
    /// Share of the variance of the observed values that the predicted means explain.
    pub r2: f64,
    /// Share of values inside each central interval, by its percentage; empty for binary outputs.
    pub coverage: BTreeMap<String, f64>,
    /// Mean epistemic variance in squared raw units.
    pub epistemic: f64,
    /// Mean aleatoric variance in squared raw units.
    pub aleatoric: f64,
    /// Observed values.
    pub n: usize,
}

/// Probability that a normal variate lies within ±|z|.
pub fn central_probability(z: f64) -> f64 {
    libm::erf(z.abs() / std::f64::consts::SQRT_2)
}

/// Sums over the observed values of one output.
#[derive(Clone, Debug, Default)]
struct Tally {
    n: usize,
    nll: f64,
    squared_error: f64,
    sum: f64,
    sum_of_squares: f64,
    inside: [usize; INTERVALS.len()],
    epistemic: f64,
    aleatoric: f64,
}

impl Tally {
    fn add(
        &mut self,
        likelihood: Likelihood,
        observed: f64,
        mean: f64,
        epistemic: f64,
        aleatoric: f64,
    ) -> f64 {
        let variance = (epistemic + aleatoric).max(f64::from(f32::MIN_POSITIVE));
        let error = observed - mean;
        let nll = match likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => {
                0.5 * ((2.0 * std::f64::consts::PI * variance).ln() + error * error / variance)
            }
            Likelihood::Bernoulli => {
                let p = mean.clamp(PROBABILITY_MARGIN, 1.0 - PROBABILITY_MARGIN);
                -observed * p.ln() - (1.0 - observed) * (1.0 - p).ln()
            }
            Likelihood::Categorical => {
                -observed * mean.clamp(PROBABILITY_MARGIN, 1.0 - PROBABILITY_MARGIN).ln()
            }
        };
        let probability = central_probability(error / variance.sqrt());
        for (inside, percent) in self.inside.iter_mut().zip(INTERVALS) {
            *inside += usize::from(probability <= f64::from(percent) / 100.0);
        }
        self.n += 1;
        self.nll += nll;
        self.squared_error += error * error;
        self.sum += observed;
        self.sum_of_squares += observed * observed;
        self.epistemic += epistemic;
        self.aleatoric += aleatoric;
        nll
    }

    fn scores(&self, name: &str, likelihood: Likelihood) -> OutputScores {
        let n = self.n.max(1) as f64;
        let spread = self.sum_of_squares - self.sum * self.sum / n;
        OutputScores {
            name: name.to_string(),
            nll: self.nll / n,
            mse: self.squared_error / n,
            r2: if spread > 0.0 { 1.0 - self.squared_error / spread } else { f64::NAN },
            coverage: coverage(likelihood, self.inside, self.n),
            epistemic: self.epistemic / n,
            aleatoric: self.aleatoric / n,
            n: self.n,
        }
    }
}

fn coverage(likelihood: Likelihood, inside: [usize; INTERVALS.len()], n: usize) -> BTreeMap<String, f64> {
    let share = |(percent, inside): (u32, usize)| (percent.to_string(), inside as f64 / n.max(1) as f64);
    match likelihood {
        Likelihood::Gaussian | Likelihood::Heteroscedastic => {
            INTERVALS.into_iter().zip(inside).map(share).collect()
        }
        Likelihood::Bernoulli | Likelihood::Categorical => BTreeMap::new(),
    }
}

/// Scores forecasts against what was observed; missing targets do not count.
///
/// # Panics
/// If forecasts and sequences do not belong together.
pub fn scores(
    likelihood: Likelihood,
    names: &[String],
    sequences: &[Sequence],
    forecasts: &[Forecast],
) -> Scores {
    assert_eq!(sequences.len(), forecasts.len(), "one forecast per sequence");
    let mut tallies = vec![Tally::default(); names.len()];
    let (mut steps, mut total) = (0, 0.0);
    for (sequence, forecast) in sequences.iter().zip(forecasts) {
        for (step, targets) in sequence.targets.iter().enumerate() {
            let observed = targets.iter().enumerate().filter(|(_, value)| !value.is_nan());
            steps += usize::from(observed.clone().next().is_some());
            for (output, value) in observed {
                let part = |rows: &crate::data::Rows| f64::from(rows.row(step)[output]);
                let (mean, epistemic, aleatoric) =
                    (part(&forecast.mean), part(&forecast.epistemic), part(&forecast.aleatoric));
                total += tallies[output].add(likelihood, f64::from(*value), mean, epistemic, aleatoric);
            }
        }
    }
    combine(likelihood, names, &tallies, total, steps)
}

fn combine(likelihood: Likelihood, names: &[String], tallies: &[Tally], total: f64, steps: usize) -> Scores {
    let per_output: Vec<_> =
        names.iter().zip(tallies).map(|(name, tally)| tally.scores(name, likelihood)).collect();
    let values: usize = tallies.iter().map(|tally| tally.n).sum();
    let mut inside = [0; INTERVALS.len()];
    for tally in tallies {
        inside.iter_mut().zip(tally.inside).for_each(|(sum, part)| *sum += part);
    }
    // An output that never varies has no R²; it must not spoil the mean of the others.
    let explained: Vec<f64> = per_output.iter().map(|output| output.r2).filter(|r2| r2.is_finite()).collect();
    Scores {
        nll: total / steps.max(1) as f64,
        mse: tallies.iter().map(|tally| tally.squared_error).sum::<f64>() / values.max(1) as f64,
        r2: explained.iter().sum::<f64>() / explained.len() as f64,
        coverage: coverage(likelihood, inside, values),
        n: steps,
        per_output,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn rows(channels: usize, values: &[f32]) -> Rows {
        Rows { channels, values: values.to_vec() }
    }

    fn two_outputs() -> (Vec<Sequence>, Vec<Forecast>) {
        let targets = rows(2, &[1.0, 10.0, 3.0, f32::NAN, f32::NAN, f32::NAN]);
        let sequence = Sequence::columns(rows(1, &[0.0; 3]), targets);
        let forecast = Forecast {
            mean: rows(2, &[0.0, 12.0, 3.0, 0.0, 0.0, 0.0]),
            epistemic: rows(2, &[0.5, 3.0, 0.5, 1.0, 1.0, 1.0]),
            aleatoric: rows(2, &[0.5, 1.0, 0.5, 1.0, 1.0, 1.0]),
        };
        (vec![sequence], vec![forecast])
    }

    #[test]
    fn scores_follow_their_definitions() {
        let (sequences, forecasts) = two_outputs();
        let names = ["a".to_string(), "b".to_string()];
        let found = scores(Likelihood::Gaussian, &names, &sequences, &forecasts);
        let ln_two_pi = (2.0 * std::f64::consts::PI).ln();
        let first = 0.5 * (ln_two_pi + 1.0);
        let second = 0.5 * (ln_two_pi + 4.0_f64.ln() + 1.0);
        let third = 0.5 * ln_two_pi;
        assert!((found.nll - (first + second + third) / 2.0).abs() < 1e-12, "two steps were observed");
        assert_eq!(found.n, 2);
        assert!((found.mse - 5.0 / 3.0).abs() < 1e-12);
        assert_eq!(found.per_output[0].n, 2);
        assert!((found.per_output[0].r2 - 0.5).abs() < 1e-12, "1 of 2 squared units is left");
        assert!(found.per_output[1].r2.is_nan(), "a single value has no spread");
        assert_eq!(found.r2, found.per_output[0].r2);
        assert_eq!(found.per_output[1].epistemic, 3.0);
    }

    #[test]
    fn intervals_hold_what_lies_inside_them() {
        // z = 1 lies outside the 50 % interval (0.674) and inside the 90 % one (1.645); z = 0 lies inside both.
        let (sequences, forecasts) = two_outputs();
        let names = ["a".to_string(), "b".to_string()];
        let coverage = scores(Likelihood::Gaussian, &names, &sequences, &forecasts).coverage;
        assert!((coverage["50"] - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(coverage["90"], 1.0);
    }

    #[test]
    fn central_probabilities_are_those_of_the_normal_table() {
        for (z, probability) in [(0.674_490, 0.5), (1.644_854, 0.9), (-1.959_964, 0.95)] {
            assert!((central_probability(z) - probability).abs() < 1e-6);
        }
    }

    #[test]
    fn binary_outputs_have_cross_entropy_and_no_intervals() {
        let sequence = Sequence::columns(rows(1, &[0.0; 2]), rows(1, &[1.0, 0.0]));
        let zeros = rows(1, &[0.0; 2]);
        let forecast = Forecast { mean: rows(1, &[0.8, 0.4]), epistemic: zeros.clone(), aleatoric: zeros };
        let found = scores(Likelihood::Bernoulli, &["a".to_string()], &[sequence], &[forecast]);
        let expected = -(0.8_f32 as f64).ln() - (1.0 - 0.4_f32 as f64).ln();
        assert!((found.nll - expected / 2.0).abs() < 1e-12);
        assert!(found.coverage.is_empty());
    }
}
