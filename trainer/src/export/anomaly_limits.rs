//! Limits of the runtime's anomaly detection for a rate of false alarms, from sound recordings.
//!
//! 1. The slack of each cumulative sum is the smallest with which the sum returns to zero on sound rows:
//!    residuals that are correlated in time need more.
//! 2. Each statistic of each channel is scaled by its tail: it starts at the 99 % quantile, and its unit is
//!    the mean excess over it, halfway between that of the channel and the mean over the channels, because
//!    a short recording shows few excesses. Of training and validation data the larger counts: residuals of
//!    training rows are too small.
//! 3. The limit of a statistic is that of its maximum over the channels, at the rate of alarms asked for
//!    divided by the number of statistics (Bonferroni), by an exponential tail ([`alarm_limit`]). One limit
//!    for each statistic, because their tails differ: a single limit is that of the heaviest tail.

use quaver::anomaly::{ChannelLimits, ChannelState, Limit, STATISTICS, SUM_CAP, Z_CAP};
use serde::Serialize;

use super::alarm_limit::alarm_limit;
use super::anomaly_evidence::{RowEvidence, evidence};
use crate::data::{Scaler, Sequence};

/// Window of the moving averages: seconds where the sampling rate is known, rows where it is not.
const WINDOW_SECONDS: f64 = 2.5;
const WINDOW_ROWS: f64 = 128.0;
/// Windows that each split has to hold, so that it shows how averages vary.
const LEAST_WINDOWS: f64 = 16.0;
/// Slacks of cumulative sums to choose from; with the last, sums stay at zero.
const SLACKS: [f32; 5] = [0.25, 0.5, 1.0, 2.0, Z_CAP];
/// Where the tail of a statistic starts.
const START_QUANTILE: f64 = 0.99;
/// Weight of the mean over the channels in the unit of a statistic.
const POOLING: f32 = 0.5;
/// Statistics of a whole row.
const ROW_STATISTICS: usize = 2;
/// Places of repetitions and of returns to repeated values among the statistics of a channel.
const RUNS: usize = STATISTICS - 2;
const RETURNS: usize = STATISTICS - 1;

/// Window of the moving averages in rows, for a sampling rate and the sound sequences of each split.
pub fn evidence_window(rate_hz: Option<f64>, splits: &[&[Sequence]]) -> u16 {
    let rows = splits.iter().map(|split| split.iter().map(Sequence::len).sum::<usize>());
    let shortest = rows.filter(|rows| *rows > 0).min().unwrap_or(0);
    let wanted = rate_hz.map_or(WINDOW_ROWS, |rate_hz| WINDOW_SECONDS * rate_hz);
    wanted.min(shortest as f64 / LEAST_WINDOWS).round().clamp(8.0, 4096.0) as u16
}

/// Limits of anomaly detection.
#[derive(Clone, Debug, Serialize)]
pub struct AnomalyLimits {
    /// Window of the moving averages in rows.
    #[serde(skip)]
    pub window: u16,
    /// Limits of unlikely and of distant rows.
    #[serde(skip)]
    pub row: [Limit; 2],
    /// Settings and limits of each channel.
    #[serde(skip)]
    pub channels: Vec<ChannelLimits>,
    /// Rows in which one false alarm is allowed.
    pub rows_per_alarm: f64,
    /// Rows from which the limits were found.
    pub rows: usize,
    /// Whether the recordings are too short to count alarms, so that tails were extrapolated.
    pub extrapolated: bool,
}

/// Finds the limits on sound sequences, by split. `precision` is that of the checkpoint's input density;
/// empty without one.
///
/// # Errors
/// If the bytes are not a checkpoint of one network.
pub fn anomaly_limits(
    bytes: &[u8],
    scaler: &Scaler,
    precision: &[f32],
    splits: &[&[Sequence]],
    window: u16,
    rows_per_alarm: f64,
) -> Result<AnomalyLimits, quaver::Error> {
    let read = |sequences: &&[Sequence]| evidence(bytes, scaler, precision, sequences);
    let splits: Vec<Vec<Vec<RowEvidence>>> = splits.iter().map(read).collect::<Result<_, _>>()?;
    let splits: Vec<Split<'_>> = splits.iter().map(|split| split.as_slice()).collect();
    let counted = |split: &Split<'_>| split.iter().flatten().filter(|row| row.counts).count();
    let rows: Vec<usize> = splits.iter().map(counted).collect();
    let all: Vec<&Vec<RowEvidence>> = splits.iter().flat_map(|split| split.iter()).collect();
    let channels = settings(&all, scaler.channels(), window);
    let mut fit = Fit { window, row: [Limit::default(); ROW_STATISTICS], channels };
    let rate = AlarmRate::new(rows_per_alarm, scaler.channels(), rows.iter().sum(), &all);
    fit.scale(&splits, &rate);
    fit.limit(&splits, &rate);
    let is_long = rows.iter().any(|rows| *rows as f64 >= rate.rows_per_statistic);
    Ok(AnomalyLimits {
        window,
        row: fit.row,
        channels: fit.channels,
        rows_per_alarm,
        rows: rows.iter().sum(),
        extrapolated: !is_long,
    })
}

/// Evidence of the sequences of one split.
type Split<'a> = &'a [Vec<RowEvidence>];

/// What is asked for, and how much is known.
struct AlarmRate {
    /// Rows in which one false alarm of each statistic is allowed.
    rows_per_statistic: f64,
    /// The lowest limit, in mean excesses: that of an exponential tail of a single channel.
    lowest: f32,
    /// Repetitions of one value that are as rare as an alarm where sound rows have none: a repetition that
    /// did not occur in N pairs of values has a probability of about 1/N.
    repetitions: f32,
}

impl AlarmRate {
    fn new(rows_per_alarm: f64, channels: usize, rows: usize, sequences: &[&Vec<RowEvidence>]) -> Self {
        let has = |of: fn(&RowEvidence) -> bool| sequences.iter().flat_map(|rows| rows.iter()).any(of);
        let residuals = if has(|row| row.mean_square.is_some()) { 4 } else { 0 };
        let neighbours = if has(|row| row.distance.is_some()) { 2 } else { 0 };
        let rows_per_statistic = rows_per_alarm * f64::from(residuals + neighbours + 4);
        let pairs = (rows * channels).max(3) as f64;
        let rarity = (rows_per_statistic * channels.max(1) as f64).max(3.0);
        AlarmRate {
            rows_per_statistic,
            lowest: ((1.0 - START_QUANTILE) * rows_per_statistic).ln().max(1.0) as f32,
            repetitions: (rarity.ln() / pairs.ln()) as f32,
        }
    }
}

/// Expected increments and slacks of the channels, without limits.
fn settings(sequences: &[&Vec<RowEvidence>], channels: usize, window: u16) -> Vec<ChannelLimits> {
    let increment = |channel: usize| {
        let values = |rows: &Vec<RowEvidence>| -> Vec<Option<f32>> {
            rows.iter().map(|row| row.channels[channel].map(|evidence| evidence.value)).collect()
        };
        let squares = sequences.iter().flat_map(|rows| {
            let values = values(rows);
            let pairs = values.windows(2).filter_map(|pair| Some(f64::from(pair[1]? - pair[0]?).powi(2)));
            pairs.collect::<Vec<_>>()
        });
        let (sum, count) = squares.fold((0.0, 0), |(sum, count), square| (sum + square, count + 1));
        (sum / f64::from(count.max(1))) as f32
    };
    let mut found: Vec<ChannelLimits> = (0..channels)
        .map(|channel| ChannelLimits { increment: increment(channel), ..ChannelLimits::default() })
        .collect();
    let mut open = vec![true; channels];
    for slack in SLACKS {
        found.iter_mut().zip(&open).filter(|(_, open)| **open).for_each(|(limits, _)| limits.slack = slack);
        let statistics = statistics(sequences.iter().copied(), &found, window);
        for (open, all) in open.iter_mut().zip(&statistics) {
            *open &= quantile(&all[0], START_QUANTILE) > 0.5 * SUM_CAP;
        }
    }
    found
}

/// Values of every statistic in rows that count, by channel and statistic, in ascending order.
fn statistics<'a>(
    sequences: impl Iterator<Item = &'a Vec<RowEvidence>>,
    limits: &[ChannelLimits],
    window: u16,
) -> Vec<[Vec<f32>; STATISTICS]> {
    let mut found: Vec<[Vec<f32>; STATISTICS]> = vec![Default::default(); limits.len()];
    for rows in sequences {
        for (channel, (limits, found)) in limits.iter().zip(&mut found).enumerate() {
            let mut state = ChannelState::new(limits);
            for row in rows {
                state.update(limits, 1.0 / f32::from(window), row.channels[channel]);
                if row.counts && row.channels[channel].is_some() {
                    let values = state.statistics(limits);
                    found.iter_mut().zip(values).for_each(|(list, value)| list.push(value));
                }
            }
        }
    }
    found.iter_mut().flatten().for_each(|list| list.sort_unstable_by(f32::total_cmp));
    found
}

/// A quantile of ascending values; 0 of none.
fn quantile(ascending: &[f32], p: f64) -> f32 {
    let place = (p * ascending.len() as f64) as usize;
    ascending.get(place).or(ascending.last()).copied().unwrap_or(0.0)
}

/// Start and mean excess of a tail; `None` without values.
fn tail(ascending: &[f32]) -> Option<[f32; 2]> {
    let start = quantile(ascending, START_QUANTILE).max(0.0);
    let excesses: Vec<f32> =
        ascending.iter().filter(|value| **value > start).map(|value| value - start).collect();
    let mean = excesses.iter().sum::<f32>() / excesses.len().max(1) as f32;
    (!ascending.is_empty()).then_some([start, mean])
}

/// The larger starts and mean excesses of several tails; `None` of none.
fn larger(tails: impl Iterator<Item = [f32; 2]>) -> Option<[f32; 2]> {
    tails.reduce(|[start, mean], [other, excess]| [start.max(other), mean.max(excess)])
}

/// A limit one mean excess beyond the start, which is at least `least`.
fn unit([start, mean]: [f32; 2], least: f32) -> Limit {
    Limit { start, weight: 1.0 / mean.max(least).max(0.01 * start).max(1e-6) }
}

/// Limits as they are found.
struct Fit {
    window: u16,
    row: [Limit; ROW_STATISTICS],
    channels: Vec<ChannelLimits>,
}

impl Fit {
    /// Scales every statistic by its tail. What a model has no evidence of is left out.
    fn scale(&mut self, splits: &[Split<'_>], rate: &AlarmRate) {
        let of_rows: [fn(&RowEvidence) -> Option<f32>; ROW_STATISTICS] =
            [|row| row.mean_square, |row| row.distance];
        for (limit, of) in self.row.iter_mut().zip(of_rows) {
            let values = splits.iter().filter_map(|split| {
                let rows = split.iter().flatten().filter(|row| row.counts);
                let mut values: Vec<f32> = rows.filter_map(of).collect();
                values.sort_unstable_by(f32::total_cmp);
                tail(&values)
            });
            *limit = larger(values).map_or(Limit::default(), |tail| unit(tail, 0.0));
        }
        let by_split: Vec<_> =
            splits.iter().map(|split| statistics(split.iter(), &self.channels, self.window)).collect();
        let [residual, neighbour] = self.row.map(|limit| limit.weight > 0.0);
        let used = [residual, residual, residual, neighbour, true, true, true, true];
        for index in (0..STATISTICS).filter(|index| used[*index]) {
            let of_channel =
                |channel: usize| larger(by_split.iter().filter_map(|split| tail(&split[channel][index])));
            let tails: Vec<Option<[f32; 2]>> = (0..self.channels.len()).map(of_channel).collect();
            self.scale_statistic(index, &tails, rate);
        }
    }

    fn scale_statistic(&mut self, index: usize, tails: &[Option<[f32; 2]>], rate: &AlarmRate) {
        let excesses: Vec<f32> = tails.iter().flatten().map(|[_, mean]| *mean).collect();
        let pooled = excesses.iter().sum::<f32>() / excesses.len().max(1) as f32;
        let least = match index {
            RUNS => rate.repetitions / rate.lowest,
            RETURNS => rate.repetitions / (rate.lowest * f32::from(self.window)),
            _ => 0.0,
        };
        // A channel that never changes cannot be told from a stuck one.
        let changing = self.channels.iter_mut().zip(tails).filter(|(limits, _)| limits.increment > 0.0);
        for (limits, tail) in changing {
            let shared = |[start, mean]: [f32; 2]| [start, POOLING * pooled + (1.0 - POOLING) * mean];
            limits.limits[index] = tail.map(shared).map_or(Limit::default(), |tail| unit(tail, least));
        }
    }

    /// Divides the scores of each statistic by the limit of its maximum over the channels, which then is 1.
    fn limit(&mut self, splits: &[Split<'_>], rate: &AlarmRate) {
        let by_split: Vec<Vec<Vec<RowScores>>> =
            splits.iter().map(|split| split.iter().map(|rows| self.scores(rows)).collect()).collect();
        let limit = |index: usize| {
            let limits = by_split.iter().filter_map(|sequences| {
                let scores: Vec<Vec<f32>> =
                    sequences.iter().map(|rows| rows.iter().map(|row| row[index]).collect()).collect();
                alarm_limit(&scores, rate.rows_per_statistic, usize::from(self.window))
            });
            limits.fold(rate.lowest, f32::max)
        };
        let limits: Vec<f32> = (0..ROW_STATISTICS + STATISTICS).map(limit).collect();
        let (of_row, of_channel) = limits.split_at(ROW_STATISTICS);
        self.row.iter_mut().zip(of_row).for_each(|(scale, limit)| scale.weight /= limit);
        for channel in &mut self.channels {
            channel.limits.iter_mut().zip(of_channel).for_each(|(scale, limit)| scale.weight /= limit);
        }
    }

    /// Scores of the rows of a sequence.
    fn scores(&self, rows: &[RowEvidence]) -> Vec<RowScores> {
        let mut states: Vec<ChannelState> = self.channels.iter().map(ChannelState::new).collect();
        rows.iter().map(|row| self.score(row, &mut states)).collect()
    }

    fn score(&self, row: &RowEvidence, states: &mut [ChannelState]) -> RowScores {
        let mut scores = [f32::NAN; ROW_STATISTICS + STATISTICS];
        let (of_row, of_channels) = scores.split_at_mut(ROW_STATISTICS);
        let statistics = [row.mean_square, row.distance];
        for ((score, limit), statistic) in of_row.iter_mut().zip(self.row).zip(statistics) {
            *score = statistic.and_then(|statistic| limit.score(statistic)).unwrap_or(f32::NAN);
        }
        for ((state, limits), evidence) in states.iter_mut().zip(&self.channels).zip(&row.channels) {
            state.update(limits, 1.0 / f32::from(self.window), *evidence);
            let statistics = state.statistics(limits).into_iter().zip(limits.limits);
            for (score, (statistic, limit)) in of_channels.iter_mut().zip(statistics) {
                let found = evidence.and(limit.score(statistic)).unwrap_or(f32::NAN);
                *score = score.max(found);
            }
        }
        if row.counts { scores } else { [f32::NAN; ROW_STATISTICS + STATISTICS] }
    }
}

/// The largest score of each statistic in a row, over the channels; NaN for what is left out.
type RowScores = [f32; ROW_STATISTICS + STATISTICS];

#[cfg(test)]
mod tests;
