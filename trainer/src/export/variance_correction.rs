//! Correction of the bias of variances by quantization.

use crate::prediction::SequencePrediction;

/// One factor per output on the variances of a checkpoint, with which the mean of their logarithms over all
/// steps equals that of the network in f32.
///
/// Truncating integers loses a little each time, and a variance is a sum of many such terms; means have no
/// preferred sign. The logarithm is what the likelihood depends on, and weights small variances as much as
/// large ones.
///
/// # Panics
/// If the predictions are not of the same sequences.
pub fn variance_correction(
    outputs: usize,
    full: &[SequencePrediction],
    exported: &[SequencePrediction],
) -> Vec<f32> {
    let steps: usize = full.iter().map(|prediction| prediction.mean.len()).sum();
    let factor = |output: usize| {
        let logarithms = full.iter().zip(exported).flat_map(|(full, exported)| {
            let log = move |prediction: &SequencePrediction, step| {
                f64::from(prediction.variance(step, output)).ln()
            };
            (0..full.mean.len()).map(move |step| log(full, step) - log(exported, step))
        });
        let mean = logarithms.filter(|difference| difference.is_finite()).sum::<f64>() / steps.max(1) as f64;
        mean.exp() as f32
    };
    (0..outputs).map(factor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;

    fn prediction(variances: &[f32]) -> SequencePrediction {
        let rows = |values: &[f32]| Rows { channels: 2, values: values.to_vec() };
        let zeros = vec![0.0; variances.len()];
        SequencePrediction { mean: rows(&zeros), epistemic: rows(variances), aleatoric: rows(&zeros) }
    }

    #[test]
    fn large_and_small_variances_count_alike() {
        let full = [prediction(&[1.0, 1.0, 100.0, 2.0]), prediction(&[0.01, 4.0])];
        // The first output falls short by a half, once, at its largest variance; the second is right.
        let exported = [prediction(&[1.0, 1.0, 50.0, 2.0]), prediction(&[0.01, 4.0])];
        let factors = variance_correction(2, &full, &exported);
        assert!((factors[0] - 2.0_f32.cbrt()).abs() < 1e-6, "{factors:?}");
        assert_eq!(factors[1], 1.0);
    }
}
