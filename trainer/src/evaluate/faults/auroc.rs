//! Area under the receiver operating characteristic.

/// Probability that a faulty row has a larger score than a sound one, ties counting half (Mann and Whitney
/// 1947): 1 for a perfect score, ½ for one that knows nothing. `sound` is ascending; NaN counts nowhere.
/// `None` if there is no row of either kind.
pub(super) fn auroc(sound: &[f32], faulty: &[f32]) -> Option<f64> {
    let (mut won, mut n) = (0.0, 0.0);
    for score in faulty.iter().filter(|score| !score.is_nan()) {
        let below = sound.partition_point(|other| other < score);
        let ties = sound[below..].partition_point(|other| other <= score);
        won += below as f64 + 0.5 * ties as f64;
        n += 1.0;
    }
    (n > 0.0 && !sound.is_empty()).then(|| won / (n * sound.len() as f64))
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
        let mut sound: Vec<f32> = (0..20_000).map(|_| normal(&mut rng) as f32).collect();
        let faulty: Vec<f32> = (0..20_000).map(|_| 1.0 + normal(&mut rng) as f32).collect();
        sound.sort_unstable_by(f32::total_cmp);
        let expected = 0.5 * libm::erfc(-0.5);
        // The standard error with 20,000 of each is below 0.0025.
        assert!((auroc(&sound, &faulty).unwrap() - expected).abs() < 0.01);
    }
}
