//! Saving and restoring what a readout has learned: weights, covariance, noise, and whether the last
//! prediction may still be learned from. The features follow from the stream's state.

use core::iter::{once, repeat_n};
use core::ops::RangeInclusive;

use super::covariance::COLUMN_LIMIT;
use super::readout::{NOISE_LIMIT, Readout};
use crate::limits::WEIGHT_LIMIT;

impl Readout<'_> {
    /// Numbers of a saved readout.
    pub(super) fn saved_words(&self) -> usize {
        let Readout { weights, noise, factors, .. } = self;
        weights.len() + noise.len() + factors.diagonal.len() + factors.columns.len() + 2
    }

    /// The numbers that are saved.
    pub(super) fn saved(&self) -> impl Iterator<Item = f32> + '_ {
        let Readout { weights, noise, factors, fresh, .. } = self;
        let lists = [&**weights, noise, factors.diagonal, factors.columns];
        let last = [factors.trace, if *fresh { 1.0 } else { 0.0 }];
        lists.into_iter().flatten().copied().chain(last)
    }

    /// Limits of the numbers that are saved, in order.
    pub(super) fn saved_limits(&self) -> impl Iterator<Item = RangeInclusive<f32>> + use<> {
        let Readout { weights, noise, factors, .. } = self;
        repeat_n(-WEIGHT_LIMIT..=WEIGHT_LIMIT, weights.len())
            .chain(repeat_n(0.0..=NOISE_LIMIT, noise.len()))
            .chain(repeat_n(factors.limits(), factors.diagonal.len()))
            .chain(repeat_n(-COLUMN_LIMIT..=COLUMN_LIMIT, factors.columns.len()))
            // The trace can exceed that of the prior where D is kept from falling below its smallest number.
            .chain(once(f32::MIN_POSITIVE..=f32::MAX))
            .chain(once(0.0..=1.0))
    }

    /// Takes over saved numbers that are within their limits.
    pub(super) fn restore(&mut self, saved: &[f32]) {
        let Readout { weights, noise, factors, fresh, .. } = self;
        let mut numbers = saved.iter().copied();
        let lists = [&mut **weights, noise, factors.diagonal, factors.columns];
        for word in lists.into_iter().flatten() {
            *word = numbers.next().unwrap_or(*word);
        }
        factors.trace = numbers.next().unwrap_or(factors.trace);
        *fresh = numbers.next().is_some_and(|word| word > 0.5);
    }
}
