//! How well gaps are filled, beside straight lines across them.

use serde::Serialize;

use crate::data::Rows;

/// Root mean squared errors inside gaps, in raw units.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GapScores {
    /// Over all channels.
    pub rmse: f64,
    /// Of every channel that has gaps: name, error, number of values.
    pub per_channel: Vec<(String, f64, usize)>,
}

/// Judges sequences whose gaps were filled: values that are missing in `gappy` and known in `truth` count. Nothing if there
/// are none.
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
    let judged = names.iter().zip(&sums).filter(|(_, (_, n))| *n > 0);
    let per_channel = judged.map(|(name, (s, n))| (name.clone(), (s / *n as f64).sqrt(), *n)).collect();
    (n > 0).then(|| GapScores { rmse: (squares / n as f64).sqrt(), per_channel })
}

/// Gaps filled by straight lines between the values around them, and by the nearest value at the ends. A channel of which
/// nothing was observed gets its place in `otherwise`.
pub fn interpolated(rows: &Rows, otherwise: &[f32]) -> Rows {
    let mut filled = rows.clone();
    for (channel, otherwise) in otherwise.iter().enumerate() {
        let place = |row: usize| row * rows.channels + channel;
        let known: Vec<usize> = (0..rows.len()).filter(|row| !rows.values[place(*row)].is_nan()).collect();
        let value = |row: usize| rows.values[place(row)];
        for row in (0..rows.len()).filter(|row| value(*row).is_nan()) {
            let next = known.partition_point(|known| *known < row);
            let around = (next.checked_sub(1).map(|before| known[before]), known.get(next));
            filled.values[place(row)] = match around {
                (Some(before), Some(&after)) => {
                    let share = (row - before) as f32 / (after - before) as f32;
                    value(before) + share * (value(after) - value(before))
                }
                (Some(one), None) | (None, Some(&one)) => value(one),
                (None, None) => *otherwise,
            };
        }
    }
    filled
}

#[cfg(test)]
mod tests {
    use super::*;

    const GAP: f32 = f32::NAN;

    #[test]
    fn lines_run_between_what_is_known() {
        let rows =
            Rows { channels: 2, values: vec![GAP, GAP, 1.0, GAP, GAP, GAP, GAP, GAP, 4.0, GAP, GAP, GAP] };
        let filled = interpolated(&rows, &[0.0, 7.0]);
        let column =
            |channel: usize| filled.values.iter().skip(channel).step_by(2).copied().collect::<Vec<f32>>();
        assert_eq!(column(0), [1.0, 1.0, 2.0, 3.0, 4.0, 4.0]);
        assert_eq!(column(1), [7.0; 6]);
    }

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
