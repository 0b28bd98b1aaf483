//! State of one stream: data that can be saved, restored, copied and reset.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::implausible::TOTAL_LIMITS;
use super::input_density::StandardisedRow;
use super::linear_part::{RowRing, ring_limits};
use super::outputs::Outputs;
use crate::anomaly::{self, STATE_WORDS};
use crate::arena::ArenaSplitter;
use crate::backend::{NetworkMemory, restore_state, save_state, state_fault};
use crate::conformal::ScaleTracker;
use crate::format::Error;
use crate::limits::UNIT_LIMIT;
use crate::spec::ModelSpec;

/// State of one stream, in the caller's arena.
///
/// Made by [`Model::start`](crate::Model::start).
#[derive(Debug, Default)]
pub struct State<'a> {
    /// State of the layers, in the format of the model's backend.
    pub(super) recurrent: &'a mut [f32],
    /// The last prediction, and the score of the sample just read.
    pub(super) outputs: Outputs<'a>,
    /// The row just read; not part of what a stream remembers.
    pub(super) row: StandardisedRow<'a>,
    /// Factors on the variances of outputs, which follow the truth.
    pub(super) scales: &'a mut [f32],
    /// Evidence of faults.
    pub(super) evidence: &'a mut [f32],
    /// The last rows, where a linear part reads them.
    pub(super) ring: RowRing<'a>,
    /// Whether the truth moves the factors.
    pub(super) tracks: bool,
    /// Noisy input of the affine map at work. Not part of what a stream remembers.
    pub(super) scratch: &'a mut [f32],
}

impl<'a> State<'a> {
    /// Whether the truth moves the width of the error bars; on at the start. Without
    /// [`Extensions::tracking`](crate::checkpoint::Extensions::tracking) in the checkpoint it has no effect.
    ///
    /// Switched off, the widths stay as they are; [`reset`](crate::Model::reset) brings them back to those of
    /// the checkpoint. The setting itself is neither reset nor saved.
    pub fn track(&mut self, on: bool) {
        self.tracks = on;
    }

    /// Carves up an arena's words; their contents stay as they are.
    pub(super) fn carve(memory: NetworkMemory, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: memory.arena_words(), found: words.len() };
        let NetworkMemory { outputs, recurrent, row, scales, evidence, implausible, ring, scratch, .. } =
            memory;
        let mut words = ArenaSplitter::new(words);
        let mut state = || {
            Some(State {
                recurrent: words.carve(recurrent)?,
                outputs: Outputs::carve(&mut words, outputs as u16, implausible)?,
                row: StandardisedRow::carve(&mut words, row)?,
                scales: words.carve(scales)?,
                evidence: words.carve(evidence)?,
                ring: RowRing::carve(&mut words, ring)?,
                tracks: true,
                scratch: words.carve(scratch)?,
            })
        };
        state().ok_or(too_small)
    }

    /// An error unless every number is one that steps can have left.
    pub(super) fn check(&self, spec: &ModelSpec) -> Result<(), Error> {
        let State { recurrent, outputs, scales, evidence, ring, .. } = self;
        let followed = scales.iter().chain(evidence.iter()).copied();
        let numbers = outputs.saved().chain(followed);
        let limits = prediction_limits(spec.outputs).chain(followed_limits(spec));
        let total = outputs.implausible.saved().zip(total_limits(spec));
        check_memory([(spec, &**recurrent)], numbers.zip(limits).chain(ring.check(spec)).chain(total))
    }

    /// Copies the state into `words`.
    pub(super) fn save(&self, spec: &ModelSpec, words: &mut [f32]) -> Result<(), Error> {
        let wrong_length = Error::State { needed: spec.saved_words(), found: words.len() };
        if words.len() != spec.saved_words() {
            return Err(wrong_length);
        }
        let (recurrent, prediction) =
            words.split_at_mut_checked(spec.saved_state_words()).ok_or(wrong_length)?;
        save_state(spec, self.recurrent, recurrent);
        let followed = self.scales.iter().chain(self.evidence.iter()).copied();
        prediction
            .iter_mut()
            .zip(
                self.outputs
                    .saved()
                    .chain(followed)
                    .chain(self.ring.saved(spec))
                    .chain(self.outputs.implausible.saved()),
            )
            .for_each(|(word, value)| *word = value);
        Ok(())
    }

    /// Restores a saved state if every word of it is possible; otherwise the state is unchanged.
    pub(super) fn restore(&mut self, spec: &ModelSpec, words: &[f32]) -> Result<(), Error> {
        let limits = recurrent_limits(spec)
            .chain(prediction_limits(spec.outputs))
            .chain(followed_limits(spec))
            .chain(ring_limits(spec))
            .chain(total_limits(spec));
        check_saved(words, spec.saved_words(), limits)?;
        let (recurrent, prediction) = words.split_at_checked(spec.saved_state_words()).unwrap_or_default();
        restore_state(spec, self.recurrent, recurrent);
        self.outputs.restore(prediction);
        let (_, followed) = prediction.split_at_checked(3 * usize::from(spec.outputs)).unwrap_or_default();
        let words = self.scales.iter_mut().chain(self.evidence.iter_mut());
        words.zip(followed).for_each(|(word, value)| *word = *value);
        let rows = followed.get(spec.scale_words() + spec.evidence_words()..).unwrap_or_default();
        self.ring.restore(spec, rows);
        self.outputs.implausible.restore(saved_total(spec, prediction));
        Ok(())
    }
}

/// The total of implausible values at the end of a saved state; empty for a model without ranges.
pub(super) fn saved_total<'s>(spec: &ModelSpec, words: &'s [f32]) -> &'s [f32] {
    let start = words.len().saturating_sub(spec.total_words());
    words.get(start..).unwrap_or_default()
}

/// Limits of that total.
pub(super) fn total_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> + use<> {
    repeat_n(TOTAL_LIMITS, spec.total_words())
}

/// Checks the length and the values of a saved state.
pub(super) fn check_saved(
    words: &[f32],
    needed: usize,
    limits: impl Iterator<Item = RangeInclusive<f32>>,
) -> Result<(), Error> {
    if needed != words.len() {
        return Err(Error::State { needed, found: words.len() });
    }
    match words.iter().zip(limits).position(|(value, limits)| !limits.contains(value)) {
        Some(word) => Err(Error::StateValue { word }),
        None => Ok(()),
    }
}

/// Checks the layers of networks, as they are in memory, and then numbers against their limits.
pub(super) fn check_memory<'s>(
    networks: impl IntoIterator<Item = (&'s ModelSpec, &'s [f32])>,
    mut numbers: impl Iterator<Item = (f32, RangeInclusive<f32>)>,
) -> Result<(), Error> {
    let mut before = 0;
    for (spec, recurrent) in networks {
        if let Some(word) = state_fault(spec, recurrent, recurrent_limits(spec)) {
            return Err(Error::StateValue { word: before + word });
        }
        before += recurrent.len();
    }
    match numbers.position(|(value, limits)| !limits.contains(&value)) {
        Some(word) => Err(Error::StateValue { word: before + word }),
        None => Ok(()),
    }
}

/// Limits of the numbers of a network's layers, in order.
pub(super) fn recurrent_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> + '_ {
    spec.layers
        .iter()
        .flat_map(|layer| (0..layer.cell.states()).flat_map(move |_| moment_limits(layer.units.into())))
}

/// Limits of the means and then the variances of `count` standardised quantities.
pub(super) fn moment_limits(count: usize) -> impl Iterator<Item = RangeInclusive<f32>> {
    let limits = [-UNIT_LIMIT..=UNIT_LIMIT, 0.0..=UNIT_LIMIT * UNIT_LIMIT];
    limits.into_iter().flat_map(move |limits| repeat_n(limits, count))
}

/// Limits of the factors on variances and of the evidence of faults, in order.
fn followed_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> {
    let tracking = spec.extensions.tracking;
    let [smallest, largest] = tracking.map_or([1.0; 2], |tracking| {
        ScaleTracker::new(tracking.rate, tracking.miss_rate, tracking.bound).bounds()
    });
    let evidence = (0..spec.evidence_words() / STATE_WORDS).flat_map(|_| anomaly::state_limits());
    repeat_n(smallest..=largest, spec.scale_words()).chain(evidence)
}

/// Limits of the numbers of a prediction, in order.
pub(super) fn prediction_limits(outputs: u16) -> impl Iterator<Item = RangeInclusive<f32>> {
    let limits = [f32::MIN..=f32::MAX, 0.0..=f32::MAX, 0.0..=f32::MAX];
    limits.into_iter().flat_map(move |limits| repeat_n(limits, outputs.into()))
}
