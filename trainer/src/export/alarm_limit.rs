//! The limit of a statistic for a rate of false alarms, from recordings that may be shorter than the time
//! between two of them.
//!
//! Peaks over a high threshold u, one of each cluster of rows, have exponential excesses if the tail is light
//! (Coles 2001, *An Introduction to Statistical Modeling of Extreme Values*, sec. 4.3, with shape 0). With
//! peaks at the rate r per row and the mean excess m, the limit that is exceeded once in T rows is
//! u + m ln(r T). Unlike the shape of a generalised Pareto distribution, m is known to 20 % from 25 peaks;
//! one standard error, m/√n for n peaks, is added to it.

/// Quantiles of the scores to start from; the highest with enough peaks above it is taken.
const THRESHOLD_QUANTILES: [f64; 6] = [0.998, 0.995, 0.99, 0.98, 0.95, 0.9];
/// Enough peaks for a mean excess.
const PEAKS: usize = 20;

/// The limit that the scores of sound recordings exceed once in `rows_per_alarm` rows. Rows above the
/// threshold that are at most `apart` rows from each other are one alarm. NaN is no score; `None` if there is
/// none else.
pub(super) fn alarm_limit(sound: &[Vec<f32>], rows_per_alarm: f64, apart: usize) -> Option<f32> {
    let mut ascending: Vec<f32> = sound.iter().flatten().copied().filter(|score| !score.is_nan()).collect();
    ascending.sort_unstable_by(f32::total_cmp);
    let last = ascending.len().checked_sub(1)?;
    let at = |quantile: f64| ascending[((quantile * ascending.len() as f64) as usize).min(last)];
    let found = THRESHOLD_QUANTILES.map(at).map(|threshold| (threshold, peaks(sound, threshold, apart)));
    let (threshold, peaks) = found.iter().find(|(_, peaks)| peaks.len() >= PEAKS).or(found.last())?;
    let excesses: f64 = peaks.iter().map(|peak| f64::from(peak - threshold)).sum();
    let count = peaks.len().max(1) as f64;
    let mean = excesses / count * (1.0 + 1.0 / count.sqrt());
    let expected = peaks.len() as f64 * rows_per_alarm / ascending.len() as f64;
    Some((f64::from(*threshold) + mean * expected.max(1.0).ln()) as f32)
}

/// The largest score of every cluster of rows above a threshold.
fn peaks(sound: &[Vec<f32>], threshold: f32, apart: usize) -> Vec<f32> {
    let mut found = Vec::new();
    for scores in sound {
        let mut last = None;
        for (row, score) in scores.iter().enumerate().filter(|(_, score)| **score > threshold) {
            match (last, found.last_mut()) {
                (Some(before), Some(peak)) if row - before <= apart => *peak = score.max(*peak),
                _ => found.push(*score),
            }
            last = Some(row);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream, uniform};

    fn exponential(rows: usize, seed: u64) -> Vec<f32> {
        let mut rng = stream(seed, Purpose::Initialisation);
        (0..rows).map(|_| -(1.0 - uniform(&mut rng)).ln() as f32).collect()
    }

    #[test]
    fn exponential_scores_have_the_limit_of_the_closed_form() {
        // One in 180,000 independent rows: ln 180,000 = 12.1. 6,000 rows have 30 peaks above their 99.5 %
        // quantile, whose mean excess is 1 ± 0.18. Times ln 900 that is 1.24: so much is added, and so
        // much the limits of single recordings vary, 0.2 in the mean of forty.
        let limits = (0..40).map(|seed| alarm_limit(&[exponential(6000, seed)], 180_000.0, 0).unwrap());
        let mean = limits.sum::<f32>() / 40.0;
        assert!((f64::from(mean) - 180_000.0_f64.ln() - 1.24).abs() < 0.6, "{mean}");
    }

    #[test]
    fn rows_of_one_cluster_are_one_peak() {
        let nan = f32::NAN;
        let sound = [vec![0.0, 3.0, 4.0, 0.0, 5.0, nan, 0.0, 0.0, 2.0], vec![6.0, nan]];
        assert_eq!(peaks(&sound, 1.0, 2), [5.0, 2.0, 6.0]);
        assert_eq!(peaks(&sound, 1.0, 1), [4.0, 5.0, 2.0, 6.0]);
        assert_eq!(alarm_limit(&[vec![nan]], 10.0, 1), None);
        assert_eq!(alarm_limit(&[vec![0.5; 100]], 1000.0, 1), Some(0.5), "no peak: the value itself");
    }
}
