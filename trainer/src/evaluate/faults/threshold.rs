//! The threshold of a score at which sound rows give a false alarm now and then, but not more often.

use serde::Serialize;

use super::tail::tail_quantile;

/// A threshold, and how it was found. A score above it is an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AlarmThreshold {
    /// The threshold.
    pub threshold: f64,
    /// Where it comes from.
    pub source: ThresholdSource,
}

/// Where a threshold comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThresholdSource {
    /// The limit in the checkpoint, chosen when it was exported.
    Checkpoint,
    /// The sound recording is long enough to count false alarms at the rate asked for.
    Measured,
    /// It is shorter: a generalised Pareto distribution of the largest scores was extrapolated.
    Extrapolated,
    /// It has too few alarms of any height for that: the largest score of a sound row.
    LargestSound,
}

/// Peaks of sound scores from which the tail is extrapolated, at most and at least.
const PEAKS: [usize; 2] = [50, 20];

/// The threshold for at most one false alarm in `rows_per_alarm` rows, from the scores of sound recordings;
/// `None` if none has a score. Consecutive rows above a threshold are one alarm. NaN is never above it.
///
/// Where the recordings have fewer rows, the tail of the alarms' peaks is extrapolated.
pub fn alarm_threshold(sound: &[Vec<f32>], rows_per_alarm: f64) -> Option<AlarmThreshold> {
    let rows = sound.iter().flatten().filter(|score| !score.is_nan()).count();
    let allowed = rows as f64 / rows_per_alarm;
    let mut alarms = Alarms::new(sound);
    let largest = alarms.largest()?;
    if allowed >= 1.0 {
        let threshold = alarms.threshold_of(allowed as usize);
        return Some(AlarmThreshold { threshold, source: ThresholdSource::Measured });
    }
    let start = alarms.threshold_of(PEAKS[0]);
    let excesses: Vec<f64> = alarms.peaks(start).into_iter().map(|peak| peak - start).collect();
    let expected = excesses.len() as f64 * rows_per_alarm / rows as f64;
    let extrapolated = tail_quantile(&excesses, expected).filter(|_| excesses.len() >= PEAKS[1]);
    Some(match extrapolated {
        // A threshold that a sound row exceeds would have given an alarm in less time than asked for.
        Some(excess) => {
            AlarmThreshold { threshold: (start + excess).max(largest), source: ThresholdSource::Extrapolated }
        }
        None => AlarmThreshold { threshold: largest, source: ThresholdSource::LargestSound },
    })
}

/// Number of alarms: runs of rows above a threshold.
pub(super) fn count_alarms(sound: &[Vec<f32>], threshold: f64) -> usize {
    Alarms { sound, descending: Vec::new() }.peaks(threshold).len()
}

/// Scores of sound rows, from the largest to the smallest.
struct Alarms<'a> {
    sound: &'a [Vec<f32>],
    /// Sequence and row.
    descending: Vec<(usize, usize)>,
}

impl<'a> Alarms<'a> {
    fn new(sound: &'a [Vec<f32>]) -> Self {
        let places = |(index, scores): (usize, &Vec<f32>)| (0..scores.len()).map(move |row| (index, row));
        let mut descending: Vec<(usize, usize)> = sound.iter().enumerate().flat_map(places).collect();
        descending.retain(|(index, row)| !sound[*index][*row].is_nan());
        descending.sort_by(|a, b| sound[b.0][b.1].total_cmp(&sound[a.0][a.1]));
        Alarms { sound, descending }
    }

    fn score(&self, (index, row): (usize, usize)) -> f32 {
        self.sound[index][row]
    }

    fn largest(&self) -> Option<f64> {
        self.descending.first().map(|place| f64::from(self.score(*place)))
    }

    /// The threshold below which the number of alarms first exceeds `most`, coming from above.
    fn threshold_of(&mut self, most: usize) -> f64 {
        let mut above: Vec<Vec<bool>> = self.sound.iter().map(|scores| vec![false; scores.len()]).collect();
        let mut alarms = 0_usize;
        for (index, row) in &self.descending {
            let rows = &mut above[*index];
            rows[*row] = true;
            let neighbours = [row.checked_sub(1), Some(row + 1)];
            let joined = neighbours.into_iter().flatten().filter(|row| rows.get(*row) == Some(&true)).count();
            // A row between two alarms makes them one.
            alarms = alarms + 1 - joined;
            if alarms > most {
                return f64::from(self.sound[*index][*row]);
            }
        }
        self.descending.last().map_or(0.0, |place| f64::from(self.score(*place)))
    }

    /// The largest score of every alarm.
    fn peaks(&self, threshold: f64) -> Vec<f64> {
        let is_above = |score: &f32| f64::from(*score) > threshold;
        let alarms = |scores: &'a Vec<f32>| scores.chunk_by(move |a, b| is_above(a) == is_above(b));
        let alarms = self.sound.iter().flat_map(alarms).filter(|run| is_above(&run[0]));
        alarms.map(|run| f64::from(run.iter().copied().fold(f32::MIN, f32::max))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream, uniform};

    #[test]
    fn neighbouring_rows_are_one_alarm() {
        let nan = f32::NAN;
        let sound = [vec![0.0, 9.0, 8.0, 0.0, 7.0, 0.0], vec![nan, 6.0, 0.5, nan]];
        // Eight rows: one alarm in four rows allows two.
        let found = alarm_threshold(&sound, 4.0).unwrap();
        assert_eq!(found, AlarmThreshold { threshold: 6.0, source: ThresholdSource::Measured });
        assert_eq!(alarm_threshold(&sound, 8.0).unwrap().threshold, 7.0);
        assert_eq!([6.0, 5.0].map(|threshold| count_alarms(&sound, threshold)), [2, 3]);
        let short = alarm_threshold(&sound, 100.0).unwrap();
        assert_eq!(short, AlarmThreshold { threshold: 9.0, source: ThresholdSource::LargestSound });
        assert_eq!(alarm_threshold(&[vec![nan]], 4.0), None);
    }

    /// Exponential scores, independent.
    fn exponential(rows: usize, seed: u64) -> Vec<f32> {
        let mut rng = stream(seed, Purpose::Initialisation);
        (0..rows).map(|_| -(1.0 - uniform(&mut rng)).ln() as f32).collect()
    }

    #[test]
    fn the_rate_of_false_alarms_is_the_one_asked_for() {
        let threshold = alarm_threshold(&[exponential(200_000, 1)], 1000.0).unwrap();
        assert_eq!(threshold.source, ThresholdSource::Measured);
        let later = exponential(200_000, 2);
        let alarms = later.iter().filter(|score| f64::from(**score) > threshold.threshold).count();
        // 200 are expected in either recording: √400 apart, three times that at most.
        assert!(alarms.abs_diff(200) < 60, "{alarms}");
    }

    #[test]
    fn short_recordings_are_extrapolated_to_the_threshold_of_long_ones() {
        // One in 180,000: ln 180,000 = 12.1. Recordings of 6000 rows, the mean over 40 of them.
        let found: Vec<AlarmThreshold> =
            (0..40).map(|seed| alarm_threshold(&[exponential(6000, seed)], 180_000.0).unwrap()).collect();
        assert!(found.iter().all(|found| found.source == ThresholdSource::Extrapolated));
        let mean = found.iter().map(|found| found.threshold).sum::<f64>() / 40.0;
        // The shape of a tail of 50 peaks is uncertain by 0.2, which a factor of 30 makes 3 in a single
        // recording and 0.5 in the mean of forty.
        assert!((mean - 180_000.0_f64.ln()).abs() < 1.5, "{mean}");
    }
}
