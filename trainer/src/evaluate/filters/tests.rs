//! Filters against closed forms, their published recurrences, and models with known parameters.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};

use super::*;
use crate::random::{Purpose, normal, stream};

/// The last position of a constant-velocity path by dense least squares: observations with variance 1, and
/// accelerations whose covariance in every step is `agility` [[1/3, 1/2], [1/2, 1]], all solved at once.
fn dense(agility: f64, observed: &[f64]) -> f64 {
    let (steps, unknowns) = (observed.len(), 2 * observed.len());
    let mut information = DMatrix::zeros(unknowns, unknowns);
    let mut right = DVector::zeros(unknowns);
    // Initial variance of the velocity.
    information[(1, 1)] += 1e-4;
    for (t, value) in observed.iter().enumerate().filter(|(_, value)| !value.is_nan()) {
        information[(2 * t, 2 * t)] += 1.0;
        right[2 * t] += value;
    }
    // The inverse of [[1/3, 1/2], [1/2, 1]] is [[12, −6], [−6, 4]].
    let weight = DMatrix::from_row_slice(2, 2, &[12.0, -6.0, -6.0, 4.0]) / agility;
    for t in 1..steps {
        // (p_t − p_{t−1} − v_{t−1}, v_t − v_{t−1}) as a map of the four unknowns.
        let change = DMatrix::from_row_slice(2, 4, &[-1.0, -1.0, 1.0, 0.0, 0.0, -1.0, 0.0, 1.0]);
        let term = change.transpose() * &weight * &change;
        let mut part = information.view_mut((2 * t - 2, 2 * t - 2), (4, 4));
        part += term;
    }
    let solution = information.lu().solve(&right).unwrap();
    solution[unknowns - 2]
}

#[test]
fn the_kalman_filter_is_least_squares_over_all_that_was_seen() {
    let observed = [0.3, 1.1, 0.8, f64::NAN, f64::NAN, 2.4, 2.2, 3.9];
    for agility in [1e-3, 0.1, 5.0] {
        let found = run(&ConstantVelocity { agility }, observed.iter().copied());
        for (t, found) in found.iter().enumerate() {
            let expected = dense(agility, &observed[..=t]);
            assert!((found - expected).abs() < 1e-6, "step {t} with {agility}: {found} against {expected}");
        }
    }
}

#[test]
fn the_one_euro_filter_follows_its_paper() {
    // By hand: f_min = 0.1, β = 0.5, speed cutoff 1, sample time 1; x = 1, 2, 0.
    let filter = OneEuro { min_cutoff: 0.1, beta: 0.5, speed_cutoff: 1.0 };
    let alpha = |cutoff: f64| 1.0 / (1.0 + 1.0 / (2.0 * std::f64::consts::PI * cutoff));
    let mut expected = vec![1.0];
    let speed_1 = alpha(1.0) * (2.0 - 1.0);
    let a_1 = alpha(0.1 + 0.5 * speed_1);
    expected.push(a_1 * 2.0 + (1.0 - a_1) * 1.0);
    let speed_2 = alpha(1.0) * (0.0 - expected[1]) + (1.0 - alpha(1.0)) * speed_1;
    let a_2 = alpha(0.1 + 0.5 * speed_2.abs());
    expected.push(a_2 * 0.0 + (1.0 - a_2) * expected[1]);
    let found = run(&filter, [1.0, 2.0, 0.0].into_iter());
    for (found, expected) in found.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-12, "{found} against {expected}");
    }
}

#[test]
fn gaps_are_bridged_and_the_start_is_the_mean() {
    let values = [f64::NAN, 2.0, f64::NAN, 2.0];
    assert_eq!(run(&Exponential { alpha: 0.5 }, values.into_iter()), [0.0, 2.0, 2.0, 2.0]);
    let found = run(&ConstantVelocity { agility: 1.0 }, [1.0, 2.0, 3.0, 4.0, f64::NAN].into_iter());
    assert!((found[4] - 5.0).abs() < 0.2, "a Kalman filter goes on at its velocity: {found:?}");
}

/// Noisy observations of a path.
fn observed(path: Vec<f32>, noise: f64, rng: &mut impl rand_core::Rng) -> Sequence {
    let noisy = path.iter().map(|value| value + (noise * normal(rng)) as f32).collect();
    let rows = |values: Vec<f32>| Rows { channels: 1, values };
    Sequence { truth: Some(Arc::new(rows(path))), ..Sequence::next(rows(noisy)) }
}

#[test]
fn the_parameters_of_a_simulated_law_are_found() {
    let mut rng = stream(3, Purpose::Initialisation);
    // A random walk with steps of variance q under noise of variance r: the best average has α = (√(k² + 4k)
    // − k)/2, k = q/r (the stationary gain of its Kalman filter).
    let (q, r) = (0.04_f64, 1.0_f64);
    let mut place = 0.0;
    let walk: Vec<f32> = (0..20_000)
        .map(|_| {
            place += q.sqrt() * normal(&mut rng);
            place as f32
        })
        .collect();
    let bank: FilterBank<Exponential> = FilterBank::tune(&[observed(walk, r.sqrt(), &mut rng)]).unwrap();
    let expected = ((q * q + 4.0 * q).sqrt() - q) / 2.0;
    let found = bank.filters[0].alpha;
    assert!((found / expected - 1.0).abs() < 0.1, "{found} against {expected}");

    // Velocity that wanders by white acceleration, exactly as the filter has it.
    let agility = 1e-3_f64;
    let (mut position, mut velocity) = (0.0, 0.0);
    let path: Vec<f32> = (0..4000)
        .map(|_| {
            let (a, b) = (normal(&mut rng), normal(&mut rng));
            // The Cholesky factor of [[1/3, 1/2], [1/2, 1]], velocity first.
            position += velocity + agility.sqrt() * (0.5 * a + b / 12.0_f64.sqrt());
            velocity += agility.sqrt() * a;
            position as f32
        })
        .collect();
    let bank: FilterBank<ConstantVelocity> = FilterBank::tune(&[observed(path, 1.0, &mut rng)]).unwrap();
    // The error is flat about its minimum: a factor of two in q / r costs 1 % of it.
    let found = bank.filters[0].agility;
    assert!((found / agility).ln().abs() < 0.7, "{found} against {agility}");
}

#[test]
fn tuning_needs_the_truth_and_estimates_are_in_raw_units() {
    let mut rng = stream(4, Purpose::Initialisation);
    let path: Vec<f32> = (0..400).map(|t| 1000.0 + 50.0 * (t as f32 * 0.05).sin()).collect();
    let sequence = observed(path, 20.0, &mut rng);
    assert!(FilterBank::<OneEuro>::tune(&[Sequence { truth: None, ..sequence.clone() }]).is_none());
    let bank: FilterBank<OneEuro> = FilterBank::tune(std::slice::from_ref(&sequence)).unwrap();
    let error = |estimate: &Rows| -> f32 {
        let truth = sequence.truth.as_ref().unwrap();
        estimate.values.iter().zip(&truth.values).map(|(e, t)| (e - t).powi(2)).sum()
    };
    assert!(error(&bank.estimate(&sequence.inputs)) < 0.5 * error(&sequence.inputs));
}
