//! All scores of the classifications of one model.

use serde::Serialize;

use super::{ClassScore, ConfusionMatrix, RejectionPoint, Reliability, rejection_curve, reliability};
use crate::data::Rows;

/// The least probability that enters the NLL, for models and baselines alike: one confident mistake of a
/// classifier that rounds to 0 would make it infinite. The NLL of a sample is at most 20.7 nats.
pub const PROBABILITY_FLOOR: f64 = 1e-9;

/// Labelled samples with what was predicted for them.
#[derive(Clone, Copy, Debug)]
pub struct Classified<'a> {
    /// Names of the classes.
    pub classes: &'a [String],
    /// True class of each sample.
    pub labels: &'a [usize],
    /// Predicted class of each sample.
    pub predicted: &'a [usize],
    /// A row of class probabilities per sample, if the classifier has them.
    pub probabilities: Option<&'a Rows>,
}

/// Scores of a classifier.
#[derive(Clone, Debug, Serialize)]
pub struct ClassificationScores {
    /// Number of samples.
    pub n: usize,
    /// Share of samples with the wrong class.
    pub error: f64,
    /// Share of samples with the right class.
    pub accuracy: f64,
    /// 1 − the mean recall over classes with samples.
    pub balanced_error: f64,
    /// Mean recall over classes with samples.
    pub balanced_accuracy: f64,
    /// Mean F1 over classes with samples.
    pub macro_f1: f64,
    /// Mean negative log-probability of the true class, in nats, with probabilities of at least
    /// [`PROBABILITY_FLOOR`]; none without probabilities.
    pub nll: Option<f64>,
    /// Calibration of the probabilities.
    pub reliability: Option<Reliability>,
    /// Error against the share rejected.
    pub rejection: Vec<RejectionPoint>,
    /// Scores by class.
    pub per_class: Vec<ClassScore>,
    /// What was taken for what.
    pub confusion: ConfusionMatrix,
}

impl Classified<'_> {
    /// All scores.
    ///
    /// # Panics
    /// If the slices differ in length, or a class is none of `classes`.
    pub fn scores(&self) -> ClassificationScores {
        let confusion = ConfusionMatrix::new(self.classes, self.labels, self.predicted);
        let right: Vec<bool> = self.labels.iter().zip(self.predicted).map(|(a, b)| a == b).collect();
        let confidences = self.confidences();
        let (accuracy, balanced_accuracy) = (confusion.accuracy(), confusion.balanced_accuracy());
        ClassificationScores {
            n: self.labels.len(),
            error: 1.0 - accuracy,
            accuracy,
            balanced_error: 1.0 - balanced_accuracy,
            balanced_accuracy,
            macro_f1: confusion.macro_f1(),
            nll: self.nll(),
            reliability: confidences.as_ref().map(|confidences| reliability(confidences, &right)),
            rejection: confidences.map_or(Vec::new(), |confidences| rejection_curve(&confidences, &right)),
            per_class: confusion.per_class(),
            confusion,
        }
    }

    /// The probability of each predicted class.
    fn confidences(&self) -> Option<Vec<f64>> {
        let rows = self.probabilities?;
        assert_eq!(rows.len(), self.labels.len(), "a row of probabilities per label");
        Some(rows.iter().zip(self.predicted).map(|(row, class)| f64::from(row[*class])).collect())
    }

    fn nll(&self) -> Option<f64> {
        let nats = class_nlls(self.probabilities?, self.labels);
        Some(nats.iter().sum::<f64>() / self.labels.len() as f64)
    }
}

/// −ln p of the true class of each row, in nats, with probabilities of at least [`PROBABILITY_FLOOR`].
pub fn class_nlls(probabilities: &Rows, labels: &[usize]) -> Vec<f64> {
    let nats = |(row, class): (&[f32], &usize)| -f64::from(row[*class]).max(PROBABILITY_FLOOR).ln();
    probabilities.iter().zip(labels).map(nats).collect()
}

/// The class with the largest probability in each row, the first of equal ones.
pub fn most_probable(probabilities: &Rows) -> Vec<usize> {
    let largest = |row: &[f32]| {
        let better = |best: usize, class: usize| if row[class] > row[best] { class } else { best };
        (1..row.len()).fold(0, better)
    };
    probabilities.iter().map(largest).collect()
}
