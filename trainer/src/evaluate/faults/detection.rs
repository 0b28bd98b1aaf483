//! How well a score tells faulty rows from sound ones.

use std::ops::Range;

use serde::Serialize;

use super::super::auroc::auroc;
use super::threshold::AlarmThreshold;

/// A score on one fault.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Detection {
    /// Name of the score.
    pub score: &'static str,
    /// Area under the receiver operating characteristic: rows whose readings the fault changed against rows
    /// of the sound recording. `None` where the model has no such score.
    pub auroc: Option<f64>,
    /// The same without the first rows of each stretch, in which evidence is gathered.
    pub auroc_settled: Option<f64>,
    /// The same with all rows of the faulty stretches, changed or not.
    pub auroc_stretch: Option<f64>,
    /// Median number of rows from the first changed reading to the first alarm, 0 for an alarm in the same
    /// row; `None` where less than half of the stretches give an alarm, or without a threshold.
    pub delay: Option<f64>,
    /// Proportion of the stretches with an alarm.
    pub detected: Option<f64>,
}

/// Rows of one run with a fault.
pub(super) struct FaultyRows<'a> {
    /// The stretches of every sequence.
    pub(super) stretches: &'a [Vec<Range<usize>>],
    /// Whether the fault changed a reading of a row, by sequence.
    pub(super) changed: Vec<Vec<bool>>,
    /// Rows after the first change of a stretch that do not count after settling.
    pub(super) settling: usize,
}

/// Scores of faulty rows over all runs with a fault.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultyScores {
    changed: Vec<f32>,
    settled: Vec<f32>,
    stretch: Vec<f32>,
    /// Rows until the alarm; infinite without one.
    delays: Vec<f64>,
}

impl FaultyScores {
    /// Adds the scores of one run, by sequence.
    pub(super) fn add(
        &mut self,
        rows: &FaultyRows<'_>,
        scores: &[Vec<f32>],
        threshold: Option<AlarmThreshold>,
    ) {
        for ((stretches, changed), scores) in rows.stretches.iter().zip(&rows.changed).zip(scores) {
            for stretch in stretches {
                self.stretch.extend(&scores[stretch.clone()]);
                self.changed.extend(stretch.clone().filter(|row| changed[*row]).map(|row| scores[row]));
                // A fault that changes nothing cannot be detected.
                let onset = stretch.clone().find(|row| changed[*row]);
                let settled = onset.map_or(stretch.end, |row| row + rows.settling)..stretch.end;
                self.settled.extend(settled.filter(|row| changed[*row]).map(|row| scores[row]));
                if let (Some(threshold), Some(onset)) = (threshold, onset) {
                    self.delays.extend(delay(onset..stretch.end, scores, threshold.threshold));
                }
            }
        }
    }

    /// The figures; `sound` are the ascending scores of sound rows.
    pub(super) fn detection(&self, score: &'static str, sound: &[f32]) -> Detection {
        let mut delays = self.delays.clone();
        delays.sort_unstable_by(f64::total_cmp);
        let found = delays.iter().filter(|delay| delay.is_finite()).count();
        Detection {
            score,
            auroc: auroc(sound, &self.changed),
            auroc_settled: auroc(sound, &self.settled),
            auroc_stretch: auroc(sound, &self.stretch),
            delay: delays.get(delays.len() / 2).copied().filter(|delay| delay.is_finite()),
            detected: (!delays.is_empty()).then(|| found as f64 / delays.len() as f64),
        }
    }
}

/// Rows from the first one to the first above the threshold; infinite without one. `None` if the alarm is on
/// before the fault begins.
fn delay(rows: Range<usize>, scores: &[f32], threshold: f64) -> Option<f64> {
    let is_above = |row: &usize| f64::from(scores[*row]) > threshold;
    if rows.start.checked_sub(1).is_some_and(|before| is_above(&before)) {
        return None;
    }
    Some(rows.clone().find(is_above).map_or(f64::INFINITY, |row| (row - rows.start) as f64))
}

#[cfg(test)]
mod tests {
    use super::super::threshold::ThresholdSource;
    use super::*;

    #[test]
    fn alarms_count_from_the_first_changed_row() {
        let threshold = Some(AlarmThreshold { threshold: 5.0, source: ThresholdSource::Measured });
        let stretches = [vec![2..5, 7..9, 11..13]];
        let changed = |rows: &[usize]| vec![(0..14).map(|row| rows.contains(&row)).collect()];
        let changed = changed(&[3, 4, 7, 8, 11, 12]);
        let rows = FaultyRows { stretches: &stretches, changed, settling: 1 };
        // The first is found after one row, the second not at all, and the third began during an alarm.
        let scores = [1.0, 1.0, 1.0, 2.0, 6.0, 1.0, 1.0, 4.0, 5.0, 1.0, 9.0, 9.0, 9.0, 1.0];
        let mut found = FaultyScores::default();
        found.add(&rows, &[scores.to_vec()], threshold);
        assert_eq!(found.delays, [1.0, f64::INFINITY]);
        let sound = [1.0, 1.0, 3.0, 3.0];
        let detection = found.detection("score", &sound);
        assert_eq!(
            (detection.detected, detection.delay),
            (Some(0.5), None),
            "the later of the two is endless"
        );
        // Changed rows: 2, 6, 4, 5, 9, 9. Of these 2 beats half of the sound rows and the others all of them.
        assert_eq!(detection.auroc, Some(5.5 / 6.0));
        // After one row: 6, 5, 9.
        assert_eq!((found.settled.as_slice(), detection.auroc_settled), (&[6.0, 5.0, 9.0][..], Some(1.0)));
        // The row before the first change scores 1: two ties and two losses.
        assert_eq!(detection.auroc_stretch, Some((0.25 + 5.5) / 7.0));
        found.add(&rows, &[scores.map(|score| score + 1.5).to_vec()], None);
        assert_eq!(found.delays.len(), 2, "without a threshold there is no alarm");
    }
}
