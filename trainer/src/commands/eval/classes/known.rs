//! What a model rejects, among sequences of classes that it knows and of others.

use serde::Serialize;

use super::samples::LabelledSamples;
use crate::evaluate::{KnownScores, known_scores};
use crate::prediction::ClassPredictions;

/// Rejection at the threshold of the model.
#[derive(Debug, Serialize)]
pub(super) struct KnownAndUnknown {
    /// The largest score of novelty that is accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) threshold: Option<f32>,
    /// Share of the sequences of known classes that the model rejects as none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rejected: Option<f64>,
    /// Error among those it accepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) accepted_error: Option<f64>,
    /// Sequences of unknown classes, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unknown: Option<KnownScores>,
}

impl KnownAndUnknown {
    pub(super) fn new(
        samples: &LabelledSamples<'_>,
        found: &ClassPredictions,
        threshold: Option<f32>,
    ) -> Self {
        let (known, labels) = samples.of_known_classes();
        let novelty =
            |indices: &[usize]| -> Vec<f32> { indices.iter().map(|index| found.novelty[*index]).collect() };
        let unknown: Vec<usize> =
            (0..samples.labels.len()).filter(|index| samples.labels[*index].is_none()).collect();
        let accepted: Vec<bool> = known.iter().map(|index| found.known[*index]).collect();
        let right = known.iter().zip(&labels).map(|(index, label)| found.classes[*index] == *label);
        let wrong = right.zip(&accepted).filter(|(right, accepted)| **accepted && !right).count();
        let count = accepted.iter().filter(|accepted| **accepted).count();
        let share = |part: usize, of: usize| (threshold.is_some() && of > 0).then(|| part as f64 / of as f64);
        Self {
            threshold,
            rejected: share(accepted.len() - count, accepted.len()),
            accepted_error: share(wrong, count),
            unknown: known_scores(&novelty(&known), &novelty(&unknown), threshold),
        }
    }
}
