//! How far the covariance of training rows is shrunk, chosen on validation rows.
//!
//! Covariances may be those of a recording rather than of the sensors: another mounting or person changes
//! them, and a conditional distribution that relies on them is then wrong and sure of it. Validation rows
//! show how much of them carries over.

use nalgebra::DMatrix;

use super::rows::Sequence;
use super::scaler::Scaler;

/// Weights of the identity that are tried.
const WEIGHTS: [f64; 8] = [0.0, 0.01, 0.03, 0.1, 0.2, 0.4, 0.7, 1.0];

/// Validation rows that are looked at; more of them are skipped evenly.
const MOST_ROWS: usize = 4000;

/// (1 − λ) Σ + λ I with the weight λ under which complete validation rows are most likely, each channel given
/// all others. Σ itself if there are no such rows.
pub(super) fn shrunk_for(covariance: DMatrix<f64>, valid: &[Sequence], scaler: &Scaler) -> DMatrix<f64> {
    let rows = standardised_rows(valid, scaler);
    let shrunk = |weight: f64| {
        let identity = DMatrix::identity(covariance.nrows(), covariance.ncols());
        &covariance * (1.0 - weight) + identity * weight
    };
    let loss = |weight: f64| shrunk(weight).cholesky().map_or(f64::INFINITY, |l| nll(&l.inverse(), &rows));
    let losses = WEIGHTS.map(|weight| (weight, loss(weight)));
    let best = losses.into_iter().min_by(|a, b| a.1.total_cmp(&b.1)).filter(|_| !rows.is_empty());
    shrunk(best.map_or(0.0, |(weight, _)| weight))
}

/// Complete rows in standardised units.
fn standardised_rows(valid: &[Sequence], scaler: &Scaler) -> Vec<Vec<f64>> {
    let rows = || valid.iter().flat_map(|sequence| sequence.inputs.iter());
    let stride = rows().count().div_ceil(MOST_ROWS).max(1);
    let complete = rows().step_by(stride).filter(|row| row.iter().all(|value| value.is_finite()));
    let standardise = |(channel, value): (usize, &f32)| f64::from(scaler.standardise(channel, *value));
    complete.map(|row| row.iter().enumerate().map(standardise).collect()).collect()
}

/// Sum of −ln p(x_c | all other channels) over rows and channels, without a constant. In terms of the
/// precision Λ the residual is (Λx)_c/Λ_cc and its variance 1/Λ_cc (Bishop 2006, *Pattern Recognition and
/// Machine Learning*, eqs. 2.96 and 2.97).
fn nll(precision: &DMatrix<f64>, rows: &[Vec<f64>]) -> f64 {
    let of_row = |row: &Vec<f64>| -> f64 {
        let product =
            |channel: usize| precision.row(channel).iter().zip(row).map(|(p, x)| p * x).sum::<f64>();
        let term = |channel: usize| {
            let own = precision[(channel, channel)];
            0.5 * (product(channel).powi(2) / own - own.ln())
        };
        (0..row.len()).map(term).sum()
    };
    rows.iter().map(of_row).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Rows;
    use crate::random::{Purpose, normal, stream};

    /// Two channels with this correlation.
    fn recording(correlation: f64, seed: u64) -> Vec<Sequence> {
        let mut rng = stream(seed, Purpose::Initialisation);
        let pair = |_| {
            let x = normal(&mut rng);
            let y = correlation * x + (1.0 - correlation * correlation).sqrt() * normal(&mut rng);
            [x as f32, y as f32]
        };
        vec![Sequence::next(Rows { channels: 2, values: (0..2000).flat_map(pair).collect() })]
    }

    fn correlation(valid: &[Sequence]) -> f64 {
        let covariance = DMatrix::from_row_slice(2, 2, &[1.0, 0.9, 0.9, 1.0]);
        shrunk_for(covariance, valid, &Scaler::identity(2))[(0, 1)]
    }

    #[test]
    fn covariances_that_carry_over_are_kept_and_others_shrunk() {
        assert!(correlation(&recording(0.9, 1)) > 0.87, "the same in validation rows");
        let half = correlation(&recording(0.5, 2));
        assert!((0.3..0.7).contains(&half), "half of it carries over: {half}");
        assert_eq!(correlation(&recording(0.0, 3)), 0.0, "nothing carries over");
        assert_eq!(correlation(&[]), 0.9, "nothing is known");
    }

    /// −ln p(x₀ | x₁) − ln p(x₁ | x₀) from the joint and the marginal densities, without their constants.
    #[test]
    fn the_loss_is_that_of_each_channel_given_the_other() {
        let (correlation, row) = (0.6_f64, [0.5, -1.5]);
        let determinant = 1.0 - correlation * correlation;
        let joint = |[x, y]: [f64; 2]| {
            0.5 * ((x * x + y * y - 2.0 * correlation * x * y) / determinant + determinant.ln())
        };
        let expected = 2.0 * joint(row) - 0.5 * row[0] * row[0] - 0.5 * row[1] * row[1];
        let covariance = DMatrix::from_row_slice(2, 2, &[1.0, correlation, correlation, 1.0]);
        let found = nll(&covariance.try_inverse().unwrap(), &[row.to_vec()]);
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
}
