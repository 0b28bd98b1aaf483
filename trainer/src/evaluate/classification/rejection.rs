//! Error against the share of samples that are rejected.

use serde::Serialize;

/// One point of a rejection curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RejectionPoint {
    /// Share of samples rejected: those with the lowest confidence.
    pub rejected: f64,
    /// Lowest confidence that is accepted.
    pub confidence: f64,
    /// Error among accepted samples.
    pub error: f64,
}

/// Points of a curve: every 5 % of the samples.
const POINTS: usize = 20;

/// The error among the samples that are left when those with the lowest confidence are rejected, from none to
/// 95 % of them. Samples of equal confidence cannot be told apart: they are accepted or rejected together, so
/// a point may reject fewer than its share. Chow 1970 calls this the error–reject tradeoff.
pub fn rejection_curve(confidences: &[f64], right: &[bool]) -> Vec<RejectionPoint> {
    let mut samples: Vec<(f64, bool)> = confidences.iter().copied().zip(right.iter().copied()).collect();
    samples.sort_by(|a, b| a.0.total_cmp(&b.0));
    let n = samples.len();
    // Wrong samples from each position on.
    let mut wrong_from = vec![0usize; n + 1];
    for (index, (_, right)) in samples.iter().enumerate().rev() {
        wrong_from[index] = wrong_from[index + 1] + usize::from(!right);
    }
    let mut curve: Vec<RejectionPoint> = Vec::new();
    for point in 0..POINTS {
        let Some(&(confidence, _)) = samples.get(point * n / POINTS) else { break };
        let first = samples.partition_point(|(other, _)| *other < confidence);
        let rejected = first as f64 / n as f64;
        if curve.last().is_none_or(|last| last.rejected < rejected) {
            curve.push(RejectionPoint {
                rejected,
                confidence,
                error: wrong_from[first] as f64 / (n - first) as f64,
            });
        }
    }
    curve
}
