//! The envelope of a rectified signal such as EMG: a moving average that removes the firing of single motor
//! units.

use std::f64::consts::PI;

use super::rows::{Rows, Sequence};
use crate::config::Targets;

/// A sequence whose inputs are rectified rows, |x_t|, and whose clean signal is their envelope over `window`
/// rows. The envelope looks ahead by half a window; a causal network cannot.
pub(super) fn sequence(rows: &Rows, window: usize, targets: &Targets) -> Sequence {
    let rectified = rectified(rows);
    clean(envelope(&rectified, window), targets).with_noisy_inputs(rectified)
}

/// A sequence of envelopes over `window` rows, to which noise will be added: the signal of a sensor that
/// computes envelopes itself.
pub(super) fn sensed(rows: &Rows, window: usize, targets: &Targets) -> Sequence {
    clean(envelope(&rectified(rows), window), targets)
}

fn clean(rows: Rows, targets: &Targets) -> Sequence {
    match targets {
        Targets::Next => Sequence::next(rows),
        _ => Sequence::columns(rows.clone(), rows),
    }
}

fn rectified(rows: &Rows) -> Rows {
    Rows { channels: rows.channels, values: rows.values.iter().map(|value| value.abs()).collect() }
}

/// Weighted mean around every row, with Hann weights ½ (1 + cos(2πk/(n + 1))) for the row k steps away, |k| ≤
/// (n − 1)/2. It is symmetric, so it adds no delay. Missing rows and rows beyond either end have no weight.
fn envelope(rows: &Rows, window: usize) -> Rows {
    let half = window / 2;
    let weight = |off: usize| 0.5 + 0.5 * (2.0 * PI * off as f64 / (window + 1) as f64).cos();
    let weights: Vec<f64> = (0..=half).map(weight).collect();
    let value = |(t, channel): (usize, usize)| {
        let around = t.saturating_sub(half)..(t + half + 1).min(rows.len());
        let known = around.map(|s| (weights[s.abs_diff(t)], f64::from(rows.row(s)[channel])));
        let sums = known
            .filter(|(_, value)| !value.is_nan())
            .fold((0.0, 0.0), |(all, sum), (weight, value)| (all + weight, sum + weight * value));
        (sums.1 / sums.0) as f32
    };
    let places = (0..rows.len()).flat_map(|t| (0..rows.channels).map(move |channel| (t, channel)));
    Rows { channels: rows.channels, values: places.map(value).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quaver::checkpoint::Target;

    fn rows(values: &[f32]) -> Rows {
        Rows { channels: 1, values: values.to_vec() }
    }

    #[test]
    fn by_hand() {
        // Weights ½, 1, ½ around each row; the ends have two rows, and what is missing does not count.
        let found = sequence(&rows(&[2.0, -4.0, 6.0, f32::NAN, -8.0]), 3, &Targets::Clean);
        assert_eq!(found.inputs.values[..3], [2.0, 4.0, 6.0]);
        let expected = [4.0 / 1.5, 8.0 / 2.0, 8.0 / 1.5, 7.0, 8.0];
        for (found, expected) in found.targets.values.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{found} against {expected}");
        }
        assert_eq!((&found.truth, found.target), (&Some(found.targets.clone()), Target::Columns));
    }

    #[test]
    fn a_sensor_of_envelopes_shows_them_as_they_are() {
        let raw = rows(&[2.0, -4.0, 6.0, f32::NAN, -8.0]);
        let [found, scored] = [sensed, sequence].map(|made| made(&raw, 3, &Targets::Clean));
        assert_eq!((&found.inputs, &found.targets, &found.truth), (&scored.targets, &scored.targets, &None));
    }

    #[test]
    fn an_envelope_is_not_late() {
        let beat: Vec<f32> = (0..101).map(|t| if t == 50 { 1.0 } else { 0.0 }).collect();
        let found = sequence(&rows(&beat), 21, &Targets::Next);
        let truth = &found.truth.as_ref().unwrap().values;
        assert_eq!((found.inputs.clone(), found.target), (found.targets.clone(), Target::Next));
        assert!((0..50).all(|off| (truth[50 - off] - truth[50 + off]).abs() < 1e-7));
        assert!(truth[50] > truth[51] && truth[39] == 0.0 && truth[40] > 0.0);
        assert!((truth.iter().sum::<f32>() - 1.0).abs() < 1e-5);
    }
}
