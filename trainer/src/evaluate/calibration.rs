//! Calibration: whether events with predicted probability p have frequency p.

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use crate::prediction::{ScoredValue, central_probability};

/// One point of a calibration curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CalibrationPoint {
    /// Normal outputs: the probability of a central interval. Binary outputs: the mean of similar predicted
    /// probabilities.
    pub promised: f64,
    /// The fraction of observed values inside that interval, or of ones among those predictions.
    pub observed: f64,
    /// Number of values.
    pub n: usize,
}

/// Mean distance of the observed from the promised probabilities, weighted by the number of values; nothing
/// if there are none. 0 is perfect.
pub fn calibration_error(curve: &[CalibrationPoint]) -> Option<f64> {
    let n: usize = curve.iter().map(|point| point.n).sum();
    let distance = |point: &CalibrationPoint| point.n as f64 * (point.observed - point.promised).abs();
    (n > 0).then(|| curve.iter().map(distance).sum::<f64>() / n as f64)
}

/// Bins of 5 %.
const BINS: usize = 20;

/// Values by the probability of the smallest central interval that contains them, or by their predicted
/// probability.
#[derive(Clone, Debug, Default)]
pub(super) struct CalibrationHistogram {
    bins: [Bin; BINS],
}

#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    n: usize,
    promised: f64,
    observed: f64,
}

impl CalibrationHistogram {
    pub(super) fn add(&mut self, likelihood: Likelihood, value: &ScoredValue) {
        let promised = if likelihood.is_normal() { central_probability(value.z()) } else { value.mean };
        let bin = &mut self.bins[((promised * BINS as f64) as usize).min(BINS - 1)];
        bin.n += 1;
        bin.promised += promised;
        bin.observed += value.observed;
    }

    pub(super) fn merge(&mut self, other: &CalibrationHistogram) {
        for (bin, other) in self.bins.iter_mut().zip(&other.bins) {
            bin.n += other.n;
            bin.promised += other.promised;
            bin.observed += other.observed;
        }
    }

    /// The calibration curve, by ascending probability.
    pub(super) fn curve(&self, likelihood: Likelihood) -> Vec<CalibrationPoint> {
        if likelihood.is_normal() { self.coverage_curve() } else { self.reliability_curve() }
    }

    /// Coverage of the central intervals of 5 %, 10 %, … 95 %.
    fn coverage_curve(&self) -> Vec<CalibrationPoint> {
        let n: usize = self.bins.iter().map(|bin| bin.n).sum();
        let mut inside = 0;
        let point = |(index, bin): (usize, &Bin)| {
            inside += bin.n;
            let promised = (index + 1) as f64 / BINS as f64;
            CalibrationPoint { promised, observed: inside as f64 / n as f64, n }
        };
        let curve = self.bins[..BINS - 1].iter().enumerate().map(point);
        if n == 0 { Vec::new() } else { curve.collect() }
    }

    /// Mean predicted probability and frequency in each bin that is not empty.
    fn reliability_curve(&self) -> Vec<CalibrationPoint> {
        let point = |bin: &Bin| {
            let n = bin.n as f64;
            CalibrationPoint { promised: bin.promised / n, observed: bin.observed / n, n: bin.n }
        };
        self.bins.iter().filter(|bin| bin.n > 0).map(point).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(likelihood: Likelihood, values: &[(f64, f64)]) -> Vec<CalibrationPoint> {
        let mut histogram = CalibrationHistogram::default();
        for &(observed, mean) in values {
            histogram.add(likelihood, &ScoredValue { observed, mean, epistemic: 0.0, aleatoric: 1.0 });
        }
        histogram.curve(likelihood)
    }

    #[test]
    fn a_normal_is_scored_by_its_intervals() {
        // |z| of 0.1 lies within the interval of 8.0 %, 1.0 within that of 68.3 %, 3.0 within that of 99.7 %.
        let found = curve(Likelihood::Gaussian, &[(0.1, 0.0), (0.0, 1.0), (-1.0, 0.0), (4.0, 1.0)]);
        assert_eq!(found.len(), 19);
        let observed = |percent: usize| found[percent / 5 - 1].observed;
        assert_eq!([5, 10, 65, 70, 95].map(observed), [0.0, 0.25, 0.25, 0.75, 0.75]);
    }

    #[test]
    fn a_probability_is_scored_by_frequency() {
        let found = curve(Likelihood::Bernoulli, &[(0.0, 0.11), (1.0, 0.13), (1.0, 1.0)]);
        assert_eq!(found.len(), 2);
        assert!((found[0].promised - 0.12).abs() < 1e-12);
        assert_eq!((found[0].observed, found[0].n, found[1].observed), (0.5, 2, 1.0));
    }

    #[test]
    fn the_error_is_the_mean_distance_from_the_diagonal() {
        let point = |promised, observed, n| CalibrationPoint { promised, observed, n };
        let found = calibration_error(&[point(0.5, 0.6, 30), point(0.9, 0.7, 10)]);
        assert!((found.unwrap() - (0.75 * 0.1 + 0.25 * 0.2)).abs() < 1e-12);
        assert_eq!(calibration_error(&[]), None);
    }

    #[test]
    fn no_values_make_no_curve() {
        assert!(curve(Likelihood::Gaussian, &[]).is_empty() && curve(Likelihood::Bernoulli, &[]).is_empty());
    }
}
