//! Split-conformal quantiles: how many predicted standard deviations an interval needs, whatever the
//! distribution of the residuals.
//!
//! With n residuals that are exchangeable with the next one, an interval of ± the ⌈(n + 1) p⌉-th smallest
//! |residual| / std_dev contains the next value with a probability of at least p and, without ties, less
//! than p + 1/(n + 1) (Vovk, Gammerman and Shafer 2005; Lei et al. 2018, theorem 2.2). The factor that fits a
//! normal distribution makes no such promise: heavy tails widen every interval. Rows of a recording depend on
//! each other; the promise then holds to the degree that validation and later rows are alike.

use serde::Serialize;

use super::scores::for_each_value;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// The probabilities of [`conformal_quantiles`].
pub const CONFORMAL_LEVELS: [f64; 4] = [0.5, 0.8, 0.9, 0.95];

/// Quantiles of |residual| / std_dev of one output.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutputQuantiles {
    /// Number of residuals.
    pub n: usize,
    /// Quantile of each of the [`CONFORMAL_LEVELS`]; `None` where there are too few residuals for it.
    pub quantiles: [Option<f64>; CONFORMAL_LEVELS.len()],
}

/// The split-conformal quantiles of every output on data that the model was not trained on.
///
/// The interval mean ± quantile × std_dev does not depend on the scale of the predicted variances, so that
/// they may have been calibrated on the same data.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn conformal_quantiles(
    outputs: usize,
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
) -> Vec<OutputQuantiles> {
    let mut scores = vec![Vec::new(); outputs];
    for_each_value(sequences, predictions, |place, value| scores[place.output].push(value.z().abs()));
    scores.iter_mut().map(|scores| of_scores(scores)).collect()
}

fn of_scores(scores: &mut [f64]) -> OutputQuantiles {
    scores.sort_unstable_by(f64::total_cmp);
    OutputQuantiles {
        n: scores.len(),
        quantiles: CONFORMAL_LEVELS.map(|level| conformal_quantile(scores, level)),
    }
}

/// The ⌈(n + 1) `level`⌉-th smallest of n ascending scores; `None` if there are fewer.
pub fn conformal_quantile(ascending: &[f64], level: f64) -> Option<f64> {
    // 19 scores are enough for 95 %, but 20 × 0.95 is a little more than 19 in floating point.
    let rank = ((ascending.len() + 1) as f64 * level - 1e-9).ceil().max(1.0) as usize;
    ascending.get(rank - 1).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::prediction::central_probability;
    use crate::random::{Purpose, normal, stream, uniform};

    /// A Student variate of 3 degrees of freedom: heavy tails, variance 3.
    fn student(rng: &mut impl rand_core::Rng) -> f64 {
        let chi_squared: f64 = (0..3).map(|_| normal(rng).powi(2)).sum();
        normal(rng) / (chi_squared / 3.0).sqrt()
    }

    #[test]
    fn the_rank_has_the_correction_for_finite_samples() {
        let scores: Vec<f64> = (1..=19).map(f64::from).collect();
        assert_eq!(conformal_quantile(&scores, 0.5), Some(10.0));
        assert_eq!(conformal_quantile(&scores, 0.9), Some(18.0));
        assert_eq!(conformal_quantile(&scores, 0.95), Some(19.0));
        assert_eq!(conformal_quantile(&scores[..18], 0.95), None, "19 × 0.95 is more than 18");
        assert_eq!(conformal_quantile(&[], 0.5), None);
    }

    #[test]
    fn exchangeable_residuals_are_covered_as_promised_by_few_scores_already() {
        // Over many calibrations with n = 20, a new score is below the quantile with probability
        // ⌈(n + 1) p⌉ / (n + 1) = 19/21 exactly, of any continuous distribution; the rank ⌈n p⌉ gives 18/21.
        let (n, repeats) = (20, 40_000);
        let mut rng = stream(2, Purpose::Initialisation);
        let skewed = |rng: &mut _| -uniform(rng).max(1e-300).ln().powi(3);
        let mut inside = 0;
        for _ in 0..repeats {
            let mut scores: Vec<f64> = (0..n).map(|_| skewed(&mut rng)).collect();
            let quantile = of_scores(&mut scores).quantiles[2].unwrap();
            inside += i32::from(skewed(&mut rng) <= quantile);
        }
        let coverage = f64::from(inside) / f64::from(repeats);
        // Four binomial standard errors: 4 √(0.09 / 40,000) = 0.006.
        assert!((coverage - 19.0 / 21.0).abs() < 0.006, "{coverage}");
    }

    #[test]
    fn heavy_tails_mislead_the_normal_factor_and_not_the_quantile() {
        let steps = 40_000;
        let mut rng = stream(4, Purpose::Initialisation);
        let mut draw = || -> Vec<f32> { (0..steps).map(|_| student(&mut rng) as f32).collect() };
        let (calibration, test) = (draw(), draw());
        let rows = |values: Vec<f32>| Rows { channels: 1, values };
        let sequence = Sequence::columns(rows(vec![0.0; steps]), rows(calibration));
        let mut prediction = SequencePrediction::zeros(steps, 1);
        (0..steps).for_each(|step| prediction.set(step, 0, 0.0, 0.0, 4.0));
        let (sequences, predictions) = ([sequence], [prediction]);
        let factor = f64::from(super::super::variance_factors(1, &sequences, &predictions)[0]);
        let found = &conformal_quantiles(1, &sequences, &predictions)[0];
        assert_eq!(found.n, steps);
        let covers = |half_width: f64| {
            let inside = test.iter().filter(|value| f64::from(value.abs()) <= half_width).count();
            inside as f64 / steps as f64
        };
        for (level, quantile) in CONFORMAL_LEVELS.into_iter().zip(found.quantiles) {
            let quantile = quantile.unwrap();
            // Two samples of 40,000, four standard errors of √(p (1 − p) · 2 / 40,000) ≤ 0.0036.
            assert!((covers(2.0 * quantile) - level).abs() < 0.015, "{level}: {}", covers(2.0 * quantile));
        }
        let normal_half_width = 0.674_490 * (4.0 * factor).sqrt();
        assert!((central_probability(0.674_490) - 0.5).abs() < 1e-6);
        assert!(covers(normal_half_width) > 0.64, "half promised: {}", covers(normal_half_width));
    }

    #[test]
    fn outputs_that_were_never_observed_have_no_quantiles() {
        let targets = Rows { channels: 2, values: vec![1.0, f32::NAN, 2.0, f32::NAN] };
        let sequence = Sequence::columns(Rows { channels: 1, values: vec![0.0; 2] }, targets);
        let mut prediction = SequencePrediction::zeros(2, 2);
        (0..2).for_each(|step| prediction.set(step, 0, 0.0, 0.5, 0.5));
        let found = conformal_quantiles(2, &[sequence], &[prediction]);
        assert_eq!(found[0].quantiles, [Some(2.0), None, None, None], "ranks 2 and 3 of two scores");
        assert_eq!((found[1].n, found[1].quantiles), (0, [None; 4]));
    }
}
