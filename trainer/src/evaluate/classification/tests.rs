//! Scores of hand-made cases.

use super::*;
use crate::data::Rows;
use crate::random::{Purpose, stream, uniform};

fn names() -> Vec<String> {
    ["rest", "fist", "point"].map(String::from).to_vec()
}

fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn a_confusion_matrix_worked_out_by_hand() {
    // rest: 3 of 4 right, one taken for fist; fist: 1 of 2 right, one taken for rest; point has no samples.
    let matrix = ConfusionMatrix::new(&names(), &[0, 0, 0, 0, 1, 1], &[0, 0, 0, 1, 1, 0]);
    assert_eq!(matrix.counts, [[3, 1, 0], [1, 1, 0], [0, 0, 0]]);
    near(matrix.accuracy(), 4.0 / 6.0);
    near(matrix.balanced_accuracy(), (3.0 / 4.0 + 1.0 / 2.0) / 2.0);
    // F1 of rest 2·3/(4 + 4), of fist 2·1/(2 + 2).
    near(matrix.macro_f1(), (0.75 + 0.5) / 2.0);
    let point = &matrix.per_class()[2];
    assert_eq!((point.recall, point.precision, point.f1), (None, None, None));
}

#[test]
fn a_class_that_is_never_predicted_counts_with_f1_of_zero() {
    let matrix = ConfusionMatrix::new(&names(), &[0, 1], &[0, 0]);
    assert_eq!(matrix.per_class()[1].f1, Some(0.0));
    near(matrix.macro_f1(), (2.0 / 3.0) / 2.0);
}

#[test]
fn nll_is_that_of_the_true_class_and_finite() {
    let probabilities = Rows { channels: 3, values: vec![0.5, 0.25, 0.25, 1.0, 0.0, 0.0] };
    let predicted = most_probable(&probabilities);
    assert_eq!(predicted, [0, 0]);
    let names = names();
    let classified = Classified {
        classes: &names,
        labels: &[0, 1],
        predicted: &predicted,
        probabilities: Some(&probabilities),
    };
    let scores = classified.scores();
    near(scores.nll.unwrap(), (2f64.ln() + 9.0 * 10f64.ln()) / 2.0);
    assert_eq!((scores.n, scores.error), (2, 0.5));
    let bare = Classified { probabilities: None, ..classified }.scores();
    assert!(bare.nll.is_none() && bare.reliability.is_none() && bare.rejection.is_empty());
}

#[test]
fn calibration_error_is_the_mean_gap_of_the_bins() {
    // Four claims of 0.9 of which two are right, one claim of 0.4 that is right.
    let found = reliability(&[0.9, 0.9, 0.9, 0.9, 0.4], &[true, true, false, false, true]);
    assert_eq!(found.bins.iter().map(|bin| bin.n).collect::<Vec<_>>(), [1, 4]);
    near(found.ece, (4.0 * 0.4 + 0.6) / 5.0);
    assert_eq!(reliability(&[], &[]), Reliability::default());
}

#[test]
fn honest_probabilities_have_a_calibration_error_near_zero() {
    let mut rng = stream(1, Purpose::Initialisation);
    let confidences: Vec<f64> = (0..40_000).map(|_| uniform(&mut rng)).collect();
    let right: Vec<bool> = confidences.iter().map(|&p| uniform(&mut rng) < p).collect();
    // Each of 15 bins has 2,667 samples and a standard error of at most 0.0097; the mean of its absolute
    // value over bins is below 0.008.
    assert!(reliability(&confidences, &right).ece < 0.015);
    let all = vec![true; confidences.len()];
    assert!(reliability(&confidences, &all).ece > 0.45, "claims ½ on average, is always right");
}

#[test]
fn rejecting_the_least_confident_removes_their_errors() {
    // The two least confident of ten are wrong.
    let confidences: Vec<f64> = (1..=10).map(|i| f64::from(i) / 10.0).collect();
    let right: Vec<bool> = (1..=10).map(|i| i > 2).collect();
    let curve = rejection_curve(&confidences, &right);
    let at = |share: f64| curve.iter().find(|point| (point.rejected - share).abs() < 1e-9).unwrap().error;
    near(at(0.0), 0.2);
    near(at(0.1), 1.0 / 9.0);
    near(at(0.2), 0.0);
    // Without differences in confidence there is nothing to choose by.
    let flat = rejection_curve(&[0.5; 10], &right);
    assert_eq!(flat.len(), 1);
    near(flat[0].error, 0.2);
    assert!(rejection_curve(&[], &[]).is_empty());
}

#[test]
fn known_and_unknown_samples_are_told_apart_by_their_scores() {
    let found = known_scores(&[1.0, 2.0, 3.0, 4.0], &[3.5, 5.0], Some(3.2)).unwrap();
    near(found.auroc, 7.0 / 8.0);
    assert_eq!((found.known_rejected, found.unknown_rejected), (Some(0.25), Some(1.0)));
    assert_eq!(known_scores(&[1.0], &[f32::NAN, 2.0], Some(1.5)).unwrap().unknown_rejected, Some(1.0));
    assert!(known_scores(&[], &[1.0], None).is_none() && known_scores(&[1.0], &[], None).is_none());
}
