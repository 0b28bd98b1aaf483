//! Classes of rows: predictions of a categorical likelihood, as classifications.

use super::{ClassificationScores, Classified, most_probable};
use crate::data::{Rows, Sequence};
use crate::prediction::SequencePrediction;

/// Scores of the most probable class of every row that has a label and counts, with the probabilities of all
/// classes; nothing if no row has a label. Targets are 1 for the class of a row and 0 for the others.
///
/// # Panics
/// If predictions and sequences do not match.
pub fn row_class_scores(
    classes: &[String],
    sequences: &[Sequence],
    predictions: &[SequencePrediction],
) -> Option<ClassificationScores> {
    let (mut labels, mut probabilities) = (Vec::new(), Rows::new(classes.len()));
    for (sequence, prediction) in sequences.iter().zip(predictions) {
        for (step, row) in sequence.targets.iter().enumerate().skip(sequence.burn_in) {
            if let Some(label) = row.iter().position(|target| *target == 1.0) {
                labels.push(label);
                probabilities.values.extend_from_slice(prediction.mean.row(step));
            }
        }
    }
    let predicted = most_probable(&probabilities);
    let found =
        Classified { classes, labels: &labels, predicted: &predicted, probabilities: Some(&probabilities) };
    (!labels.is_empty()).then(|| found.scores())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_with_a_label_are_classified() {
        let nan = f32::NAN;
        let rows = |values: &[f32]| Rows { channels: 2, values: values.to_vec() };
        let targets = rows(&[1.0, 0.0, 1.0, 0.0, nan, nan, 0.0, 1.0]);
        let sequence = Sequence { burn_in: 1, ..Sequence::columns(rows(&[0.0; 8]), targets) };
        let mut prediction = SequencePrediction::zeros(4, 2);
        prediction.mean = rows(&[0.1, 0.9, 0.8, 0.2, 0.5, 0.5, 0.6, 0.4]);
        let classes = ["a".to_string(), "b".to_string()];
        let found = row_class_scores(&classes, &[sequence], &[prediction]).unwrap();
        assert_eq!((found.n, found.accuracy), (2, 0.5), "the first row is read only, the third has no label");
        assert_eq!(found.confusion.counts, [[1, 0], [1, 0]]);
        assert!((found.nll.unwrap() + (0.8_f64.ln() + 0.4_f64.ln()) / 2.0).abs() < 1e-6);
        assert!(row_class_scores(&classes, &[], &[]).is_none());
    }
}
