//! Length of the blocks of a bootstrap, from the autocorrelation of the data.
//!
//! The rule of Politis and White (2004), *Automatic block-length selection for the dependent bootstrap*, with
//! the correction of Patton, Politis and White (2009), for the circular block bootstrap: the length
//! (2 G² / D)^(1/3) n^(1/3) minimises the mean squared error of the bootstrap's variance, with
//! G = Σ λ(k/M) |k| R(k), D = 4/3 g², g = Σ λ(k/M) R(k) over lags −M ≤ k ≤ M, autocovariances R and the
//! flat-top window λ.

/// Consecutive insignificant autocorrelations after which the others count as zero (K_N of the paper).
const QUIET_LAGS: usize = 5;

/// Bound of an insignificant autocorrelation in units of √(log₁₀ n / n) (c of the paper).
const SIGNIFICANCE: f64 = 2.0;

/// Length of blocks, at least 1 and at most min(3 √n, n/3) with n steps in all sequences together. The values
/// have mean 0 over all sequences; lags do not reach from one sequence to another.
pub(super) fn block_length(sequences: &[Vec<f64>]) -> usize {
    let n: usize = sequences.iter().map(Vec::len).sum();
    let covariance = |lag: usize| -> f64 {
        let of = |values: &Vec<f64>| -> f64 {
            values.iter().zip(values.iter().skip(lag)).map(|(value, later)| value * later).sum()
        };
        sequences.iter().map(of).sum::<f64>() / n as f64
    };
    let variance = covariance(0);
    if n < 3 || variance <= 0.0 {
        return 1;
    }
    let size = n as f64;
    let most_lags = (size.sqrt().ceil() as usize + QUIET_LAGS).min(n - 1);
    let bound = SIGNIFICANCE * (size.log10() / size).sqrt() * variance;
    let covariances = significant(covariance, bound, most_lags);
    // The window reaches twice as far as the last significant lag.
    let last = covariances.len();
    let reach = (2 * last.max(1)).min(most_lags);
    let (mut weighted, mut density) = (0.0, variance);
    for lag in 1..=reach {
        let window = (2.0 * (1.0 - lag as f64 / reach as f64)).min(1.0);
        let value = covariances.get(lag - 1).copied().unwrap_or_else(|| covariance(lag));
        weighted += 2.0 * window * lag as f64 * value;
        density += 2.0 * window * value;
    }
    let optimum = (1.5 * (weighted / density).powi(2) * size).cbrt();
    let most = (3.0 * size.sqrt()).min(size / 3.0).ceil();
    // A density of 0 has no optimum.
    if optimum.is_finite() { optimum.ceil().clamp(1.0, most) as usize } else { 1 }
}

/// Autocovariances of lags 1, 2, … up to the last before [`QUIET_LAGS`] insignificant ones.
fn significant(covariance: impl Fn(usize) -> f64, bound: f64, most: usize) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::new();
    let mut last = 0;
    for lag in 1..=most {
        found.push(covariance(lag));
        if found[lag - 1].abs() >= bound {
            last = lag;
        }
        if lag - last >= QUIET_LAGS {
            break;
        }
    }
    found.truncate(last);
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream};

    /// The optimum of an AR(1) process in closed form: R(k) = φ^|k| gives G = 2 φ / (1 − φ)² and
    /// g = (1 + φ) / (1 − φ), so that the length is (6 φ² n / (1 − φ²)²)^(1/3).
    #[test]
    fn an_autoregression_has_the_length_of_its_closed_form() {
        let n = 20_000;
        for phi in [0.3, 0.7, 0.9] {
            let mut rng = stream(7, Purpose::Initialisation);
            let mut value = 0.0;
            let values: Vec<f64> = (0..n)
                .map(|_| {
                    value = phi * value + normal(&mut rng);
                    value
                })
                .collect();
            let mean = values.iter().sum::<f64>() / f64::from(n);
            let centred = vec![values.iter().map(|value| value - mean).collect()];
            let expected = (6.0 * phi * phi * f64::from(n) / (1.0 - phi * phi).powi(2)).cbrt();
            let found = block_length(&centred) as f64;
            // G is a weighted sum of estimated covariances; in 20,000 steps it is good to about a fifth.
            assert!((found / expected - 1.0).abs() < 0.25, "{phi}: {found} against {expected}");
        }
    }

    #[test]
    fn lengths_stay_in_range_whatever_the_data() {
        assert_eq!(block_length(&[]), 1);
        assert_eq!(block_length(&[vec![0.0; 50]]), 1, "nothing varies");
        assert_eq!(block_length(&[vec![1.0], vec![-1.0]]), 1);
        let ramp =
            |steps: i32| -> Vec<f64> { (0..steps).map(|step| f64::from(2 * step - steps + 1)).collect() };
        assert!((5..=30).contains(&block_length(&[ramp(100)])), "at most 3 √n");
        assert!((2..=3).contains(&block_length(&[ramp(9)])), "at most a third");
    }
}
