//! Sums over predicted values, from which all scores are computed.

use std::collections::BTreeMap;

use quaver::checkpoint::Likelihood;

use super::calibration::{CalibrationHistogram, CalibrationPoint};
use crate::prediction::{ScoredValue, central_probability};

/// Reported central intervals: percentage, and half their width in standard deviations.
pub(super) const INTERVALS: [(u32, f64); 3] =
    [(50, 0.674_489_750_196_081_7), (90, 1.644_853_626_951_472_2), (95, 1.959_963_984_540_054)];

/// Whether a value lies inside each of the [`INTERVALS`].
pub(super) fn inside_intervals(value: &ScoredValue) -> [bool; INTERVALS.len()] {
    let probability = central_probability(value.z());
    INTERVALS.map(|(percent, _)| probability <= f64::from(percent) / 100.0)
}

/// Sums over the observed values of one output, or of all.
#[derive(Clone, Debug, Default)]
pub(super) struct ScoreTotals {
    pub(super) n: usize,
    pub(super) nll: f64,
    pub(super) squared_error: f64,
    crps: f64,
    std_dev: f64,
    epistemic: f64,
    aleatoric: f64,
    sum: f64,
    sum_of_squares: f64,
    inside: [usize; INTERVALS.len()],
    histogram: CalibrationHistogram,
}

impl ScoreTotals {
    pub(super) fn add(&mut self, likelihood: Likelihood, value: &ScoredValue) {
        for (inside, is_inside) in self.inside.iter_mut().zip(inside_intervals(value)) {
            *inside += usize::from(is_inside);
        }
        self.n += 1;
        self.nll += value.nll(likelihood);
        self.squared_error += value.error() * value.error();
        self.crps += value.crps(likelihood);
        self.std_dev += value.variance().sqrt();
        self.epistemic += value.epistemic;
        self.aleatoric += value.aleatoric;
        self.sum += value.observed;
        self.sum_of_squares += value.observed * value.observed;
        self.histogram.add(likelihood, value);
    }

    pub(super) fn merge(&mut self, other: &ScoreTotals) {
        self.n += other.n;
        self.nll += other.nll;
        self.squared_error += other.squared_error;
        self.crps += other.crps;
        self.std_dev += other.std_dev;
        self.epistemic += other.epistemic;
        self.aleatoric += other.aleatoric;
        self.sum += other.sum;
        self.sum_of_squares += other.sum_of_squares;
        self.inside.iter_mut().zip(other.inside).for_each(|(sum, part)| *sum += part);
        self.histogram.merge(&other.histogram);
    }

    /// A sum divided by the number of values.
    fn mean(&self, sum: f64) -> f64 {
        sum / self.n.max(1) as f64
    }

    pub(super) fn mean_nll(&self) -> f64 {
        self.mean(self.nll)
    }

    pub(super) fn mse(&self) -> f64 {
        self.mean(self.squared_error)
    }

    pub(super) fn mean_crps(&self) -> f64 {
        self.mean(self.crps)
    }

    pub(super) fn mean_epistemic(&self) -> f64 {
        self.mean(self.epistemic)
    }

    pub(super) fn mean_aleatoric(&self) -> f64 {
        self.mean(self.aleatoric)
    }

    /// Coefficient of determination; NaN where the observed values are constant.
    pub(super) fn r2(&self) -> f64 {
        let spread = self.sum_of_squares - self.mean(self.sum * self.sum);
        if spread > 0.0 { 1.0 - self.squared_error / spread } else { f64::NAN }
    }

    /// Coverage of each interval; empty for binary outputs.
    pub(super) fn coverage(&self, likelihood: Likelihood) -> BTreeMap<String, f64> {
        let shares = self.inside.iter().map(|inside| self.mean(*inside as f64));
        by_percent(likelihood, shares)
    }

    /// Mean width of each interval; empty for binary outputs.
    pub(super) fn width(&self, likelihood: Likelihood) -> BTreeMap<String, f64> {
        by_percent(likelihood, INTERVALS.iter().map(|(_, half)| 2.0 * half * self.mean(self.std_dev)))
    }

    pub(super) fn calibration(&self, likelihood: Likelihood) -> Vec<CalibrationPoint> {
        self.histogram.curve(likelihood)
    }
}

/// Values of each interval by its percentage; none for binary outputs.
pub(super) fn by_percent(likelihood: Likelihood, values: impl Iterator<Item = f64>) -> BTreeMap<String, f64> {
    if !likelihood.is_normal() {
        return BTreeMap::new();
    }
    INTERVALS.iter().map(|(percent, _)| percent.to_string()).zip(values).collect()
}
