//! Calibration that follows the stream: factors on the variances, moved by the truth.

use super::input::RawRow;
use super::prediction::Output;
use crate::conformal::{LEVELS, ScaleTracker, is_missed, normal_quantile, stored_level};
use crate::format::F32s;
use crate::spec::TrackingSpec;

/// The tracking of a checkpoint.
#[derive(Clone, Copy, Debug)]
pub struct Tracking<'m> {
    tracker: ScaleTracker,
    /// Normal quantile of the wanted rate of misses.
    quantile: f32,
    /// Stored quantiles of its level: for output c at index `step` × c + `first`; none if `step` is 0.
    stored: F32s<'m>,
    first: usize,
    step: usize,
}

impl<'m> Tracking<'m> {
    pub(super) fn new(spec: TrackingSpec, quantiles: Option<F32s<'m>>) -> Self {
        let level = 1.0 - spec.miss_rate;
        let stored = quantiles.zip(stored_level(level));
        let (stored, first, step) =
            stored.map_or((F32s::default(), 0, 0), |(stored, index)| (stored, index, LEVELS.len()));
        Tracking {
            tracker: ScaleTracker::new(spec.rate, spec.miss_rate, spec.bound),
            quantile: normal_quantile(level),
            stored,
            first,
            step,
        }
    }

    /// Moves the factor of each output by the truth about its prediction; a missing truth changes nothing.
    #[inline(never)] // once in flash
    pub(super) fn observe(
        &self,
        scales: &mut [f32],
        predicted: impl Iterator<Item = Output>,
        truth: &RawRow<'_>,
    ) {
        for (index, (scale, output)) in scales.iter_mut().zip(predicted).enumerate() {
            if let Some(reading) = truth.reading(index) {
                let missed = is_missed(output.mean, output.variance, reading.value(), self.quantile(index));
                *scale = self.tracker.next(*scale, missed);
            }
        }
    }

    fn quantile(&self, output: usize) -> f32 {
        if self.step == 0 { self.quantile } else { self.stored.at(self.step * output + self.first) }
    }
}
