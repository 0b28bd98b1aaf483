//! Limits of the runtime's anomaly detection for a rate of false alarms, from sound recordings.
//!
//! 1. The slack of each cumulative sum is the smallest with which the sum returns to zero on sound rows:
//!    residuals that are correlated in time need more.
//! 2. Each statistic is scaled by the mean of its excesses over its 99 % quantile. If tails are exponential,
//!    scores of all statistics then have the same tail (mean excess of peaks over a threshold; Coles 2001,
//!    *An Introduction to Statistical Modeling of Extreme Values*, sec. 4.3), and their maximum is worth
//!    taking.
//! 3. The limit is that of the maximum, at the rate of alarms asked for ([`alarm_threshold`]), and the larger
//!    of those on training and on validation data.

use quaver::anomaly::{
    AnomalyKind, ChannelLimits, ChannelState, Limit, STATISTICS, SUM_CAP, Z_CAP, of_row, worse,
    worst_of_channel,
};
use serde::Serialize;

use super::anomaly_evidence::{RowEvidence, evidence};
use crate::data::{Scaler, Sequence};
use crate::evaluate::{AlarmThreshold, ThresholdSource, alarm_threshold};

/// Window of the moving averages in rows.
const WINDOW: u16 = 32;
/// Slacks of cumulative sums to choose from; with the last, sums stay at zero.
const SLACKS: [f32; 5] = [0.25, 0.5, 1.0, 2.0, Z_CAP];
/// Where the tail of a statistic starts.
const START_QUANTILE: f64 = 0.99;
/// Place of the runs among the statistics of a channel, and their least mean excess: values that never repeat
/// in sound rows tell nothing about how long a run has to be.
const RUNS: usize = STATISTICS - 1;
const LEAST_RUN_EXCESS: f32 = 0.5;

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
    /// How the limit was found.
    pub source: ThresholdSource,
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
    rows_per_alarm: f64,
) -> Result<AnomalyLimits, quaver::Error> {
    let splits: Vec<Vec<Vec<RowEvidence>>> = splits
        .iter()
        .map(|sequences| evidence(bytes, scaler, precision, sequences))
        .collect::<Result<_, _>>()?;
    let sequences: Vec<&Vec<RowEvidence>> = splits.iter().flatten().collect();
    let mut fit = Fit { row: [Limit::default(); 2], channels: settings(&sequences, scaler.channels()) };
    fit.scale(&sequences);
    let thresholds = splits.iter().filter_map(|split| {
        let scores: Vec<Vec<f32>> = split.iter().map(|rows| fit.scores(rows)).collect();
        alarm_threshold(&scores, rows_per_alarm)
    });
    let highest = thresholds.max_by(|a, b| a.threshold.total_cmp(&b.threshold));
    let none = AlarmThreshold { threshold: 1.0, source: ThresholdSource::LargestSound };
    let AlarmThreshold { threshold, source } = highest.unwrap_or(none);
    // Scores of sound rows below the start of all tails would make every tail an alarm.
    fit.divide(threshold.max(1.0) as f32);
    let rows = sequences.iter().map(|rows| rows.iter().filter(|row| row.counts).count()).sum();
    Ok(AnomalyLimits { window: WINDOW, row: fit.row, channels: fit.channels, rows_per_alarm, rows, source })
}

/// Expected increments and slacks of the channels, without limits.
fn settings(sequences: &[&Vec<RowEvidence>], channels: usize) -> Vec<ChannelLimits> {
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
    let mut open = vec![[true; 2]; channels];
    for slack in SLACKS {
        for (limits, open) in found.iter_mut().zip(&open) {
            let [residual, neighbour] = open;
            limits.residual_slack = if *residual { slack } else { limits.residual_slack };
            limits.neighbour_slack = if *neighbour { slack } else { limits.neighbour_slack };
        }
        let statistics = statistics(sequences, &found);
        for (open, all) in open.iter_mut().zip(&statistics) {
            for (open, sums) in open.iter_mut().zip([&all[0], &all[2]]) {
                *open &= quantile(sums, START_QUANTILE) > 0.5 * SUM_CAP;
            }
        }
    }
    found
}

/// Values of every statistic in rows that count, by channel and statistic, in ascending order.
fn statistics(sequences: &[&Vec<RowEvidence>], limits: &[ChannelLimits]) -> Vec<[Vec<f32>; STATISTICS]> {
    let mut found: Vec<[Vec<f32>; STATISTICS]> = vec![Default::default(); limits.len()];
    for rows in sequences {
        for (channel, (limits, found)) in limits.iter().zip(&mut found).enumerate() {
            let mut state = ChannelState::new(limits);
            for row in *rows {
                state.update(limits, 1.0 / f32::from(WINDOW), row.channels[channel]);
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

/// The start of a tail, and one over its mean excess, which is at least `least`.
fn tail(ascending: &[f32], least: f32) -> Limit {
    let start = quantile(ascending, START_QUANTILE).max(0.0);
    let excesses: Vec<f32> =
        ascending.iter().filter(|value| **value > start).map(|value| value - start).collect();
    let mean = excesses.iter().sum::<f32>() / excesses.len().max(1) as f32;
    Limit { start, weight: 1.0 / mean.max(least).max(0.01 * start).max(1e-6) }
}

/// Limits as they are found.
struct Fit {
    row: [Limit; 2],
    channels: Vec<ChannelLimits>,
}

impl Fit {
    /// Scales every statistic by its tail. What a model has no evidence of is left out.
    fn scale(&mut self, sequences: &[&Vec<RowEvidence>]) {
        let rows = || sequences.iter().flat_map(|rows| rows.iter()).filter(|row| row.counts);
        let row_statistic = |of: fn(&RowEvidence) -> Option<f32>| {
            let mut values: Vec<f32> = rows().filter_map(of).collect();
            values.sort_unstable_by(f32::total_cmp);
            if values.is_empty() { Limit::default() } else { tail(&values, 0.0) }
        };
        self.row = [row_statistic(|row| row.mean_square), row_statistic(|row| row.distance)];
        let any = |has: fn(&RowEvidence, usize) -> bool, channel| rows().any(|row| has(row, channel));
        let statistics = statistics(sequences, &self.channels);
        for (channel, (limits, all)) in self.channels.iter_mut().zip(&statistics).enumerate() {
            // A channel that never changes cannot be told from a stuck one.
            if limits.increment == 0.0 {
                continue;
            }
            let residual =
                any(|row, channel| row.channels[channel].is_some_and(|e| e.residual.is_some()), channel);
            let neighbour =
                any(|row, channel| row.channels[channel].is_some_and(|e| e.neighbour.is_some()), channel);
            let used = [residual, residual, neighbour, true, true, true];
            for (index, (limit, values)) in limits.limits.iter_mut().zip(all).enumerate() {
                let least = if index == RUNS { LEAST_RUN_EXCESS } else { 0.0 };
                *limit = if used[index] { tail(values, least) } else { Limit::default() };
            }
        }
    }

    /// Scores of the rows of a sequence; NaN where a row does not count.
    fn scores(&self, rows: &[RowEvidence]) -> Vec<f32> {
        let mut states: Vec<ChannelState> = self.channels.iter().map(ChannelState::new).collect();
        let mut score = |row: &RowEvidence| {
            let [unlikely, distant] = self.row;
            let mut worst = worse(
                of_row(AnomalyKind::Unlikely, row.mean_square, unlikely),
                of_row(AnomalyKind::Distant, row.distance, distant),
            );
            for ((state, limits), evidence) in states.iter_mut().zip(&self.channels).zip(&row.channels) {
                state.update(limits, 1.0 / f32::from(WINDOW), *evidence);
                if evidence.is_some() {
                    worst = worse(worst, worst_of_channel(0, state, limits));
                }
            }
            worst.filter(|_| row.counts).map_or(f32::NAN, |worst| worst.score)
        };
        rows.iter().map(&mut score).collect()
    }

    /// Divides all scores by the limit of their maximum, which then is 1.
    fn divide(&mut self, threshold: f32) {
        let channels = self.channels.iter_mut().flat_map(|channel| &mut channel.limits);
        self.row.iter_mut().chain(channels).for_each(|limit| limit.weight /= threshold);
    }
}

#[cfg(test)]
mod tests;
