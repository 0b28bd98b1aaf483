//! Area under the receiver operating characteristic.

/// Probability that an anomalous sample has a larger score than a regular one, ties counting half (Mann and
/// Whitney 1947): 1 for a perfect score, ½ for one without information. `regular` is ascending; NaN counts
/// nowhere. `None` if there is no sample of either kind.
pub(super) fn auroc(regular: &[f32], anomalous: &[f32]) -> Option<f64> {
    let (mut won, mut n) = (0.0, 0.0);
    for score in anomalous.iter().filter(|score| !score.is_nan()) {
        let below = regular.partition_point(|other| other < score);
        let ties = regular[below..].partition_point(|other| other <= score);
        won += below as f64 + 0.5 * ties as f64;
        n += 1.0;
    }
    (n > 0.0 && !regular.is_empty()).then(|| won / (n * regular.len() as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream};

    #[test]
    fn every_pair_counts_once() {
        assert_eq!(auroc(&[1.0, 2.0, 3.0], &[4.0, f32::NAN]), Some(1.0));
        assert_eq!(auroc(&[1.0, 2.0], &[0.0]), Some(0.0));
        assert_eq!(auroc(&[1.0, 2.0, 2.0, 3.0], &[2.0]), Some(0.5), "one below, two ties, one above");
        assert_eq!((auroc(&[], &[1.0]), auroc(&[1.0], &[f32::NAN])), (None, None));
    }

    #[test]
    fn shifted_normals_have_the_area_of_the_closed_form() {
        // P(N(1, 1) > N(0, 1)) = Φ(1/√2).
        let mut rng = stream(1, Purpose::Initialisation);
        let mut regular: Vec<f32> = (0..20_000).map(|_| normal(&mut rng) as f32).collect();
        let anomalous: Vec<f32> = (0..20_000).map(|_| 1.0 + normal(&mut rng) as f32).collect();
        regular.sort_unstable_by(f32::total_cmp);
        let expected = 0.5 * libm::erfc(-0.5);
        // The standard error with 20,000 of each is below 0.0025.
        assert!((auroc(&regular, &anomalous).unwrap() - expected).abs() < 0.01);
    }
}
