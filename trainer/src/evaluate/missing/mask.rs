//! Which readings of a recording are taken away, and what a model reads instead.

use std::ops::Range;
use std::sync::Arc;

use rand_core::Rng;

use crate::data::{Rows, Sequence};
use crate::random::uniform;

/// Readings of one sequence that are taken away, and the rows that are scored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mask {
    channels: usize,
    missing: Vec<bool>,
    scored: Vec<bool>,
}

/// Shortest and longest pause between the gaps of [`Mask::periodic`], in rows: enough for a state to recover,
/// and no more than a recording can spare.
const PAUSE: [usize; 2] = [100, 1000];

impl Mask {
    fn none(rows: usize, channels: usize) -> Self {
        Mask { channels, missing: vec![false; rows * channels], scored: vec![false; rows] }
    }

    fn hide(&mut self, channel: usize, rows: Range<usize>) {
        rows.for_each(|row| self.missing[row * self.channels + channel] = true);
    }

    /// Some channels are missing from the first row to the last; all rows are scored.
    pub(super) fn whole(rows: usize, channels: usize, missing: &[usize]) -> Self {
        let mut mask = Mask { scored: vec![true; rows], ..Mask::none(rows, channels) };
        missing.iter().for_each(|channel| mask.hide(*channel, 0..rows));
        mask
    }

    /// Every channel of `gone` independently is missing for `length` rows at a time and for a `share` of all
    /// rows on average, between sound stretches of random (geometrically distributed) length; rows with a gap
    /// are scored.
    pub(super) fn bursts(
        rows: usize,
        channels: usize,
        gone: &[usize],
        length: usize,
        share: f64,
        rng: &mut impl Rng,
    ) -> Self {
        let mut mask = Mask::none(rows, channels);
        let mean_pause = length as f64 * (1.0 - share) / share;
        for &channel in gone {
            // The recording begins inside a burst as often as any other row does.
            let inside = uniform(rng) < share;
            let left = 1 + (uniform(rng) * length as f64) as usize;
            let mut row = 0;
            if inside {
                mask.hide(channel, 0..left.min(rows));
                row = left;
            }
            while row < rows {
                row += 1 + (-mean_pause * (1.0 - uniform(rng)).ln()) as usize;
                mask.hide(channel, row.min(rows)..(row + length).min(rows));
                row += length;
            }
        }
        mask.score_gaps();
        mask
    }

    /// One channel is missing for `rows_away.end` rows at a time, with pauses as long, but of 100 to 1000
    /// rows; of every gap the rows `rows_away`, counted from its beginning, are scored.
    pub(super) fn periodic(rows: usize, channels: usize, channel: usize, rows_away: &Range<usize>) -> Self {
        let mut mask = Mask::none(rows, channels);
        let pause = rows_away.end.clamp(PAUSE[0], PAUSE[1]);
        for start in (pause..rows).step_by(pause + rows_away.end) {
            let end = (start + rows_away.end).min(rows);
            mask.hide(channel, start..end);
            mask.scored[(start + rows_away.start).min(end)..end].fill(true);
        }
        mask
    }

    fn score_gaps(&mut self) {
        for (scored, row) in self.scored.iter_mut().zip(self.missing.chunks(self.channels.max(1))) {
            *scored = row.contains(&true);
        }
    }

    pub(super) fn is_scored(&self, row: usize) -> bool {
        self.scored[row]
    }

    pub(super) fn is_missing(&self, row: usize, channel: usize) -> bool {
        self.missing[row * self.channels + channel]
    }
}

/// What takes the place of a missing reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StandIn {
    /// Nothing: the model imputes it.
    Gap,
    /// The last reading of the channel; before the first one, its training mean.
    LastValue,
    /// The training mean of the channel.
    TrainingMean,
}

impl StandIn {
    /// The sequence as the model reads it. Its targets are those of the whole recording.
    pub(super) fn fill(self, sequence: &Sequence, mask: &Mask, means: &[f32]) -> Sequence {
        let mut inputs = Rows::clone(&sequence.inputs);
        let mut last = means.to_vec();
        for (row, values) in inputs.values.chunks_mut(mask.channels.max(1)).enumerate() {
            for (channel, value) in values.iter_mut().enumerate() {
                if mask.is_missing(row, channel) {
                    *value = match self {
                        StandIn::Gap => f32::NAN,
                        StandIn::LastValue => last[channel],
                        StandIn::TrainingMean => means[channel],
                    };
                } else if !value.is_nan() {
                    last[channel] = *value;
                }
            }
        }
        Sequence { inputs: Arc::new(inputs), ..sequence.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    #[test]
    fn bursts_have_their_length_and_their_share_of_time() {
        let (rows, channels, length, share) = (200_000, 3, 50, 0.1);
        let all: Vec<usize> = (0..channels).collect();
        let mut rng = stream(1, Purpose::Initialisation);
        let mask = Mask::bursts(rows, channels, &all, length, share, &mut rng);
        for channel in 0..channels {
            let column: Vec<bool> = (0..rows).map(|row| mask.is_missing(row, channel)).collect();
            let found = column.iter().filter(|missing| **missing).count() as f64 / rows as f64;
            // 400 bursts, the number of which varies by less than 1/√400.
            assert!((found - share).abs() < 0.015, "{found}");
            let bursts = column.chunk_by(|a, b| a == b).filter(|run| run[0]);
            let shortest = bursts.skip(1).map(<[bool]>::len).min();
            assert!(shortest >= Some(length.min(rows)), "only the ends of the recording cut a burst");
        }
        let gaps = (0..rows).filter(|row| mask.is_scored(*row));
        assert!(gaps.clone().count() > rows / 5 && gaps.count() < rows * 3 / 10, "1 − 0.9³ is 0.27");
    }

    #[test]
    fn bursts_of_one_channel_leave_the_others_alone() {
        let mask = Mask::bursts(10_000, 3, &[1], 50, 0.1, &mut stream(1, Purpose::Initialisation));
        let missing = |channel| (0..10_000).filter(|row| mask.is_missing(*row, channel)).count();
        assert_eq!([missing(0), missing(2)], [0, 0]);
        assert_eq!(missing(1), (0..10_000).filter(|row| mask.is_scored(*row)).count());
        assert!(missing(1) > 500, "{}", missing(1));
    }

    #[test]
    fn periodic_gaps_score_the_rows_asked_for() {
        let mask = Mask::periodic(500, 2, 1, &(10..30));
        let missing: Vec<usize> = (0..500).filter(|row| mask.is_missing(*row, 1)).collect();
        assert_eq!((missing[0], missing[29], missing[30], missing.len()), (100, 129, 230, 100));
        let scored: Vec<usize> = (0..500).filter(|row| mask.is_scored(*row)).collect();
        // The last gap begins in row 490 and has no eleventh row.
        assert_eq!((scored[0], scored[19], scored[20], scored.len()), (110, 129, 240, 60));
        assert!((0..500).all(|row| !mask.is_missing(row, 0)));
    }

    #[test]
    fn stand_ins_leave_targets_and_other_channels_alone() {
        let nan = f32::NAN;
        let rows = Rows { channels: 2, values: vec![1.0, 10.0, 2.0, nan, 3.0, 30.0, 4.0, 40.0] };
        let sequence = Sequence::next(rows);
        let mut mask = Mask::none(4, 2);
        mask.hide(0, 0..1);
        mask.hide(0, 2..4);
        let filled = |stand_in: StandIn| {
            let filled = stand_in.fill(&sequence, &mask, &[-1.0, -2.0]);
            assert!(Arc::ptr_eq(&filled.targets, &sequence.targets));
            assert!(filled.inputs.values[3].is_nan(), "what was never there stays away");
            filled.inputs.columns(&[0]).values
        };
        assert_eq!(filled(StandIn::LastValue), [-1.0, 2.0, 2.0, 2.0]);
        assert_eq!(filled(StandIn::TrainingMean), [-1.0, 2.0, -1.0, -1.0]);
        let gap = filled(StandIn::Gap);
        assert!(gap[0].is_nan() && gap[1] == 2.0 && gap[2].is_nan());
        assert_eq!(Mask::whole(4, 2, &[1]).missing, [false, true].repeat(4));
    }
}
