//! Variance recalibration: one factor per output that matches predicted variances to errors.

use super::scores::for_each_value;
use crate::data::Sequence;
use crate::prediction::SequencePrediction;

/// Range of a variance factor in the checkpoint format.
const SMALLEST: f64 = 1e-12;
const LARGEST: f64 = 1e12;

/// The maximum-likelihood factors c on the total variances.
///
/// With residuals e and variances v, Σ ½ (ln c v + e²/(c v)) is minimal where c is the mean of e²/v. An
/// output that was never observed keeps its variance.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn variance_factors(
    outputs: usize,
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
) -> Vec<f32> {
    let mut sums = vec![(0.0, 0.0); outputs];
    for_each_value(sequences, predictions, |place, value| {
        sums[place.output].0 += value.z() * value.z();
        sums[place.output].1 += 1.0;
    });
    let factor = |(squares, n): (f64, f64)| {
        if n == 0.0 { 1.0 } else { (squares / n).clamp(SMALLEST, LARGEST) as f32 }
    };
    sums.into_iter().map(factor).collect()
}

#[cfg(test)]
mod tests {
    use quaver::checkpoint::Likelihood;

    use super::*;
    use crate::data::Rows;
    use crate::evaluate::scores;

    fn prediction(sequence: &Sequence, factors: [f32; 2]) -> SequencePrediction {
        let mut prediction = SequencePrediction::zeros(sequence.len(), 2);
        for step in 0..sequence.len() {
            prediction.set(step, 0, 0.5, 0.1 * factors[0], (0.2 + step as f32) * factors[0]);
            prediction.set(step, 1, 0.0, 0.0, factors[1]);
        }
        prediction
    }

    #[test]
    fn no_other_factor_is_more_likely() {
        let nan = f32::NAN;
        let targets = Rows { channels: 2, values: vec![3.0, nan, -1.0, nan, 0.7, nan, 5.0, nan] };
        let sequence = Sequence::columns(Rows { channels: 1, values: vec![0.0; 4] }, targets);
        let plain = prediction(&sequence, [1.0, 1.0]);
        let factors = variance_factors(2, std::slice::from_ref(&sequence), &[plain]);
        assert_eq!(factors[1], 1.0, "never observed");
        let nll = |factor: f32| {
            let names = ["a".to_string(), "b".to_string()];
            let predictions = [prediction(&sequence, [factor, 1.0])];
            scores(Likelihood::Gaussian, &names, std::slice::from_ref(&sequence), &predictions).nll
        };
        for other in [0.5, 0.98, 1.02, 2.0] {
            assert!(nll(factors[0]) < nll(other * factors[0]), "{other}");
        }
    }
}
