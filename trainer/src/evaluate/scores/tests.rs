//! Scores of predictions that can be computed by hand.

use super::*;
use crate::data::Rows;

fn rows(channels: usize, values: &[f32]) -> Rows {
    Rows { channels, values: values.to_vec() }
}

fn two_outputs() -> (Vec<Sequence>, Vec<SequencePrediction>) {
    let targets = rows(2, &[1.0, 10.0, 3.0, f32::NAN, f32::NAN, f32::NAN]);
    let sequence = Sequence::columns(rows(1, &[0.0; 3]), targets);
    let prediction = SequencePrediction {
        mean: rows(2, &[0.0, 12.0, 3.0, 0.0, 0.0, 0.0]),
        epistemic: rows(2, &[0.5, 3.0, 0.5, 1.0, 1.0, 1.0]),
        aleatoric: rows(2, &[0.5, 1.0, 0.5, 1.0, 1.0, 1.0]),
    };
    (vec![sequence], vec![prediction])
}

fn found() -> Scores {
    let (sequences, predictions) = two_outputs();
    scores(Likelihood::Gaussian, &["a".to_string(), "b".to_string()], &sequences, &predictions)
}

#[test]
fn rows_that_lead_up_to_others_do_not_count() {
    let (sequences, predictions) = two_outputs();
    let sequences = [Sequence { burn_in: 1, ..sequences[0].clone() }];
    let names = ["a".to_string(), "b".to_string()];
    let found = scores(Likelihood::Gaussian, &names, &sequences, &predictions);
    assert_eq!((found.n, found.sse_per_step, found.per_output[1].n), (1, 0.0, 0));
}

#[test]
fn scores_follow_their_definitions() {
    let found = found();
    let ln_two_pi = (2.0 * std::f64::consts::PI).ln();
    let first = 0.5 * (ln_two_pi + 1.0);
    let second = 0.5 * (ln_two_pi + 4.0_f64.ln() + 1.0);
    let third = 0.5 * ln_two_pi;
    assert!((found.nll - (first + second + third) / 2.0).abs() < 1e-12, "two steps were observed");
    assert_eq!(found.n, 2);
    assert!((found.mse - 5.0 / 3.0).abs() < 1e-12);
    assert!((found.sse_per_step - 2.5).abs() < 1e-12);
    assert_eq!(found.per_output[0].n, 2);
    assert!((found.per_output[0].r2 - 0.5).abs() < 1e-12, "1 of 2 squared units is left");
    assert!(found.per_output[1].r2.is_nan(), "a single value has no spread");
    assert_eq!(found.r2, found.per_output[0].r2);
    assert_eq!(
        (found.per_output[1].uncertainty.epistemic, found.per_output[1].uncertainty.aleatoric),
        (3.0, 1.0)
    );
    assert!((found.uncertainty.epistemic - 4.0 / 3.0).abs() < 1e-12);
}

#[test]
fn standardised_densities_grow_with_the_deviation() {
    let plain = found();
    let scaled = found().in_units_of(&[1.0, 4.0]);
    assert_eq!(scaled.per_output[0].nll_standardised, Some(plain.per_output[0].nll));
    let second = scaled.per_output[1].nll_standardised.unwrap();
    assert!((second - (plain.per_output[1].nll - 4.0_f64.ln())).abs() < 1e-12);
    // Of two steps, one observed the second output.
    assert!((scaled.nll_standardised.unwrap() - (plain.nll - 4.0_f64.ln() / 2.0)).abs() < 1e-12);
}

#[test]
fn intervals_hold_what_lies_inside_them() {
    // z = 1 lies outside the 50 % interval (0.674) and inside the 90 % one (1.645); z = 0 lies inside
    // both.
    let found = found();
    assert!((found.uncertainty.coverage["50"] - 1.0 / 3.0).abs() < 1e-12);
    assert_eq!(found.uncertainty.coverage["90"], 1.0);
    assert_eq!(
        (
            found.uncertainty.coverage_std_error["90"],
            found.per_output[1].uncertainty.coverage_std_error["50"]
        ),
        (0.0, 0.0)
    );
    // Hits less their share of 1/3: −2/3 of the two trials of the first step, 2/3 of that of the second,
    // and a third step without trials. Three steps are too few to see that they depend on each other.
    assert!(
        (found.uncertainty.coverage_std_error["50"] - (2.0 * (2.0_f64 / 3.0).powi(2)).sqrt() / 3.0).abs()
            < 1e-12
    );
    // Standard deviations 1, 2, 1 on average 4/3.
    assert!((found.uncertainty.width["90"] - 2.0 * 1.644_853_627 * 4.0 / 3.0).abs() < 1e-8);
    assert!((found.per_output[1].uncertainty.width["95"] - 4.0 * 1.959_963_985).abs() < 1e-8);
}

#[test]
fn residuals_are_in_deviations_and_pass_over_missing_targets() {
    let (sequences, predictions) = two_outputs();
    assert_eq!(standardised_residuals(&sequences, &predictions), [1.0, -1.0, 0.0]);
}

#[test]
fn binary_outputs_have_cross_entropy_and_no_intervals() {
    let sequence = Sequence::columns(rows(1, &[0.0; 2]), rows(1, &[1.0, 0.0]));
    let zeros = rows(1, &[0.0; 2]);
    let prediction =
        SequencePrediction { mean: rows(1, &[0.8, 0.4]), epistemic: zeros.clone(), aleatoric: zeros };
    let found = scores(Likelihood::Bernoulli, &["a".to_string()], &[sequence], &[prediction]);
    let expected = -(0.8_f32 as f64).ln() - (1.0 - 0.4_f32 as f64).ln();
    assert!((found.nll - expected / 2.0).abs() < 1e-12);
    assert!((found.crps - 0.5 * (0.04 + 0.16)).abs() < 1e-7);
    assert!(found.uncertainty.coverage.is_empty() && found.uncertainty.width.is_empty());
}
