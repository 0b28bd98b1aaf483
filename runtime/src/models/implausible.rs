//! Values outside of the plausible ranges of their channels: missing for everything after, and counted.

use core::ops::RangeInclusive;

use super::embedded::{Constants, Embedded};
use super::model::Model;
use super::parts::Known;
use super::state::State;
use crate::arena::{ArenaSplitter, copy};
use crate::format::F32s;

/// Largest total: f32 counts every value up to here.
const TOTAL_LIMIT: f32 = 16_777_216.0;

/// Limits of a saved total.
pub(super) const TOTAL_LIMITS: RangeInclusive<f32> = 0.0..=TOTAL_LIMIT;

/// Channels per word of flags.
const FLAGS: usize = u32::BITS as usize;

/// NaN says that a channel is missing. Everything else outside of its range is implausible, and an
/// infinity is, whatever the range.
#[inline(always)]
fn is_implausible(value: f32, [low, high]: [f32; 2]) -> bool {
    let plausible = low <= value && value <= high && value.is_finite();
    !plausible && !value.is_nan()
}

/// The channels of a row whose values are outside of their ranges.
fn implausible_in<'r, 'm>(ranges: F32s<'m>, row: &'r [f32]) -> impl Iterator<Item = usize> + use<'r, 'm> {
    let compared = row.iter().zip(ranges.pairs()).enumerate();
    compared.filter(|(_, (value, range))| is_implausible(**value, *range)).map(|(channel, _)| channel)
}

/// Implausible values of one stream, in the caller's memory; no words for a model without ranges.
#[derive(Debug, Default)]
pub(super) struct Implausible<'a> {
    /// Number of values since the stream was reset; one word, or none.
    total: &'a mut [f32],
    /// One bit per channel of the row just read. Not part of what a stream remembers.
    flags: &'a mut [f32],
}

impl<'a> Implausible<'a> {
    /// Takes `count` words: the total, then the flags.
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, count: usize) -> Option<Self> {
        let total = words.carve(if count > 0 { 1 } else { 0 })?;
        Some(Implausible { total, flags: words.carve(count.saturating_sub(1))? })
    }

    /// Compares a row with its ranges, lower and upper limit of each channel; the result until the next row.
    #[inline(never)] // its registers are free again for the layers
    pub(super) fn read(&mut self, ranges: F32s<'_>, row: &[f32]) -> ImplausibleChannels<'_> {
        let mut found = 0.0;
        self.flags.fill(0.0);
        for (channel, (value, range)) in row.iter().zip(ranges.pairs()).enumerate() {
            if is_implausible(*value, range) {
                found += 1.0;
                if let Some(word) = self.flags.get_mut(channel / FLAGS) {
                    *word = f32::from_bits(word.to_bits() | 1 << (channel % FLAGS));
                }
            }
        }
        if found == 0.0 {
            return ImplausibleChannels::default();
        }
        if let [total] = self.total {
            let sum = *total + found;
            *total = if sum < TOTAL_LIMIT { sum } else { TOTAL_LIMIT };
        }
        self.channels()
    }

    /// Implausible channels of the row just read.
    pub(super) fn channels(&self) -> ImplausibleChannels<'_> {
        ImplausibleChannels { flags: self.flags }
    }

    /// Number of values since the stream was reset.
    pub(super) fn count(&self) -> u32 {
        self.total.first().map_or(0, |total| *total as u32)
    }

    /// The numbers that are saved.
    pub(super) fn saved(&self) -> impl Iterator<Item = f32> + '_ {
        self.total.iter().copied()
    }

    /// Takes over a saved total.
    pub(super) fn restore(&mut self, saved: &[f32]) {
        copy(self.total, saved);
        self.forget_row();
    }

    /// Forgets which channels of the last row were implausible.
    pub(super) fn forget_row(&mut self) {
        self.flags.fill(0.0);
    }

    pub(super) fn reset(&mut self) {
        self.total.fill(0.0);
        self.forget_row();
    }

    pub(super) fn copy_from(&mut self, other: &Implausible<'_>) {
        copy(self.total, other.total);
        copy(self.flags, other.flags);
    }
}

/// A set of channels: one bit each.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ImplausibleChannels<'r> {
    flags: &'r [f32],
}

impl<'r> ImplausibleChannels<'r> {
    /// Whether a row can have none, without looking at every channel.
    pub(super) fn is_empty(self) -> bool {
        self.flags.is_empty()
    }

    pub(super) fn contains(self, channel: usize) -> bool {
        self.flags.get(channel / FLAGS).is_some_and(|word| word.to_bits() >> (channel % FLAGS) & 1 > 0)
    }

    /// The channels in order.
    pub(super) fn iter(self) -> impl Iterator<Item = usize> + 'r {
        (0..FLAGS * self.flags.len()).filter(move |channel| self.contains(*channel))
    }
}

impl<'m> Model<'m> {
    /// Plausible range of each input in raw units: lower and upper limit, infinite where there is none. Empty
    /// without [`Extensions::ranges`](crate::checkpoint::Extensions::ranges) in the checkpoint.
    ///
    /// A step treats a value outside as missing: it is imputed with a variance, and neither scored nor
    /// learned from. [`Prediction::implausible`](crate::Prediction::implausible) names its channel.
    ///
    /// ```
    /// # static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
    /// # let mut arena = quaver::Arena::<{ quaver::arena_words(MODEL) }>::new();
    /// let mut predictor = quaver::Predictor::load(MODEL, &mut arena)?;
    /// // The third electrode's amplifier is at its rail.
    /// let prediction = predictor.step(&[14.0, 9.5, 32767.0, 4.25, 6.0, 11.5, 20.25, 17.0]);
    /// assert!(prediction.implausible().eq([2]));
    /// assert_eq!(predictor.implausible_count(), 1);
    /// # Ok::<(), quaver::Error>(())
    /// ```
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = [f32; 2]> + use<'m> {
        self.held.parts.ranges.pairs()
    }

    /// The channels of a row whose values are outside of their [plausible ranges](Self::ranges), in order;
    /// infinities are among them. What a step of this row would treat as missing, without a stream.
    pub fn implausible_in<'r>(&self, row: &'r [f32]) -> impl Iterator<Item = usize> + use<'r, 'm> {
        implausible_in(self.held.parts.ranges, row)
    }
}

impl<E: Embedded> Model<'static, E> {
    /// As of a model that is loaded: the plausible range of each input.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = [f32; 2]> + use<E> {
        Constants::<E>::parts().ranges.pairs()
    }

    /// As of a model that is loaded: the channels of a row whose values are outside of their ranges.
    pub fn implausible_in<'r>(&self, row: &'r [f32]) -> impl Iterator<Item = usize> + use<'r, E> {
        implausible_in(Constants::<E>::parts().ranges, row)
    }
}

impl<K: Known> Model<'_, K> {
    /// Number of implausible values that a stream has read since it was started or reset: 16,777,216 stands
    /// for that number or more. Part of what is [saved](Self::save).
    pub fn implausible_count(&self, state: &State<'_>) -> u32 {
        state.outputs.implausible.count()
    }

    /// The channels of a row that are implausible; nothing to do for a model without ranges.
    #[inline(always)]
    pub(super) fn check_row<'r>(
        &self,
        row: &[f32],
        implausible: &'r mut Implausible<'_>,
    ) -> ImplausibleChannels<'r> {
        let ranges = self.held.parts().ranges;
        match ranges.words() {
            [] => ImplausibleChannels::default(),
            _ => implausible.read(ranges, row),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    fn read(ranges: &[[f32; 2]], row: &[f32], words: &mut [f32]) -> Vec<usize> {
        let bytes: Vec<u8> = ranges.iter().flatten().flat_map(|limit| limit.to_le_bytes()).collect();
        let count = words.len();
        let mut implausible = Implausible::carve(&mut ArenaSplitter::new(words), count).unwrap();
        implausible.read(F32s::new(&bytes), row).iter().collect()
    }

    #[test]
    fn limits_are_plausible_and_what_lies_beyond_is_not() {
        let above = |x: f32| f32::from_bits(x.to_bits() + 1);
        let ranges = [[-1.0, 2.0], [0.0, f32::INFINITY], [f32::NEG_INFINITY, f32::INFINITY]];
        let mut words = [0.0; 2];
        assert!(read(&ranges, &[-1.0, 0.0, f32::MIN], &mut words).is_empty());
        assert!(read(&ranges, &[2.0, -0.0, f32::MAX], &mut words).is_empty());
        assert!(read(&ranges, &[f32::NAN; 3], &mut words).is_empty(), "NaN is missing, not implausible");
        assert_eq!(words[0], 0.0);
        assert_eq!(read(&ranges, &[above(2.0), -above(0.0), 0.0], &mut words), [0, 1]);
        assert_eq!(read(&ranges, &[-above(1.0)], &mut words), [0], "a short row");
        assert_eq!(read(&ranges, &[f32::INFINITY; 4], &mut words), [0, 1, 2]);
        assert_eq!(read(&ranges, &[f32::NEG_INFINITY; 3], &mut words), [0, 1, 2]);
        assert_eq!(words[0], 9.0);
    }

    #[test]
    fn flags_reach_every_channel_and_the_total_saturates() {
        let ranges = [[0.0, 1.0]; 70];
        let mut words = [0.0; 4];
        let row: Vec<f32> = (0..70).map(|channel| if channel % 23 == 0 { 5.0 } else { 0.5 }).collect();
        assert_eq!(read(&ranges, &row, &mut words), [0, 23, 46, 69]);
        words[0] = TOTAL_LIMIT - 3.0;
        read(&ranges, &row, &mut words);
        assert_eq!(words[0], TOTAL_LIMIT);
        read(&ranges, &row, &mut words);
        assert_eq!(words[0], TOTAL_LIMIT);
    }
}
