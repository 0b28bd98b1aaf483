//! The update against Bayesian linear regression in f64: batch where there is a closed form, the textbook
//! recursion on P itself where there is none.

use std::vec;
use std::vec::Vec;

use super::*;
use crate::random::fixed_normal;

const FEATURES: usize = 12;
const LABELS: usize = 300;

/// Features like those of a layer: correlated units within ±1, and a one.
fn features(step: usize) -> Vec<f32> {
    let t = step as f32;
    let unit = |i: usize| {
        let i = i as f32;
        libm::tanhf(libm::sinf(0.11 * t + 0.4 * i) + 0.3 * libm::sinf(0.037 * t * (i + 1.0)))
    };
    (0..FEATURES - 1).map(unit).chain([1.0]).collect()
}

/// Labels of a linear function that is none of the features alone.
fn label(step: usize) -> f32 {
    let phi = features(step);
    phi.iter().enumerate().map(|(i, x)| x * (0.5 - 0.1 * i as f32)).sum::<f32>()
        + libm::sinf(7.0 * step as f32)
}

fn options(covariance: Covariance, prior: f32, correlation: f32) -> AdaptOptions {
    AdaptOptions { covariance, prior, correlation, forgetting: 1.0 }
}

/// Factors and weights after learning.
struct Learned {
    p: Vec<Vec<f64>>,
    weights: Vec<f64>,
    trace: f64,
    variance: f64,
}

fn learn(options: AdaptOptions, labels: usize) -> Learned {
    let mut words = vec![f32::NAN; Factors::words(options.covariance, FEATURES)];
    let mut factors = Factors::carve(&mut ArenaSplitter::new(&mut words), FEATURES, &options).expect("words");
    let mut weights = [0.0; FEATURES];
    for step in 0..labels {
        let phi = features(step);
        factors.set_features(&phi);
        let error = label(step) - weights.iter().zip(&phi).map(|(w, x)| w * x).sum::<f32>();
        assert!(factors.update(&phi, options.forgetting, false));
        weights.iter_mut().zip(&*factors.gain).for_each(|(weight, gain)| *weight += gain * error);
    }
    factors.set_features(&features(labels));
    Learned {
        p: dense(&factors),
        weights: weights.map(f64::from).to_vec(),
        trace: factors.trace.into(),
        variance: factors.variance.into(),
    }
}

/// U D Uᵀ in f64.
fn dense(factors: &Factors<'_>) -> Vec<Vec<f64>> {
    let u = |i: usize, j: usize| match i.cmp(&j) {
        core::cmp::Ordering::Equal => 1.0,
        core::cmp::Ordering::Less => factors.columns.get(j * (j - 1) / 2 + i).map_or(0.0, |u| f64::from(*u)),
        core::cmp::Ordering::Greater => 0.0,
    };
    let entry =
        |i: usize, k: usize| (0..FEATURES).map(|j| u(i, j) * f64::from(factors.diagonal[j]) * u(k, j)).sum();
    (0..FEATURES).map(|i| (0..FEATURES).map(|k| entry(i, k)).collect()).collect()
}

/// Inverse of a symmetric positive definite matrix by Gauss-Jordan elimination.
fn inverse(mut a: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let n = a.len();
    let mut inverse: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for pivot in 0..n {
        let scale = a[pivot][pivot];
        a[pivot].iter_mut().chain(&mut inverse[pivot]).for_each(|x| *x /= scale);
        for row in (0..n).filter(|row| *row != pivot) {
            let factor = a[row][pivot];
            for column in 0..n {
                a[row][column] -= factor * a[pivot][column];
                inverse[row][column] -= factor * inverse[pivot][column];
            }
        }
    }
    inverse
}

/// The posterior of all labels at once: P = (I/prior + Σφφᵀ/τ)⁻¹ and w = P Σφy/τ (Bishop 2006, eqs. 3.50 and
/// 3.51).
fn batch(prior: f64, correlation: f64) -> (Vec<Vec<f64>>, Vec<f64>) {
    let mut precision = vec![vec![0.0; FEATURES]; FEATURES];
    let mut sums = [0.0; FEATURES];
    (0..FEATURES).for_each(|i| precision[i][i] = 1.0 / prior);
    for step in 0..LABELS {
        let (phi, y) = (features(step), f64::from(label(step)));
        for i in 0..FEATURES {
            sums[i] += f64::from(phi[i]) * y / correlation;
            for j in 0..FEATURES {
                precision[i][j] += f64::from(phi[i]) * f64::from(phi[j]) / correlation;
            }
        }
    }
    let p = inverse(precision);
    let weights = p.iter().map(|row| row.iter().zip(&sums).map(|(p, sum)| p * sum).sum()).collect();
    (p, weights)
}

/// P = U diag(D) Uᵀ with unit upper triangular U: from the last row and column on.
fn factorised(mut p: Vec<Vec<f64>>) -> (Vec<Vec<f64>>, Vec<f64>) {
    let n = p.len();
    let (mut u, mut d) = (vec![vec![0.0; n]; n], vec![0.0; n]);
    for j in (0..n).rev() {
        d[j] = p[j][j];
        for i in 0..=j {
            u[i][j] = p[i][j] / d[j];
        }
        for i in 0..j {
            for k in 0..j {
                p[i][k] -= u[i][j] * d[j] * u[k][j];
            }
        }
    }
    (u, d)
}

/// P with its factors D times `growth`, none above `most`.
fn grown(p: Vec<Vec<f64>>, growth: f64, most: f64) -> Vec<Vec<f64>> {
    let (u, d) = factorised(p);
    let d: Vec<f64> = d.into_iter().map(|d| (growth * d).min(most)).collect();
    let entry = |i: usize, k: usize| (0..FEATURES).map(|j| u[i][j] * d[j] * u[k][j]).sum();
    (0..FEATURES).map(|i| (0..FEATURES).map(|k| entry(i, k)).collect()).collect()
}

/// The recursion on P itself in f64, with forgetting and its limits; `diagonal` drops everything else after
/// each label.
fn recursion(options: AdaptOptions, diagonal: bool) -> (Vec<Vec<f64>>, Vec<f64>) {
    let (prior, tau) = (f64::from(options.prior), f64::from(options.correlation));
    let mut p = vec![vec![0.0; FEATURES]; FEATURES];
    (0..FEATURES).for_each(|i| p[i][i] = prior);
    let mut weights = vec![0.0; FEATURES];
    for step in 0..LABELS {
        let phi: Vec<f64> = features(step).into_iter().map(f64::from).collect();
        let trace: f64 = (0..FEATURES).map(|i| p[i][i]).sum();
        let growth = (1.0 / f64::from(options.forgetting)).min((prior * FEATURES as f64 / trace).max(1.0));
        p = grown(p, growth, prior);
        let p_phi: Vec<f64> = p.iter().map(|row| row.iter().zip(&phi).map(|(p, x)| p * x).sum()).collect();
        let s = tau + p_phi.iter().zip(&phi).map(|(p, x)| p * x).sum::<f64>();
        let error = f64::from(label(step)) - weights.iter().zip(&phi).map(|(w, x)| w * x).sum::<f64>();
        for i in 0..FEATURES {
            weights[i] += p_phi[i] / s * error;
            for j in 0..FEATURES {
                p[i][j] -= p_phi[i] * p_phi[j] / s;
                p[i][j] *= f64::from(u8::from(i == j || !diagonal));
            }
        }
    }
    (p, weights)
}

/// Largest differences of P in units of its largest entry, and of weights in units of the largest.
fn differences(found: &Learned, (p, weights): &(Vec<Vec<f64>>, Vec<f64>)) -> [f64; 2] {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, |most: f64, x| most.max(x.abs()));
    let (flat, expected) = (found.p.concat(), p.concat());
    [
        largest(&mut flat.iter().zip(&expected).map(|(a, b)| a - b)) / largest(&mut expected.iter().copied()),
        largest(&mut found.weights.iter().zip(weights).map(|(a, b)| a - b))
            / largest(&mut weights.iter().copied()),
    ]
}

/// 300 updates in f32 of a problem whose prior and posterior variances are 10³ to 10⁵ apart: rounding of
/// 6·10⁻⁸ in each, amplified by that condition.
const TOLERANCE: f64 = 2e-3;

#[test]
fn the_posterior_is_that_of_batch_regression() {
    for (prior, correlation) in [(1.0, 1.0), (1.0, 100.0), (0.01, 1.0), (1000.0, 1.0)] {
        let found = learn(options(Covariance::Full, prior, correlation), LABELS);
        let expected = batch(prior.into(), correlation.into());
        let [p, w] = differences(&found, &expected);
        assert!(p < TOLERANCE && w < TOLERANCE, "prior {prior}, correlation {correlation}: {p:e} {w:e}");
        let trace: f64 = (0..FEATURES).map(|i| expected.0[i][i]).sum();
        assert!((found.trace / trace - 1.0).abs() < TOLERANCE);
        let phi = features(LABELS);
        let rows =
            expected.0.iter().map(|row| row.iter().zip(&phi).map(|(p, x)| p * f64::from(*x)).sum::<f64>());
        let variance: f64 = rows.zip(&phi).map(|(row, x)| row * f64::from(*x)).sum();
        assert!((found.variance / variance - 1.0).abs() < TOLERANCE, "{} {variance}", found.variance);
    }
}

#[test]
fn forgetting_is_that_of_the_recursion_on_the_covariance_itself() {
    for forgetting in [0.999, 0.98, 0.91] {
        let options = AdaptOptions { forgetting, ..options(Covariance::Full, 1.0, 10.0) };
        let [p, w] = differences(&learn(options, LABELS), &recursion(options, false));
        assert!(p < TOLERANCE && w < TOLERANCE, "{forgetting}: {p:e} {w:e}");
    }
}

#[test]
fn the_diagonal_form_is_its_own_definition() {
    for forgetting in [1.0, 0.98] {
        let options = AdaptOptions { forgetting, ..options(Covariance::Diagonal, 1.0, 10.0) };
        let [p, w] = differences(&learn(options, LABELS), &recursion(options, true));
        // Every step is well conditioned.
        assert!(p < 1e-5 && w < 1e-5, "{forgetting}: {p:e} {w:e}");
    }
}

/// Labels of one direction only, for long: the trace, and with it every other direction, stays at its prior.
#[test]
fn directions_that_are_never_observed_do_not_blow_up() {
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        let options = AdaptOptions { forgetting: 0.95, ..options(covariance, 2.0, 1.0) };
        let mut words = vec![0.0; Factors::words(covariance, FEATURES)];
        let mut factors =
            Factors::carve(&mut ArenaSplitter::new(&mut words), FEATURES, &options).expect("words");
        let mut phi = [0.0; FEATURES];
        phi[3] = 1.0;
        for _ in 0..20_000 {
            factors.set_features(&phi);
            factors.update(&phi, options.forgetting, false);
            // Rounding of 20,000 updates must not add up either.
            assert!(factors.trace <= 1.0001 * factors.prior_trace(), "{}", factors.trace);
        }
        // What is observed keeps a variance of about (1 − λ)τ and goes on learning.
        let observed = dense(&factors)[3][3];
        assert!(observed > 0.01 && observed < 0.1, "{covariance:?}: {observed}");
    }
}

/// With labels of some outputs only, the gain is that of an update, and the covariance stays.
#[test]
fn the_gain_alone_is_that_of_an_update() {
    for covariance in [Covariance::Full, Covariance::Diagonal] {
        let options = options(covariance, 1.0, 10.0);
        let mut words = vec![0.0; Factors::words(covariance, FEATURES)];
        let mut factors =
            Factors::carve(&mut ArenaSplitter::new(&mut words), FEATURES, &options).expect("words");
        for step in 0..50 {
            factors.set_features(&features(step));
            factors.update(&features(step), 1.0, false);
        }
        let phi = features(50);
        factors.set_features(&phi);
        let before = dense(&factors);
        assert!(factors.update(&phi, 1.0, true));
        assert_eq!(dense(&factors), before);
        let alone = factors.gain.to_vec();
        assert!(factors.update(&phi, 1.0, false));
        for (alone, gain) in alone.iter().zip(&*factors.gain) {
            assert!((alone - gain).abs() < 1e-5, "{alone} {gain}");
        }
        assert_ne!(dense(&factors), before);
    }
}

/// Units without a bound, as ReLU has them, next to ones that are nearly zero, and a wide prior: the factors
/// of such a covariance grow with every label.
#[test]
fn features_of_any_magnitude_keep_the_factors_within_their_limits() {
    let options = AdaptOptions { forgetting: 0.95, ..options(Covariance::Full, 1e6, 1.0) };
    let magnitudes = [0.0_f32, 1e-3, 1e-3, 1.0, 1e6];
    for seed in 0..100 {
        let mut words = vec![f32::NAN; Factors::words(options.covariance, FEATURES)];
        let mut factors =
            Factors::carve(&mut ArenaSplitter::new(&mut words), FEATURES, &options).expect("words");
        for step in 0..20 {
            let draw = |i: usize| fixed_normal(seed, (step * FEATURES + i) as u16);
            let magnitude = |i: usize| magnitudes[(1e4 * draw(i).abs()) as usize % magnitudes.len()];
            let phi: Vec<f32> = (0..FEATURES).map(|i| magnitude(i).copysign(draw(i))).collect();
            factors.set_features(&phi);
            factors.update(&phi, options.forgetting, false);
            let largest = factors.columns.iter().fold(0.0_f32, |largest, u| largest.max(u.abs()));
            assert!(largest <= COLUMN_LIMIT, "seed {seed}, step {step}: {largest:e}");
            assert!(factors.diagonal.iter().all(|d| factors.limits().contains(d)));
        }
    }
}
