//! Hudgins' time-domain features of surface EMG.

use super::prepared::Preparation;
use crate::data::Rows;

/// Features of a window, four per channel (Hudgins, Parker and Scott 1993, section II.C): mean absolute
/// value, waveform length, zero crossings and changes of slope sign, the last three per row, so that windows
/// of different lengths are comparable.
pub(super) struct TimeDomain<'a> {
    preparation: &'a Preparation,
    threshold: f32,
}

impl<'a> TimeDomain<'a> {
    /// Differences of neighbouring values below `threshold` are noise: they make neither zero crossings nor
    /// changes of slope sign.
    pub(super) fn new(preparation: &'a Preparation, threshold: f32) -> Self {
        Self { preparation, threshold }
    }

    pub(super) fn all(&self, sequences: &[&Rows]) -> Vec<Vec<f64>> {
        let of = |rows: &&Rows| features(&self.preparation.complete(rows), self.threshold);
        sequences.iter().map(of).collect()
    }

    pub(super) fn detail(&self) -> String {
        format!(
            "mean absolute value, waveform length, zero crossings and slope-sign changes of every channel over the whole \
             sequence (changes below {} ignored), and linear discriminant analysis",
            self.threshold
        )
    }
}

fn features(rows: &Rows, threshold: f32) -> Vec<f64> {
    let of_channel = |channel: usize| {
        let column: Vec<f32> = rows.iter().map(|row| row[channel]).collect();
        of_column(&column, threshold)
    };
    (0..rows.channels).flat_map(of_channel).collect()
}

fn of_column(column: &[f32], threshold: f32) -> [f64; 4] {
    let changes: Vec<f32> = column.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let n = column.len().max(1) as f64;
    let is_large = |change: f32| change.abs() >= threshold;
    let crossings = column
        .windows(2)
        .zip(&changes)
        .filter(|(pair, change)| pair[0] * pair[1] < 0.0 && is_large(**change));
    let turns =
        changes.windows(2).filter(|pair| pair[0] * pair[1] < 0.0 && (is_large(pair[0]) || is_large(pair[1])));
    [
        column.iter().map(|value| f64::from(value.abs())).sum::<f64>() / n,
        changes.iter().map(|change| f64::from(change.abs())).sum::<f64>() / n,
        crossings.count() as f64 / n,
        turns.count() as f64 / n,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_of_a_column_worked_out_by_hand() {
        // Changes −3, 1, 3, −2; crossings 1 → −2 and −1 → 2; turns at −2 and at 2.
        let column = [1.0, -2.0, -1.0, 2.0, 0.0];
        assert_eq!(of_column(&column, 0.0), [6.0 / 5.0, 9.0 / 5.0, 2.0 / 5.0, 2.0 / 5.0]);
        // With a threshold of 3, both crossings are large enough, and so is one change at each turn.
        assert_eq!(of_column(&column, 3.0), [6.0 / 5.0, 9.0 / 5.0, 2.0 / 5.0, 2.0 / 5.0]);
        assert_eq!(of_column(&column, 3.5), [6.0 / 5.0, 9.0 / 5.0, 0.0, 0.0]);
        assert_eq!(of_column(&[5.0], 0.0), [5.0, 0.0, 0.0, 0.0]);
    }
}
