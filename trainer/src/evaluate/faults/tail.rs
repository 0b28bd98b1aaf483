//! The tail of a distribution beyond the data: generalised Pareto distribution of excesses over a threshold
//! (Pickands 1975), fitted by probability-weighted moments (Hosking and Wallis 1987).

/// The excess that is exceeded by one in `rarity` excesses; `None` if there are fewer than two or all are the
/// same.
///
/// With a₀ the mean of the excesses and a₁ the mean of (1 − F) times them, F by plotting positions
/// (i − 0.35)/n, shape ξ = 2 − a₀/(a₀ − 2 a₁) and scale σ = 2 a₀ a₁/(a₀ − 2 a₁); the quantile is
/// σ (rarity^ξ − 1)/ξ.
pub(super) fn tail_quantile(excesses: &[f64], rarity: f64) -> Option<f64> {
    let mut ascending = excesses.to_vec();
    ascending.sort_unstable_by(f64::total_cmp);
    let n = ascending.len() as f64;
    let mean = ascending.iter().sum::<f64>() / n;
    let above = |(index, excess): (usize, &f64)| (1.0 - (index as f64 + 0.65) / n) * excess;
    let weighted = ascending.iter().enumerate().map(above).sum::<f64>() / n;
    let spread = mean - 2.0 * weighted;
    if ascending.len() < 2 || spread.is_nan() || spread <= 0.0 {
        return None;
    }
    let (shape, scale) = (2.0 - mean / spread, 2.0 * mean * weighted / spread);
    let logarithm = rarity.ln();
    // (e^{ξ ln r} − 1)/ξ is ln r where ξ is 0.
    let growth = if shape.abs() < 1e-9 { logarithm } else { (shape * logarithm).exp_m1() / shape };
    Some(scale * growth)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream, uniform};

    #[test]
    fn quantiles_of_known_tails_are_found() {
        for shape in [-0.2, 0.0, 0.2] {
            let quantile = |rarity: f64| match shape {
                0.0 => 3.0 * rarity.ln(),
                shape => 3.0 * (rarity.powf(shape) - 1.0) / shape,
            };
            let mut rng = stream(3, Purpose::Initialisation);
            let excesses: Vec<f64> = (0..20_000).map(|_| quantile(1.0 / (1.0 - uniform(&mut rng)))).collect();
            for rarity in [10.0, 1000.0] {
                let (found, expected) = (tail_quantile(&excesses, rarity).unwrap(), quantile(rarity));
                // ξ is good to 0.01 with 20,000 excesses, which is 7 % of a thousandfold quantile.
                assert!(
                    (found / expected - 1.0).abs() < 0.1,
                    "{shape}, {rarity}: {found} against {expected}"
                );
            }
        }
    }

    #[test]
    fn what_has_no_spread_has_no_tail() {
        assert_eq!(tail_quantile(&[], 2.0), None);
        assert_eq!(tail_quantile(&[1.0], 2.0), None);
        assert_eq!(tail_quantile(&[0.0, 0.0, 0.0], 2.0), None);
    }
}
