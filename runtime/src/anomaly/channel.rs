//! Statistics of one channel.

use core::ops::RangeInclusive;

use super::{Anomaly, AnomalyKind, Limit, clamp, worse};
use crate::limits::{UNIT_LIMIT, VAR_LIMIT};

/// Words of state per channel.
pub const STATE_WORDS: usize = 10;
/// Numbers per channel that a checkpoint holds.
pub const CHANNEL_NUMBERS: usize = 2 + 2 * STATISTICS;
/// Statistics per channel.
pub const STATISTICS: usize = 8;

/// Largest |z| that enters a cumulative sum: a single outlier is evidence of a spike, not of a shift.
pub const Z_CAP: f32 = 4.0;
/// Largest cumulative sum.
pub const SUM_CAP: f32 = 20.0;
/// Largest square that enters a moving average, as a multiple of its expectation; averages count as at most
/// this many times smaller than expected, too.
pub const SQUARE_CAP: f32 = 25.0;
/// Longest run that is counted.
pub const RUN_CAP: f32 = 4096.0;
/// Weight of a return to a repeated value at the training mean; that of one by a standard deviation is 1.
const LEAST_RETURN: f32 = 1.0 / 16.0;

/// Kinds of the statistics of a channel, in the order of [`ChannelState::statistics`].
pub const CHANNEL_KINDS: [AnomalyKind; STATISTICS] = [
    AnomalyKind::Shifted,
    AnomalyKind::Noisy,
    AnomalyKind::Quiet,
    AnomalyKind::Mismatched,
    AnomalyKind::Rough,
    AnomalyKind::Quiet,
    AnomalyKind::Stuck,
    AnomalyKind::Saturated,
];

/// Settings and limits of one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChannelLimits {
    /// Slack k of the cumulative sum of the prediction's residuals.
    pub slack: f32,
    /// Expected squared increment of the standardised channel.
    pub increment: f32,
    /// Limits in the order of [`ChannelState::statistics`].
    pub limits: [Limit; STATISTICS],
}

impl ChannelLimits {
    /// The numbers as a checkpoint holds them.
    pub fn numbers(&self) -> [f32; CHANNEL_NUMBERS] {
        let pairs = self.limits.iter().flat_map(|limit| [limit.start, limit.weight]);
        let mut all = [self.slack, self.increment].into_iter().chain(pairs);
        core::array::from_fn(|_| all.next().unwrap_or(0.0))
    }

    /// Reads [`numbers`](Self::numbers) back.
    pub fn of_numbers(numbers: [f32; CHANNEL_NUMBERS]) -> Self {
        let [slack, increment, pairs @ ..] = numbers;
        let mut pairs = pairs.as_chunks::<2>().0.iter();
        let limits = core::array::from_fn(|_| match pairs.next() {
            Some([start, weight]) => Limit { start: *start, weight: *weight },
            None => Limit::default(),
        });
        ChannelLimits { slack, increment, limits }
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
    sums: [f32; 2],
    /// Moving average of their squares.
    residual_square: f32,
    /// Moving average of squared residuals given the other channels.
    neighbour_square: f32,
    /// The last value, unless `run` is negative.
    last: f32,
    /// Moving average of squared increments.
    increment: f32,
    /// Repetitions of the last value; −1 if it was missing.
    run: f32,
    /// Moving average of returns to repeated values.
    returns: f32,
    /// The last repeated value that was not negative, and the last that was.
    repeated: [f32; 2],
}

impl ChannelState {
    /// State before the first row: no evidence.
    pub fn new(limits: &ChannelLimits) -> Self {
        ChannelState {
            sums: [0.0; 2],
            residual_square: 1.0,
            neighbour_square: 1.0,
            last: 0.0,
            increment: limits.increment,
            run: -1.0,
            returns: 0.0,
            repeated: [0.0; 2],
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
            add(&mut self.sums, z, limits.slack);
            average(&mut self.residual_square, smoothing, z * z, SQUARE_CAP);
        }
        if let Some(z) = neighbour {
            average(&mut self.neighbour_square, smoothing, z * z, SQUARE_CAP);
        }
        if self.run >= 0.0 {
            let increment = value - self.last;
            average(&mut self.increment, smoothing, increment * increment, SQUARE_CAP * limits.increment);
        }
        self.compare(smoothing, value);
    }

    /// Counts repetitions and returns.
    #[inline]
    fn compare(&mut self, smoothing: f32, value: f32) {
        let [above, below] = &mut self.repeated;
        let remembered = if value < 0.0 { below } else { above };
        let is_repeated = self.run >= 0.0 && value == self.last;
        let is_return = is_repeated || value == *remembered;
        if is_repeated {
            *remembered = value;
        }
        let weight = if is_return { clamp(value * value, LEAST_RETURN, 1.0) } else { 0.0 };
        average(&mut self.returns, smoothing, weight, 1.0);
        self.run = if is_repeated { clamp(self.run + 1.0, 0.0, RUN_CAP) } else { 0.0 };
        self.last = value;
    }

    /// The statistics: cumulative sum and moving average of the prediction's residuals, the inverse of that
    /// average, moving average of residuals given the other channels, increments relative to what is
    /// expected, the inverse of that, repetitions, and returns to repeated values.
    pub fn statistics(&self, limits: &ChannelLimits) -> [f32; STATISTICS] {
        let [up, down] = self.sums;
        let inverse = |square: f32| 1.0 / clamp(square, 1.0 / SQUARE_CAP, SQUARE_CAP);
        // A channel that never changed in training has no increments to compare with.
        let (rough, quiet) = if limits.increment > 0.0 {
            let ratio = clamp(self.increment / limits.increment, 1.0 / SQUARE_CAP, SQUARE_CAP);
            (ratio, 1.0 / ratio)
        } else {
            (0.0, 0.0)
        };
        [
            if up > down { up } else { down },
            self.residual_square,
            inverse(self.residual_square),
            self.neighbour_square,
            rough,
            quiet,
            self.run,
            self.returns,
        ]
    }

    /// The state as words.
    pub fn words(&self) -> [f32; STATE_WORDS] {
        let [[a, b], [c, d]] = [self.sums, self.repeated];
        let [square, neighbour] = [self.residual_square, self.neighbour_square];
        [a, b, square, neighbour, self.last, self.increment, self.run, self.returns, c, d]
    }

    /// Reads [`words`](Self::words) back.
    pub fn of_words(words: [f32; STATE_WORDS]) -> Self {
        let [a, b, residual_square, neighbour_square, last, increment, run, returns, c, d] = words;
        let (sums, repeated) = ([a, b], [c, d]);
        ChannelState { sums, residual_square, neighbour_square, last, increment, run, returns, repeated }
    }
}

/// Limits of the words of a state, in order.
pub(crate) fn state_limits() -> [RangeInclusive<f32>; STATE_WORDS] {
    let (sum, square, value) = (0.0..=SUM_CAP, 0.0..=SQUARE_CAP, -UNIT_LIMIT..=UNIT_LIMIT);
    [
        sum.clone(),
        sum,
        square.clone(),
        square,
        value.clone(),
        0.0..=SQUARE_CAP * VAR_LIMIT,
        -1.0..=RUN_CAP,
        0.0..=1.0,
        value.clone(),
        value,
    ]
}

/// Page's two cumulative sums.
#[inline]
pub(super) fn add([up, down]: &mut [f32; 2], z: f32, slack: f32) {
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

/// The most suspicious statistic of a channel.
pub fn worst_of_channel(channel: u16, state: &ChannelState, limits: &ChannelLimits) -> Option<Anomaly> {
    let statistics = state.statistics(limits).into_iter().zip(limits.limits).zip(CHANNEL_KINDS);
    statistics
        .map(|((statistic, limit), kind)| {
            limit.score(statistic).map(|score| Anomaly { score, channel: Some(channel), kind })
        })
        .fold(None, worse)
}
