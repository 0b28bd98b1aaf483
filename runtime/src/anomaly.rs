//! Statistics of a stream that gather evidence of faulty channels, a few words each.
//!
//! | statistic | of | sees |
//! |---|---|---|
//! | mean of z² over the row | residuals of the prediction | [`Unlikely`](AnomalyKind::Unlikely) rows |
//! | Mahalanobis distance per channel | the input density | [`Distant`](AnomalyKind::Distant) rows |
//! | cumulative sum of z | residuals of the prediction | [`Shifted`](AnomalyKind::Shifted) channels |
//! | moving average of z² | residuals of the prediction | [`Noisy`](AnomalyKind::Noisy) channels |
//! | its inverse | residuals of the prediction | [`Quiet`](AnomalyKind::Quiet) channels |
//! | moving average of z² | values given the others | [`Mismatched`](AnomalyKind::Mismatched) channels |
//! | moving average of squared increments | standardised values | [`Rough`](AnomalyKind::Rough) channels |
//! | its inverse | standardised values | [`Quiet`](AnomalyKind::Quiet) channels |
//! | length of a run of equal values | values | [`Stuck`](AnomalyKind::Stuck) channels |
//! | moving average of returns | values | [`Saturated`](AnomalyKind::Saturated) channels |
//! | outside of the plausible range | values | [`Implausible`](AnomalyKind::Implausible) channels |
//!
//! Cumulative sums are those of Page (1954, "Continuous inspection schemes"): S⁺ ← max(0, S⁺ + z − k) and
//! likewise S⁻ of −z, with a slack k that evidence has to exceed; moving averages those of Roberts (1959,
//! "Control chart tests based on geometric moving averages"): E ← E + λ (x − E). Both are kept below a cap,
//! so that a channel that has recovered is soon free of suspicion.
//!
//! A saturated channel repeats its limits with other values in between. The last value that was repeated is
//! remembered, one above the training mean and one below; a row that equals it is a return, the first of a
//! new run included. Returns far from the mean count more, x² up to 1, because many sound channels rest
//! near it.
//!
//! A statistic s becomes comparable with the others by its [`Limit`]: its score is (s − start) × weight,
//! where `start` is a high quantile of s on sound data and `weight` is chosen so that 1 is the limit for the
//! wanted rate of false alarms. If tails are exponential beyond `start`, equal scores are equally improbable.

mod channel;

pub(crate) use channel::state_limits;
pub use channel::{
    CHANNEL_KINDS, CHANNEL_NUMBERS, ChannelLimits, ChannelState, Evidence, RUN_CAP, SQUARE_CAP, STATE_WORDS,
    STATISTICS, SUM_CAP, Z_CAP, worst_of_channel,
};

/// Numbers for whole rows that a checkpoint holds.
pub const ROW_NUMBERS: usize = 4;
/// Largest magnitude of a score.
pub const SCORE_CAP: f32 = 1e6;

/// Score of an implausible value: twice the limit, because no sound row has one; not more, so that a graver
/// fault of another channel is still named.
pub const IMPLAUSIBLE_SCORE: f32 = 2.0;

/// What a statistic has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum AnomalyKind {
    /// The row is unlikely given the rows before it.
    Unlikely,
    /// The row is far from the training rows.
    Distant,
    /// A channel has been off its prediction for some time in one direction: an offset, a drift.
    Shifted,
    /// A channel has been predicted worse than usual for some time.
    Noisy,
    /// A channel has not been what the other channels suggest for some time: swapped, off, noisy.
    Mismatched,
    /// A channel changes more from row to row than it should.
    Rough,
    /// A channel changes less from row to row than it should, or is closer to its prediction than the error
    /// bar says.
    Quiet,
    /// A channel repeats one value: it is stuck or dead.
    Stuck,
    /// A channel returns to the same value above or below its mean: it is saturated.
    Saturated,
    /// The value of a channel is outside of its plausible range. It was treated as missing: no other
    /// statistic has seen it.
    Implausible,
}

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

/// The score of a statistic of the whole row.
pub fn of_row(kind: AnomalyKind, statistic: Option<f32>, limit: Limit) -> Option<Anomaly> {
    let score = limit.score(statistic?)?;
    Some(Anomaly { score, channel: None, kind })
}

#[cfg(test)]
mod tests;
