//! Scores of imputed gaps.

use serde::Serialize;

use crate::data::Rows;

/// Root mean squared errors inside gaps, in raw units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapScores {
    /// Over all channels.
    pub rmse: f64,
    /// For every channel with gaps: name, error, number of values.
    pub per_channel: Vec<(String, f64, usize)>,
}

/// Scores sequences whose gaps were filled, on values that are missing in `gappy` and known in `truth`.
/// Nothing if there are none.
pub fn gap_scores(names: &[String], gappy: &[Rows], filled: &[Rows], truth: &[Rows]) -> Option<GapScores> {
    let mut sums = vec![(0.0, 0_usize); names.len()];
    for ((gappy, filled), truth) in gappy.iter().zip(filled).zip(truth) {
        for (place, (filled, truth)) in filled.values.iter().zip(&truth.values).enumerate() {
            if gappy.values[place].is_nan() && !truth.is_nan() {
                let (squares, n) = &mut sums[place % names.len()];
                *squares += (f64::from(*filled) - f64::from(*truth)).powi(2);
                *n += 1;
            }
        }
    }
    let (squares, n) = sums.iter().fold((0.0, 0), |(s, n), (squares, count)| (s + squares, n + count));
    let scored = names.iter().zip(&sums).filter(|(_, (_, n))| *n > 0);
    let per_channel = scored.map(|(name, (s, n))| (name.clone(), (s / *n as f64).sqrt(), *n)).collect();
    (n > 0).then(|| GapScores { rmse: (squares / n as f64).sqrt(), per_channel })
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f32 = f32::NAN;

    #[test]
    fn only_gaps_count() {
        let rows = |values: &[f32]| [Rows { channels: 2, values: values.to_vec() }];
        let names = ["a".to_string(), "b".to_string()];
        let gappy = rows(&[GAP, 1.0, GAP, 1.0, GAP, 1.0]);
        let truth = rows(&[0.0, 9.0, 0.0, 9.0, GAP, 9.0]);
        let found = gap_scores(&names, &gappy, &rows(&[3.0, 1.0, 4.0, 1.0, 5.0, 1.0]), &truth).unwrap();
        assert_eq!(found.per_channel, [("a".to_string(), 12.5_f64.sqrt(), 2)]);
        assert_eq!(found.rmse, 12.5_f64.sqrt());
        assert_eq!(gap_scores(&names, &truth[..0], &truth, &truth), None);
    }
}
