//! How well samples of known classes are told from samples of classes that a model was never shown.

use serde::Serialize;

use crate::evaluate::auroc::auroc;

/// Known against unknown samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct KnownScores {
    /// Probability that an unknown sample has a larger score of novelty than a known one; ½ is chance.
    pub auroc: f64,
    /// Numbers of samples of known and of unknown classes.
    pub known: usize,
    /// Number of samples of unknown classes.
    pub unknown: usize,
    /// Share of known samples that the model rejects at its threshold; none without one.
    pub known_rejected: Option<f64>,
    /// Share of unknown samples that it rejects.
    pub unknown_rejected: Option<f64>,
}

/// Scores of samples by how unfamiliar each seems, the larger the less like any class; `threshold` is what a
/// model rejects above. `None` if there is no sample of either kind.
pub fn known_scores(known: &[f32], unknown: &[f32], threshold: Option<f32>) -> Option<KnownScores> {
    let mut ascending: Vec<f32> = known.iter().copied().filter(|score| !score.is_nan()).collect();
    ascending.sort_unstable_by(f32::total_cmp);
    let above = |scores: &[f32]| {
        threshold.map(|threshold| {
            // What is not a number is no class that is known.
            let count = scores.iter().filter(|score| score.is_nan() || **score > threshold).count();
            count as f64 / scores.len() as f64
        })
    };
    Some(KnownScores {
        auroc: auroc(&ascending, unknown)?,
        known: known.len(),
        unknown: unknown.len(),
        known_rejected: above(known),
        unknown_rejected: above(unknown),
    })
}
