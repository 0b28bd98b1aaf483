//! Calibration of class probabilities: of predictions that claim p, a share p should be right.

use serde::Serialize;

/// Bins of equal width of the largest probability, as in Guo et al. 2017.
const BINS: usize = 15;

/// A reliability table and its summary.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Reliability {
    /// Expected calibration error: the mean over samples of |accuracy − confidence| of their bin (Naeini et
    /// al. 2015; Guo et al. 2017, eq. 3).
    pub ece: f64,
    /// Bins that are not empty, by ascending confidence.
    pub bins: Vec<ReliabilityBin>,
}

/// Predictions of similar confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ReliabilityBin {
    /// Mean of the largest class probability.
    pub confidence: f64,
    /// Share of right predictions.
    pub accuracy: f64,
    /// Number of samples.
    pub n: usize,
}

/// The reliability of predictions with these confidences, of which `right` says whether they were right.
pub fn reliability(confidences: &[f64], right: &[bool]) -> Reliability {
    let mut sums = [(0.0, 0usize, 0usize); BINS];
    for (&confidence, &right) in confidences.iter().zip(right) {
        // A confidence on the edge of two bins belongs to the lower one, as in the definition.
        let bin = ((confidence * BINS as f64).ceil() as usize).clamp(1, BINS) - 1;
        sums[bin].0 += confidence;
        sums[bin].1 += usize::from(right);
        sums[bin].2 += 1;
    }
    let bins: Vec<ReliabilityBin> = sums
        .into_iter()
        .filter(|(_, _, n)| *n > 0)
        .map(|(confidence, right, n)| ReliabilityBin {
            confidence: confidence / n as f64,
            accuracy: right as f64 / n as f64,
            n,
        })
        .collect();
    let gap = |bin: &ReliabilityBin| bin.n as f64 * (bin.accuracy - bin.confidence).abs();
    Reliability { ece: bins.iter().map(gap).sum::<f64>() / confidences.len().max(1) as f64, bins }
}
