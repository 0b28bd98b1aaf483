//! Statistics of a stream that gather evidence of faulty channels, a few words each.
//!
//! | statistic | of | sees |
//! |---|---|---|
//! | mean of z² over the row | residuals of the prediction | [`Unlikely`](AnomalyKind::Unlikely) rows |
//! | Mahalanobis distance per channel | the input density | [`Distant`](AnomalyKind::Distant) rows |
//! | two-sided cumulative sum of z | residuals of the prediction; values given the other channels | [`Shifted`](AnomalyKind::Shifted) channels |
//! | moving average of z² | residuals of the prediction | [`Noisy`](AnomalyKind::Noisy) channels |
//! | moving average of squared increments | standardised values | [`Rough`](AnomalyKind::Rough) and [`Quiet`](AnomalyKind::Quiet) channels |
//! | length of a run of equal values | values | [`Stuck`](AnomalyKind::Stuck) and saturated channels |
//!
//! Cumulative sums are those of Page (1954, "Continuous inspection schemes"): S⁺ ← max(0, S⁺ + z − k) and
//! likewise S⁻ of −z, with a slack k that evidence has to exceed; moving averages those of Roberts (1959,
//! "Control chart tests based on geometric moving averages"): E ← E + λ (x − E). Both are kept below a cap, so
//! that a channel that has recovered is soon free of suspicion.
//!
//! A statistic s becomes comparable with the others by its [`Limit`]: its score is (s − start) × weight, where
//! `start` is a high quantile of s on sound data and `weight` is chosen so that 1 is the limit for the wanted
//! rate of false alarms. If tails are exponential beyond `start`, equal scores are equally improbable.

use core::ops::RangeInclusive;

use crate::limits::{UNIT_LIMIT, VAR_LIMIT};

/// Words of state per channel.
pub const STATE_WORDS: usize = 8;
/// Numbers per channel that a checkpoint holds.
pub const CHANNEL_NUMBERS: usize = 15;
/// Numbers for whole rows that a checkpoint holds.
pub const ROW_NUMBERS: usize = 4;
/// Statistics per channel.
pub const STATISTICS: usize = 6;

/// Largest |z| that enters a cumulative sum: a single outlier is evidence of a spike, not of a shift.
pub const Z_CAP: f32 = 4.0;
/// Largest cumulative sum.
pub const SUM_CAP: f32 = 20.0;
/// Largest square that enters a moving average, as a multiple of its expectation.
pub const SQUARE_CAP: f32 = 25.0;
/// Longest run that is counted.
pub const RUN_CAP: f32 = 4096.0;
/// Largest ratio by which increments may be smaller than expected.
pub const QUIET_CAP: f32 = 1000.0;
/// Largest magnitude of a score.
pub const SCORE_CAP: f32 = 1e6;

/// What a statistic has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum AnomalyKind {
    /// The row is unlikely given the rows before it.
    Unlikely,
    /// The row is far from the training rows.
    Distant,
    /// A channel has been off for some time in one direction: an offset, a drift, a swap.
    Shifted,
    /// A channel has been predicted worse than usual for some time.
    Noisy,
    /// A channel changes more from row to row than it should.
    Rough,
    /// A channel changes less from row to row than it should.
    Quiet,
    /// A channel repeats one value: it is stuck, dead or saturated.
    Stuck,
}

/// Kinds of the statistics of a channel, in the order of [`ChannelState::statistics`].
pub const CHANNEL_KINDS: [AnomalyKind; STATISTICS] = [
    AnomalyKind::Shifted,
    AnomalyKind::Noisy,
    AnomalyKind::Shifted,
    AnomalyKind::Rough,
    AnomalyKind::Quiet,
    AnomalyKind::Stuck,
];

/// The most suspicious statistic of a row. Printed as "stuck, channel 3 (score 1.8)".
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Anomaly {
    /// Score of the row: 1 is the limit that was chosen for a rate of false alarms, 0 the start of the tail
    /// of sound rows; most sound rows are below.
    pub score: f32,
    /// The channel at fault; `None` if it is the row as a whole.
    pub channel: Option<u16>,
    /// What was seen.
    pub kind: AnomalyKind,
}

impl Anomaly {
    /// Whether the score exceeds its limit.
    pub fn is_anomalous(&self) -> bool {
        self.score > 1.0
    }
}

/// Scale of a statistic: its score is (s − start) × weight. A weight of 0 leaves it out.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limit {
    /// Start of the tail on sound data.
    pub start: f32,
    /// Inverse of the distance from the start to the limit.
    pub weight: f32,
}

impl Limit {
    /// Score of a statistic; `None` if it is left out.
    #[inline]
    pub fn score(self, statistic: f32) -> Option<f32> {
        let score = clamp((statistic - self.start) * self.weight, -SCORE_CAP, SCORE_CAP);
        (self.weight > 0.0).then_some(score)
    }
}

/// Settings and limits of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelLimits {
    /// Slack k of the cumulative sum of the prediction's residuals.
    pub residual_slack: f32,
    /// Slack k of the cumulative sum of residuals given the other channels.
    pub neighbour_slack: f32,
    /// Expected squared increment of the standardised channel.
    pub increment: f32,
    /// Limits in the order of [`ChannelState::statistics`].
    pub limits: [Limit; STATISTICS],
}

impl ChannelLimits {
    /// The numbers as a checkpoint holds them.
    pub fn numbers(&self) -> [f32; CHANNEL_NUMBERS] {
        let [a, b, c, d, e, f] = self.limits.map(|limit| [limit.start, limit.weight]);
        let first = [self.residual_slack, self.neighbour_slack, self.increment];
        let mut all = first.into_iter().chain([a, b, c, d, e, f].into_iter().flatten());
        core::array::from_fn(|_| all.next().unwrap_or(0.0))
    }

    /// Reads [`numbers`](Self::numbers) back.
    pub fn of_numbers(numbers: [f32; CHANNEL_NUMBERS]) -> Self {
        let [residual_slack, neighbour_slack, increment, a, b, c, d, e, f, g, h, i, j, k, l] = numbers;
        let pairs = [[a, b], [c, d], [e, f], [g, h], [i, j], [k, l]];
        let limits = pairs.map(|[start, weight]| Limit { start, weight });
        ChannelLimits { residual_slack, neighbour_slack, increment, limits }
    }
}

/// What one row says about one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Evidence {
    /// Residual of the prediction in standard deviations; `None` for models of other columns.
    pub residual: Option<f32>,
    /// Residual given the other channels in standard deviations; `None` without an input density.
    pub neighbour: Option<f32>,
    /// The standardised value.
    pub value: f32,
}

/// Statistics of one channel of a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChannelState {
    /// S⁺ and S⁻ of the prediction's residuals.
    residual_sums: [f32; 2],
    /// Moving average of their squares.
    residual_square: f32,
    /// S⁺ and S⁻ of residuals given the other channels.
    neighbour_sums: [f32; 2],
    /// The last value, unless `run` is negative.
    last: f32,
    /// Moving average of squared increments.
    increment: f32,
    /// Repetitions of the last value; −1 if it was missing.
    run: f32,
}

impl ChannelState {
    /// State before the first row: no evidence.
    pub fn new(limits: &ChannelLimits) -> Self {
        ChannelState {
            residual_sums: [0.0; 2],
            residual_square: 1.0,
            neighbour_sums: [0.0; 2],
            last: 0.0,
            increment: limits.increment,
            run: -1.0,
        }
    }

    /// Takes in one row. `smoothing` is λ, one over the window of the moving averages. A missing channel
    /// changes nothing but the run, which ends.
    pub fn update(&mut self, limits: &ChannelLimits, smoothing: f32, evidence: Option<Evidence>) {
        let Some(Evidence { residual, neighbour, value }) = evidence else {
            self.run = -1.0;
            return;
        };
        if let Some(z) = residual {
            add(&mut self.residual_sums, z, limits.residual_slack);
            average(&mut self.residual_square, smoothing, z * z, SQUARE_CAP);
        }
        if let Some(z) = neighbour {
            add(&mut self.neighbour_sums, z, limits.neighbour_slack);
        }
        if self.run >= 0.0 {
            let increment = value - self.last;
            average(&mut self.increment, smoothing, increment * increment, SQUARE_CAP * limits.increment);
        }
        let repeated = self.run >= 0.0 && value == self.last;
        self.run = if repeated { clamp(self.run + 1.0, 0.0, RUN_CAP) } else { 0.0 };
        self.last = value;
    }

    /// The statistics: cumulative sum and moving average of the prediction's residuals, cumulative sum of
    /// residuals given the other channels, increments relative to what is expected, the inverse of that, and
    /// repetitions.
    pub fn statistics(&self, limits: &ChannelLimits) -> [f32; STATISTICS] {
        let largest = |[up, down]: [f32; 2]| if up > down { up } else { down };
        // A channel that never changed in training has no increments to compare with.
        let (rough, quiet) = if limits.increment > 0.0 {
            let ratio = clamp(self.increment / limits.increment, 1.0 / QUIET_CAP, SQUARE_CAP);
            (ratio, 1.0 / ratio)
        } else {
            (0.0, 0.0)
        };
        [
            largest(self.residual_sums),
            self.residual_square,
            largest(self.neighbour_sums),
            rough,
            quiet,
            self.run,
        ]
    }

    /// The state as words.
    pub fn words(&self) -> [f32; STATE_WORDS] {
        let [[a, b], [c, d]] = [self.residual_sums, self.neighbour_sums];
        [a, b, self.residual_square, c, d, self.last, self.increment, self.run]
    }

    /// Reads [`words`](Self::words) back.
    pub fn of_words([a, b, residual_square, c, d, last, increment, run]: [f32; STATE_WORDS]) -> Self {
        ChannelState { residual_sums: [a, b], residual_square, neighbour_sums: [c, d], last, increment, run }
    }
}

/// Limits of the words of a state, in order.
pub(crate) fn state_limits() -> [RangeInclusive<f32>; STATE_WORDS] {
    let sum = 0.0..=SUM_CAP;
    [
        sum.clone(),
        sum.clone(),
        0.0..=SQUARE_CAP,
        sum.clone(),
        sum,
        -UNIT_LIMIT..=UNIT_LIMIT,
        0.0..=SQUARE_CAP * VAR_LIMIT,
        -1.0..=RUN_CAP,
    ]
}

/// Page's two cumulative sums.
#[inline]
fn add([up, down]: &mut [f32; 2], z: f32, slack: f32) {
    let z = clamp(z, -Z_CAP, Z_CAP);
    *up = clamp(*up + z - slack, 0.0, SUM_CAP);
    *down = clamp(*down - z - slack, 0.0, SUM_CAP);
}

/// Roberts's moving average.
#[inline]
fn average(mean: &mut f32, smoothing: f32, square: f32, cap: f32) {
    let square = if square < cap { square } else { cap };
    *mean += smoothing * (square - *mean);
}

/// NaN becomes the lower end.
#[inline]
fn clamp(value: f32, low: f32, high: f32) -> f32 {
    let value = if value < high { value } else { high };
    if value > low { value } else { low }
}

/// The more suspicious of two anomalies.
#[inline]
pub fn worse(first: Option<Anomaly>, second: Option<Anomaly>) -> Option<Anomaly> {
    match (first, second) {
        (Some(first), Some(second)) => Some(if second.score > first.score { second } else { first }),
        (first, second) => first.or(second),
    }
}

/// The most suspicious statistic of a channel.
pub fn worst_of_channel(channel: u16, state: &ChannelState, limits: &ChannelLimits) -> Option<Anomaly> {
    let statistics = state.statistics(limits).into_iter().zip(limits.limits).zip(CHANNEL_KINDS);
    statistics
        .map(|((statistic, limit), kind)| {
            limit.score(statistic).map(|score| Anomaly { score, channel: Some(channel), kind })
        })
        .fold(None, worse)
}

/// The score of a statistic of the whole row.
pub fn of_row(kind: AnomalyKind, statistic: Option<f32>, limit: Limit) -> Option<Anomaly> {
    let score = limit.score(statistic?)?;
    Some(Anomaly { score, channel: None, kind })
}

#[cfg(test)]
mod tests;
