//! The last prediction of a stream and how the sample after it compares, in the caller's memory.

use super::input::{RawRow, Reading};
use super::prediction::{Output, Prediction, Surprise, outputs};
use super::surprise::score;
use super::words::Words;
use crate::checkpoint::Likelihood;

/// Means and the two parts of variances, one list each.
pub(super) type Places<'p> = [&'p mut [f32]; 3];

/// What a stream said last, and how surprising the sample just seen was.
#[derive(Debug)]
pub(super) struct Outputs<'a> {
    /// The prediction in raw units.
    pub(super) mean: &'a mut [f32],
    pub(super) epistemic: &'a mut [f32],
    pub(super) aleatoric: &'a mut [f32],
    /// Standardised residuals of the sample just seen; NaN where it was missing.
    z: &'a mut [f32],
    /// Negative log-likelihood of the sample just seen.
    nll: Option<f32>,
}

impl<'a> Outputs<'a> {
    pub(super) fn divide(words: &mut Words<'a>, count: u16) -> Option<Self> {
        let mut list = || words.take(count.into());
        Some(Outputs { mean: list()?, epistemic: list()?, aleatoric: list()?, z: list()?, nll: None })
    }

    /// What stands in for channel `channel` of a sample when it is missing: its prediction, mean and variance.
    pub(super) fn stand_in(&self, channel: usize) -> Option<Reading> {
        let parts = [&*self.mean, &*self.epistemic, &*self.aleatoric].map(|list| list.get(channel).copied());
        let [Some(mean), Some(epistemic), Some(aleatoric)] = parts else { return None };
        Reading::new(mean, Output::of(mean, epistemic, aleatoric).variance)
    }

    /// Where a network writes its outputs.
    pub(super) fn places(&mut self) -> Places<'_> {
        [self.mean, self.epistemic, self.aleatoric]
    }

    /// The prediction, as far as it is saved.
    pub(super) fn saved(&self) -> impl Iterator<Item = f32> + '_ {
        [&*self.mean, &*self.epistemic, &*self.aleatoric].into_iter().flatten().copied()
    }

    /// Takes over a saved prediction.
    pub(super) fn restore(&mut self, saved: &[f32]) {
        let places = self.places().into_iter().flatten();
        places.zip(saved).for_each(|(place, value)| *place = *value);
        self.forget_surprise();
    }

    /// Scores a row against the prediction made before it.
    #[inline(never)] // its stack is free again for what comes after
    pub(super) fn judge(&mut self, likelihood: Likelihood, row: RawRow<'_>) {
        let predicted = outputs(self.mean, self.epistemic, self.aleatoric);
        let mut total = None;
        for (channel, (z, output)) in self.z.iter_mut().zip(predicted).enumerate() {
            let scored = row.reading(channel).map(|reading| score(likelihood, output, reading.value()));
            *z = scored.as_ref().map_or(f32::NAN, |score| score.z);
            if let Some(score) = scored {
                total = Some(total.unwrap_or(0.0) + score.nll);
            }
        }
        self.nll = total;
    }

    pub(super) fn forget_surprise(&mut self) {
        self.z.fill(f32::NAN);
        self.nll = None;
    }

    /// What the stream tells its user.
    pub(super) fn prediction(&self) -> Prediction<'_> {
        let surprise = self.nll.map(|nll| Surprise { nll, z: self.z });
        Prediction::new(self.mean, self.epistemic, self.aleatoric, surprise)
    }
}
