//! Baselines against sums and normal equations written out by hand, and against published figures.

use super::*;
use crate::data::{LookAhead, Rows, Scaling, benchmark_tests};

fn next(channels: usize, values: &[f32]) -> Sequence {
    Sequence::next(Rows { channels, values: values.to_vec() })
}

fn rows(values: &[f32]) -> Rows {
    Rows { channels: 1, values: values.to_vec() }
}

fn dataset(train: Vec<Sequence>, valid: Vec<Sequence>, target: Target) -> Dataset {
    let names = |count: usize| (0..count).map(|index| format!("c{index}")).collect();
    Dataset {
        input_names: names(train[0].inputs.channels),
        target_names: names(train[0].targets.channels),
        target,
        ..Dataset::of([train, valid, Vec::new()], &[])
    }
}

#[test]
fn the_training_mean_passes_over_missing_values() {
    let constant = Constant::fit(&[next(1, &[1.0, f32::NAN, 3.0]), next(1, &[5.0])]);
    assert_eq!(constant.mean, [3.0]);
    assert!((constant.variance[0] - 8.0 / 3.0).abs() < 1e-12);
}

#[test]
fn persistence_repeats_what_was_last_observed() {
    let train = [next(1, &[0.0, 2.0, f32::NAN, 1.0])];
    let constant = Constant::fit(&train);
    let persistence = Persistence::fit(&train, &constant, Memory::default());
    let prediction = persistence.prediction(&next(1, &[7.0, f32::NAN, 9.0]));
    assert_eq!(prediction.mean.values, [1.0, 7.0, 7.0], "before anything is observed, the training mean");
    // Changes of 2 and −1 (across the gap): variance 2.5; at the start that of 0, 2 and 1.
    assert_eq!(prediction.aleatoric.values[1..], [2.5, 2.5]);
    assert!((prediction.aleatoric.values[0] - 2.0 / 3.0).abs() < 1e-6);
}

#[test]
fn persistence_ahead_repeats_the_newest_input() {
    let values = |inputs: &[f32], targets: &[f32]| Sequence::columns(rows(inputs), rows(targets));
    let nan = f32::NAN;
    // y two rows ahead: 1, 2, 4, 8 and then 16.
    let train = [values(&[1.0, 2.0, 4.0, 8.0, 16.0], &[4.0, 8.0, 16.0, nan, nan])];
    let constant = Constant::fit(&train);
    let ahead = |input| [LookAhead { input, rows: 2 }];
    let (read, unread) = (ahead(Some(0)), ahead(None));
    let by = |look_ahead| Persistence::fit(&train, &constant, Memory { look_ahead });
    let test = values(&[5.0, nan, 7.0], &[7.0, nan, nan]);
    assert_eq!(by(&read).prediction(&test).mean.values, [5.0, 5.0, 7.0], "the newest that was observed");
    // Changes over two rows: 3, 6 and 12.
    assert_eq!(by(&read).prediction(&test).aleatoric.values[0], 63.0);
    // A column that is not read is known where a target was.
    assert_eq!(by(&unread).prediction(&test).mean.values[2], 7.0);
    assert!(Memory { look_ahead: &unread }.sees_targets() && !Memory { look_ahead: &read }.sees_targets());
}

#[test]
fn binary_persistence_counts_what_follows_what() {
    let train = [next(1, &[0.0, 0.0, 1.0, 1.0, 0.0])];
    let constant = Constant::fit(&train);
    let prediction = Markov::fit(&train, &constant, Memory::default()).prediction(&next(1, &[1.0, 0.0, 0.0]));
    // After 0: 0, 1; after 1: 1, 0; each with one imagined observation of frequency 2/5.
    let expected = [0.4, 1.4 / 3.0, 1.4 / 3.0];
    for (found, expected) in prediction.mean.values.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} against {expected}");
    }
}

#[test]
fn classes_cost_the_logarithm_of_their_frequency() {
    let classes = next(2, &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 0.0]);
    let data = dataset(vec![classes.clone()], vec![classes], Target::Next);
    let found = baselines(Likelihood::Categorical, &data, &[next(2, &[0.0, 1.0, 1.0, 0.0])]);
    assert_eq!(found.len(), 1);
    let expected = -(0.25_f64.ln() + 0.75_f64.ln()) / 2.0;
    assert!((found[0].scores.nll - expected).abs() < 1e-6, "{}", found[0].scores.nll);
}

/// Four rows of one input and one target, and the ridge weights of one lag from the normal equations of two
/// unknowns.
fn by_hand(x: &[f64], y: &[f64], penalty: f64) -> (f64, f64) {
    let n = x.len() as f64;
    let sum = |values: &[f64]| values.iter().sum::<f64>();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    // [n, Σx; Σx, Σx² + λ] [b; w] = [Σy; Σxy], by Cramer's rule.
    let (sx, sxx) = (sum(x), dot(x, x) + penalty);
    let determinant = n * sxx - sx * sx;
    let (sy, sxy) = (sum(y), dot(x, y));
    ((sy * sxx - sx * sxy) / determinant, (n * sxy - sx * sy) / determinant)
}

#[test]
fn ridge_weights_solve_the_normal_equations() {
    let (inputs, targets) = ([1.0, 4.0, 2.0, 7.0], [0.0, 5.0, 1.0, 3.0]);
    let train = vec![Sequence::columns(rows(&inputs), rows(&targets))];
    let scaling = Scaling::fit(&train);
    let features = crate::data::normal_equations::Features { scaling: &scaling, lags: 1 };
    let sums = crate::data::normal_equations::NormalEquations::gather(&train, &features, &[0]);
    let standardised = |scaler: &crate::data::Scaler, values: &[f32]| -> Vec<f64> {
        values.iter().map(|value| f64::from(scaler.standardise(0, *value))).collect()
    };
    let (x, y) = (standardised(&scaling.inputs, &inputs), standardised(&scaling.targets, &targets));
    for penalty in [0.5, 3.0] {
        let weights = sums.ridge(2, penalty).unwrap();
        let (bias, slope) = by_hand(&x, &y, penalty);
        assert!((weights[0] - bias).abs() < 1e-12 && (weights[1] - slope).abs() < 1e-12, "{weights}");
        let error: f64 = x.iter().zip(&y).map(|(x, y)| (y - bias - slope * x).powi(2)).sum();
        assert!((sums.squared_errors(&weights)[0] - error).abs() < 1e-12);
    }
}

#[test]
fn ridge_finds_the_lags_that_matter_although_targets_are_missing() {
    let noise = |t: usize| ((t * 7919 + 13) % 101) as f32 / 50.0 - 1.0;
    let make = |from: usize, count: usize| {
        let inputs: Vec<f32> = (from..from + count).map(noise).collect();
        let past = |t: usize, lag: usize| t.checked_sub(lag).map_or(0.0, |earlier| inputs[earlier]);
        let target = |t: usize| [3.0 * past(t, 2), 10.0 - past(t, 0)];
        let mut targets: Vec<f32> = (0..count).flat_map(target).collect();
        targets[8] = f32::NAN;
        Sequence::columns(rows(&inputs), Rows { channels: 2, values: targets })
    };
    let data = dataset(vec![make(0, 300)], vec![make(300, 80)], Target::Columns);
    let test = [make(400, 90)];
    let found = baselines(Likelihood::Gaussian, &data, &test);
    let names: Vec<&str> = found.iter().map(|baseline| baseline.name.as_str()).collect();
    assert_eq!(names, ["training mean", "persistence", "ridge regression"]);
    assert_eq!(found.iter().map(|baseline| baseline.sees_targets).collect::<Vec<_>>(), [false, true, false]);
    let ridge = &found[2].scores;
    assert!(ridge.per_output.iter().all(|output| output.r2 > 0.99), "{ridge:?}");
    assert_eq!(ridge.per_output[0].n, 89);
    assert!(ridge.nll < found[0].scores.nll - 3.0);
}

#[test]
fn a_wave_is_predicted_from_two_rows_and_not_from_one() {
    // sin(a + ω) = 2 cos ω sin a − sin(a − ω).
    let wave = |phase: f32| next(1, &(0..200).map(|t| (0.9 * t as f32 + phase).sin()).collect::<Vec<_>>());
    let data = dataset(vec![wave(0.0), wave(1.0), wave(2.5)], vec![wave(4.0)], Target::Next);
    let found = baselines(Likelihood::Gaussian, &data, &[wave(0.5)]);
    let (persistence, ridge) = (&found[1], &found[2]);
    assert!(!persistence.sees_targets && ridge.name == "ridge AR");
    // Only the first two of 200 steps cannot be known.
    assert!(ridge.scores.mse < 0.02 && persistence.scores.mse > 0.3, "{found:?}");
}

#[test]
fn piano_rolls_have_the_published_cost_of_independent_keys() {
    for (name, nll) in [("jsb_chorales", 11.06), ("nottingham", 10.25)] {
        let Some(data) = benchmark_tests::piano_rolls(name) else { return };
        let found = baselines(Likelihood::Bernoulli, &data, &data.test);
        assert!((found[0].scores.nll - nll).abs() < 0.005, "{name}: {}", found[0].scores.nll);
        assert!(found[1].scores.nll < nll - 0.5, "notes last: {}", found[1].scores.nll);
    }
}

#[test]
fn motion_capture_is_harder_for_persistence_than_for_ridge() {
    let Some(data) = benchmark_tests::motion_capture() else { return };
    let found = baselines(Likelihood::Gaussian, &data, &data.test);
    let (persistence, ridge) = (found[1].scores.sse_per_step, found[2].scores.sse_per_step);
    // A loop of its own over all frames but the first, which nothing precedes: 4.28 on this file.
    let frames: Vec<&[f32]> = data.test[0].targets.iter().collect();
    let square = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum::<f64>();
    let changes: f64 = frames.windows(2).map(|pair| square(pair[0], pair[1])).sum();
    let steps = frames.len() as f64;
    assert!((changes / (steps - 1.0) - 4.28).abs() < 0.005, "{}", changes / (steps - 1.0));
    let mean: Vec<f32> = Constant::fit(&data.train).mean.iter().map(|mean| *mean as f32).collect();
    let expected = (changes + square(frames[0], &mean)) / steps;
    assert!((persistence - expected).abs() < 1e-4, "{persistence} against {expected}");
    assert!(ridge < 0.75 * persistence, "{ridge}: {}", found[2].detail);
}
