//! Sequences as baselines compare them: without gaps, standardised, and of one length.

use crate::data::{Rows, interpolated};

/// Scales and the common length, from training data.
pub(super) struct Preparation {
    mean: Vec<f32>,
    std_dev: Vec<f32>,
    /// Rows of every prepared sequence: the median length.
    pub(super) length: usize,
    /// Whether training sequences differ in length.
    pub(super) resampled: bool,
}

impl Preparation {
    pub(super) fn fit(sequences: &[&Rows]) -> Self {
        let channels = sequences.first().map_or(0, |rows| rows.channels);
        let (mean, std_dev) = (0..channels).map(|channel| moments(sequences, channel)).unzip();
        let mut lengths: Vec<usize> = sequences.iter().map(|rows| rows.len()).collect();
        lengths.sort_unstable();
        let length = lengths.get(lengths.len() / 2).copied().unwrap_or(1).max(1);
        Self { mean, std_dev, length, resampled: lengths.first() != lengths.last() }
    }

    /// Rows without gaps: lines between observed values, the training mean where there are none.
    pub(super) fn complete(&self, rows: &Rows) -> Rows {
        interpolated(rows, &self.mean)
    }

    /// The sequences in units of the training standard deviation, resampled to the common length.
    ///
    /// Resampling by lines does not make nearest neighbours under time warping worse (Ratanamahatana and
    /// Keogh 2005), and allows lower bounds.
    pub(super) fn all(&self, sequences: &[&Rows]) -> Vec<Rows> {
        sequences.iter().map(|rows| self.one(rows)).collect()
    }

    fn one(&self, rows: &Rows) -> Rows {
        let mut rows = resample(&self.complete(rows), self.length);
        for row in rows.values.chunks_exact_mut(rows.channels.max(1)) {
            for ((value, mean), std_dev) in row.iter_mut().zip(&self.mean).zip(&self.std_dev) {
                *value = (*value - mean) / std_dev;
            }
        }
        rows
    }
}

/// Mean and standard deviation of the observed values of a channel; a constant channel has 1.
fn moments(sequences: &[&Rows], channel: usize) -> (f32, f32) {
    let values = || {
        let column = sequences.iter().flat_map(|rows| rows.iter().map(move |row| f64::from(row[channel])));
        column.filter(|value| !value.is_nan())
    };
    let n = (values().count() as f64).max(1.0);
    let mean = values().sum::<f64>() / n;
    let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    (mean as f32, if variance > 0.0 { variance.sqrt() as f32 } else { 1.0 })
}

/// The rows on `length` equidistant times from the first to the last, by linear interpolation.
fn resample(rows: &Rows, length: usize) -> Rows {
    if rows.len() == length {
        return rows.clone();
    }
    let mut resampled = Rows::new(rows.channels);
    let last = rows.len().saturating_sub(1);
    for step in 0..length {
        let place = step as f64 * last as f64 / (length - 1).max(1) as f64;
        let (before, share) = (place as usize, place.fract() as f32);
        let after = (before + 1).min(last);
        let line = |(a, b): (&f32, &f32)| a + share * (b - a);
        resampled.values.extend(rows.row(before).iter().zip(rows.row(after)).map(line));
    }
    resampled
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(values: &[f32]) -> Rows {
        Rows { channels: 1, values: values.to_vec() }
    }

    #[test]
    fn resampling_keeps_the_ends_and_lines() {
        assert_eq!(resample(&column(&[0.0, 1.0, 2.0]), 5).values, [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(resample(&column(&[0.0, 1.0, 2.0, 3.0, 4.0]), 3).values, [0.0, 2.0, 4.0]);
        assert_eq!(resample(&column(&[7.0]), 3).values, [7.0, 7.0, 7.0]);
        assert_eq!(resample(&column(&[7.0, 8.0]), 1).values, [7.0]);
    }

    #[test]
    fn gaps_are_lines_and_scales_are_those_of_the_observed_values() {
        let (a, b) = (column(&[0.0, f32::NAN, 2.0]), column(&[0.0, 2.0, 1.0]));
        let preparation = Preparation::fit(&[&a, &b]);
        let prepared = preparation.all(&[&a]);
        let scale = preparation.std_dev[0];
        assert!((scale - 0.8f32.sqrt()).abs() < 1e-6);
        assert!((prepared[0].values[1] - 0.0).abs() < 1e-6, "the mean lies on the line");
        assert!((prepared[0].values[2] * scale - 1.0).abs() < 1e-6);
    }
}
