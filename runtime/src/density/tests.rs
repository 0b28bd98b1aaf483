use std::vec;
use std::vec::Vec;

use super::*;

/// A covariance of unit diagonal: correlations of four channels of which the last two nearly agree.
const SIGMA: [[f64; 4]; 4] =
    [[1.0, 0.5, -0.3, -0.2], [0.5, 1.0, 0.1, 0.2], [-0.3, 0.1, 1.0, 0.9], [-0.2, 0.2, 0.9, 1.0]];

/// Inverse by Gauss–Jordan elimination in f64, without pivoting: the matrices here are positive definite.
fn inverse(matrix: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let n = matrix.len();
    let mut left = matrix.to_vec();
    let mut right: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    for pivot in 0..n {
        let scale = left[pivot][pivot];
        for j in 0..n {
            left[pivot][j] /= scale;
            right[pivot][j] /= scale;
        }
        for i in (0..n).filter(|i| *i != pivot) {
            let factor = left[i][pivot];
            for j in 0..n {
                left[i][j] -= factor * left[pivot][j];
                right[i][j] -= factor * right[pivot][j];
            }
        }
    }
    right
}

fn covariance() -> Vec<Vec<f64>> {
    SIGMA.iter().map(|row| row.to_vec()).collect()
}

fn precision() -> Vec<f32> {
    let lambda = inverse(&covariance());
    (0..4).flat_map(|i| (0..=i).map(|j| lambda[i][j] as f32).collect::<Vec<_>>()).collect()
}

/// Σ_MP (Σ_PP + diag v)⁻¹ y and the diagonal of Σ_MM − Σ_MP (Σ_PP + diag v)⁻¹ Σ_PM, in f64.
fn conditional(mean: &[f32], var: &[f32]) -> Vec<(usize, f64, f64)> {
    let sigma = covariance();
    let present: Vec<usize> = (0..4).filter(|i| var[*i] != MISSING).collect();
    let inner: Vec<Vec<f64>> = present
        .iter()
        .map(|&i| {
            present.iter().map(|&j| sigma[i][j] + if i == j { f64::from(var[i]) } else { 0.0 }).collect()
        })
        .collect();
    let inner = inverse(&inner);
    (0..4)
        .filter(|i| var[*i] == MISSING)
        .map(|m| {
            let weight = |p: usize| -> f64 {
                present.iter().enumerate().map(|(q, &j)| sigma[m][j] * inner[q][p]).sum()
            };
            let weights: Vec<f64> = (0..present.len()).map(weight).collect();
            let dot = |values: &dyn Fn(usize) -> f64| -> f64 {
                weights.iter().zip(&present).map(|(w, &p)| w * values(p)).sum()
            };
            (m, dot(&|p| f64::from(mean[p])), sigma[m][m] - dot(&|p| sigma[m][p]))
        })
        .collect()
}

/// The condition number of Λ is 60: rounding of its elements to f32 leaves 10⁻⁵.
#[test]
fn missing_channels_get_the_conditional_of_the_covariance_form() {
    let precision = precision();
    for set in 0..256 {
        // Each channel is exact, uncertain by 0.3 or by 2, or missing.
        let var: Vec<f32> = (0..4).map(|i| [0.0, 0.3, 2.0, MISSING][(set >> (2 * i)) & 3]).collect();
        let given = [0.7, -1.2, 2.0, 0.4];
        let (mut mean, mut found) = (given, var.clone());
        impute(|k| precision[k], &mut mean, &mut found, &mut vec![0.0; scratch_words(4)]);
        for (m, expected_mean, expected_var) in conditional(&given, &var) {
            assert!((f64::from(mean[m]) - expected_mean).abs() < 1e-5, "{var:?}: {mean:?} {expected_mean}");
            assert!((f64::from(found[m]) - expected_var).abs() < 1e-5, "{var:?}: {found:?} {expected_var}");
        }
        for i in (0..4).filter(|i| var[*i] != MISSING) {
            assert_eq!((mean[i], found[i]), (given[i], var[i]), "what was read stays");
        }
    }
}

/// Averages of 10⁵ draws are off by less than five standard errors, 0.02.
#[test]
fn the_conditional_holds_for_draws() {
    let precision = precision();
    // Channel 3 from channel 2: x₃ = 0.9 x₂ + √(1 − 0.81) e, as the covariance has it.
    let mut numbers = 1_u64;
    let mut uniform = || {
        numbers = numbers.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (numbers >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut normal = || (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
    let (mut error, mut square) = (0.0, 0.0);
    for _ in 0..100_000 {
        let x = normal();
        let y = 0.9 * x + (1.0_f64 - 0.81).sqrt() * normal();
        let (mut mean, mut var) = ([0.0, 0.0, x as f32, 0.0], [MISSING, MISSING, 0.0, MISSING]);
        impute(|k| precision[k], &mut mean, &mut var, &mut [0.0; scratch_words(4)]);
        let z = (y - f64::from(mean[3])) / f64::from(var[3]).sqrt();
        (error, square) = (error + z / 1e5, square + z * z / 1e5);
    }
    assert!(error.abs() < 0.02 && (square - 1.0).abs() < 0.02, "{error} {square}");
}

#[test]
fn the_distance_of_an_imputed_row_is_that_of_its_present_channels() {
    let precision = precision();
    let (mut row, mut var) = ([0.7, 0.0, 2.0, 0.0], [0.0, MISSING, 0.0, MISSING]);
    impute(|k| precision[k], &mut row, &mut var, &mut [0.0; scratch_words(4)]);
    // Σ_PP of channels 0 and 2 has the correlation −0.3.
    let expected = (0.7_f64.powi(2) + 2.0 * 0.3 * 0.7 * 2.0 + 4.0) / (1.0 - 0.09);
    let found = distance(&precision, |element| element, &row);
    assert!((f64::from(found) - expected).abs() < 1e-4, "{found} {expected}");
}

/// Rows of the triangle are taken two at a time: every length up to five, the last row alone or not, against
/// the whole matrix in f64. Sums of fifteen products lose less than 10⁻⁵ of their size in f32.
#[test]
fn the_distance_is_the_quadratic_form_for_any_number_of_channels() {
    for channels in 0..=5 {
        let triangle: Vec<f32> = (0..triangle(channels)).map(|k| 0.3 * (k as f32 + 1.0).sin()).collect();
        let element = |i: usize, j: usize| {
            let own = if i == j { 3.0 } else { 0.0 };
            own + f64::from(triangle[packed(i, j)])
        };
        let precision: Vec<f32> = (0..channels)
            .flat_map(|i| (0..=i).map(move |j| (i, j)))
            .map(|(i, j)| element(i, j) as f32)
            .collect();
        let row: Vec<f32> = (0..channels).map(|i| 1.5 - i as f32).collect();
        let pairs = (0..channels).flat_map(|i| (0..channels).map(move |j| (i, j)));
        let expected: f64 = pairs.map(|(i, j)| f64::from(row[i]) * element(i, j) * f64::from(row[j])).sum();
        let found = f64::from(distance(&precision, |element| element, &row));
        assert!((found - expected).abs() <= 1e-5 * (1.0 + expected), "{channels}: {found} {expected}");
    }
}

/// x_t = a x_{t−1} + √(1 − a²) w is stationary with variance 1, and another channel reads y_t = x_t + e with
/// variance r. Past and present are independent given x_t, so the Kalman filter's update is exact: precision
/// 1/(1 − a²) + 1/r. The conditional alone is N(y/(1 + r), r/(1 + r)).
#[test]
fn combining_prediction_and_conditional_is_the_kalman_update() {
    for (a, r, last, y) in
        [(0.9_f64, 0.3_f64, 1.0_f64, 0.2_f64), (0.8, 0.05, -2.0, -1.0), (0.99, 1.0, 0.5, 2.0)]
    {
        let prediction = Moments { mean: (a * last) as f32, var: (1.0 - a * a) as f32 };
        let conditional = Moments { mean: (y / (1.0 + r)) as f32, var: (r / (1.0 + r)) as f32 };
        let precision = 1.0 / (1.0 - a * a) + 1.0 / r;
        let mean = (a * last / (1.0 - a * a) + y / r) / precision;
        for found in [combine(prediction, conditional), combine(conditional, prediction)] {
            assert!((f64::from(found.mean) - mean).abs() < 1e-5, "{found:?} {mean}");
            assert!((f64::from(found.var) - 1.0 / precision).abs() < 1e-6, "{found:?} {precision}");
        }
    }
}

#[test]
fn an_estimate_wider_than_the_marginal_adds_nothing() {
    let conditional = Moments { mean: 0.4, var: 0.5 };
    for var in [1.0, 7.0, f32::INFINITY, f32::NAN] {
        assert_eq!(combine(Moments { mean: 900.0, var }, conditional), conditional);
    }
    let near = combine(Moments { mean: 900.0, var: 0.999_99 }, conditional);
    assert!((near.mean - 0.4).abs() < 0.01, "continuous where it begins to count: {near:?}");
}

#[test]
fn hostile_numbers_stay_within_the_limits() {
    let hostile = [f32::NAN, f32::INFINITY, -1e38, 1e38, 1e-45, 0.0, -1.0, 1e6];
    for shift in 0..64 {
        let number = |k: usize| hostile[(k * 5 + shift) % 8];
        let mut mean: Vec<f32> = (0..4).map(|i| number(i * 3)).collect();
        let mut var: Vec<f32> =
            (0..4).map(|i| if (shift >> i) & 1 == 0 { MISSING } else { number(i + 7).abs() }).collect();
        let missing: Vec<bool> = var.iter().map(|var| *var == MISSING).collect();
        impute(number, &mut mean, &mut var, &mut [0.0; scratch_words(4)]);
        for i in (0..4).filter(|i| missing[*i]) {
            assert!(mean[i].abs() <= UNIT_LIMIT && (0.0..=1.0).contains(&var[i]), "{mean:?} {var:?}");
        }
        let distance = distance(&std::array::from_fn::<_, 10, _>(|k| k), number, &mean);
        assert!(distance >= 0.0 && distance.is_finite(), "{distance}");
        // A conditional is within its limits; a prediction may be anything.
        let prediction = Moments { mean: number(shift), var: number(shift + 1).abs() };
        let found = combine(forget(prediction, 0.1, 2.0), Moments { mean: 0.5, var: 0.25 });
        assert!((0.0..=0.25).contains(&found.var), "{prediction:?} {found:?}");
        assert!(found.mean.abs() <= UNIT_LIMIT, "{prediction:?} {found:?}");
    }
}

#[test]
fn without_scratch_a_channel_is_imputed_by_the_marginal() {
    let (mut mean, mut var) = ([1.5, 9.0], [0.0, MISSING]);
    impute(|_| 1.0, &mut mean, &mut var, &mut []);
    assert_eq!((mean, var), ([1.5, 0.0], [0.0, 1.0]));
}

/// Against the conditional that imputation computes by another route: a Cholesky factorisation of the missing
/// block. Both are f32 with condition numbers of about 20: 10⁻⁵.
#[test]
fn a_residual_given_the_others_is_that_of_the_conditional() {
    let (precision, row) = (precision(), [0.7, -1.2, 0.4, 1.5_f32]);
    for channel in 0..4 {
        let (mut mean, mut var) = (row, [0.0; 4]);
        var[channel] = MISSING;
        impute(|k| precision[k], &mut mean, &mut var, &mut [0.0; scratch_words(4)]);
        let expected = (row[channel] - mean[channel]) / var[channel].sqrt();
        let found = neighbour_residual(|k| precision[k], &row, channel);
        assert!((found - expected).abs() < 1e-5, "{channel}: {found} {expected}");
    }
    assert_eq!(neighbour_residual(|_| 0.0, &row, 1), 0.0, "no precision matrix");
}
