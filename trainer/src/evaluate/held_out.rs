//! Imputation of artificial gaps: rows of complete sequences are hidden, imputed, and compared with
//! imputation without a network.

use std::ops::Range;

use serde::Serialize;

use super::baselines::filled_forward;
use super::gaps::{GapScores, gap_scores};
use crate::data::interpolated;
use crate::data::{Dataset, Rows, Scaling, Sequence};

/// The rows hidden in every window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldOutGap {
    /// Rows of a window; rows after the last whole window of a sequence are not used.
    pub window: usize,
    /// Hidden rows of the window, counted from 0.
    pub gap: Range<usize>,
}

/// One imputation method and its scores.
#[derive(Clone, Debug, Serialize)]
pub struct GapFilling {
    /// The method.
    pub name: String,
    /// How it works.
    pub detail: String,
    /// Its errors.
    #[serde(flatten)]
    pub scores: GapScores,
}

impl HeldOutGap {
    /// The windows of all sequences, complete, after their burn-in.
    pub fn windows(&self, sequences: &[Sequence]) -> Vec<Rows> {
        let of = |sequence: &Sequence| -> Vec<Rows> {
            let rows = &sequence.targets;
            let starts = (sequence.burn_in..rows.len()).step_by(self.window);
            let whole = starts.filter(|start| start + self.window <= rows.len());
            whole.map(|start| rows.slice(start..start + self.window)).collect()
        };
        sequences.iter().flat_map(of).collect()
    }

    /// A window with the gap.
    pub fn hide(&self, window: &Rows) -> Rows {
        let mut gappy = window.clone();
        gappy.values[self.gap.start * window.channels..self.gap.end * window.channels].fill(f32::NAN);
        gappy
    }

    /// Errors of a model's imputation, described by `detail`, of linear interpolation, and of a linear
    /// autoregression that is fitted on the training data and continues the rows before the gap. Nothing if
    /// there is no complete window.
    pub fn score(
        &self,
        data: &Dataset,
        sequences: &[Sequence],
        detail: String,
        fill: impl Fn(&Rows) -> Rows,
    ) -> Option<Vec<GapFilling>> {
        let windows = self.windows(sequences);
        let gappy: Vec<Rows> = windows.iter().map(|window| self.hide(window)).collect();
        let filling = |name: &str, detail: String, filled: Vec<Rows>| {
            let scores = gap_scores(&data.target_names, &gappy, &filled, &windows)?;
            Some(GapFilling { name: name.into(), detail, scores })
        };
        let means = Scaling::fit(&data.train).targets.mean;
        let model = filling("this model", detail, gappy.iter().map(fill).collect())?;
        let lines = gappy.iter().map(|rows| interpolated(rows, &means)).collect();
        let lines =
            filling("straight lines", "from the row before the gap to the row behind it".into(), lines)?;
        let forward = filled_forward(data, &gappy);
        let forward = forward.and_then(|(detail, filled)| filling("ridge AR forward", detail, filled));
        Some([model, lines].into_iter().chain(forward).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x_t = 1.6 x_{t−1} − 0.9 x_{t−2}: a recurrence of two rows that linear interpolation misses.
    fn oscillation(steps: usize) -> Sequence {
        let mut values = vec![1.0_f32, 0.4];
        for step in 2..steps {
            values.push(1.6 * values[step - 1] - 0.9 * values[step - 2]);
            // Kicked now and then, so that it does not die out.
            if step % 17 == 0 {
                values[step] += 1.0;
            }
        }
        Sequence::next(Rows { channels: 1, values })
    }

    fn dataset() -> Dataset {
        let test = vec![oscillation(25), oscillation(9)];
        Dataset::of([vec![oscillation(400)], vec![oscillation(100)], test], &["x"])
    }

    #[test]
    fn only_hidden_rows_of_whole_windows_are_scored() {
        let (data, held_out) = (dataset(), HeldOutGap { window: 10, gap: 5..7 });
        let windows = held_out.windows(&data.test);
        assert_eq!(windows, [data.test[0].targets.slice(0..10), data.test[0].targets.slice(10..20)]);
        let led = Sequence { burn_in: 3, ..data.test[0].clone() };
        assert_eq!(held_out.windows(&[led])[1], data.test[0].targets.slice(13..23));
        let off_by_two = |rows: &Rows| {
            let whole = windows.iter().find(|window| window.values[0] == rows.values[0]).unwrap();
            Rows { channels: 1, values: whole.values.iter().map(|value| value + 2.0).collect() }
        };
        let found = held_out.score(&data, &data.test, String::new(), off_by_two).unwrap();
        let [model, lines, forward] = &found[..] else { panic!("three fillings: {found:?}") };
        assert!((model.scores.rmse - 2.0).abs() < 1e-6, "{model:?}");
        assert_eq!(model.scores.per_channel[0].2, 4, "two rows of two windows");
        // No kick comes inside a gap, so that the rule is all there is to know.
        assert!(forward.scores.rmse < 0.2 * lines.scores.rmse, "{forward:?} {lines:?}");
        let too_long = HeldOutGap { window: 30, gap: 5..7 };
        assert!(too_long.score(&data, &data.test, String::new(), Rows::clone).is_none());
    }
}
