//! State of one stream: data that can be saved, restored, copied and reset.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::input_density::StandardisedRow;
use super::outputs::Outputs;
use crate::arena::ArenaSplitter;
use crate::backend::{restore_state, save_state};
use crate::format::Error;
use crate::limits::UNIT_LIMIT;
use crate::spec::ModelSpec;

/// State of one stream, in the caller's arena.
///
/// Made by [`Model::start`](crate::Model::start).
#[derive(Debug)]
pub struct State<'a> {
    /// State of the layers, in the format of the model's backend.
    pub(super) recurrent: &'a mut [f32],
    /// The last prediction, and the score of the sample just read.
    pub(super) outputs: Outputs<'a>,
    /// The row just read; not part of what a stream remembers.
    pub(super) row: StandardisedRow<'a>,
    /// Noisy input of the affine map at work. Not part of what a stream remembers.
    pub(super) scratch: &'a mut [f32],
}

impl<'a> State<'a> {
    /// Carves up an arena's words; their contents stay as they are.
    pub(super) fn carve(spec: &ModelSpec, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: spec.arena_words(), found: words.len() };
        let mut words = ArenaSplitter::new(words);
        let mut state = || {
            Some(State {
                recurrent: words.carve(spec.recurrent_words())?,
                outputs: Outputs::carve(&mut words, spec.outputs)?,
                row: StandardisedRow::carve(&mut words, spec.row_words())?,
                scratch: words.carve(spec.scratch_words())?,
            })
        };
        state().ok_or(too_small)
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
        prediction.iter_mut().zip(self.outputs.saved()).for_each(|(word, value)| *word = value);
        Ok(())
    }

    /// Restores a saved state if every word of it is possible; otherwise the state is unchanged.
    pub(super) fn restore(&mut self, spec: &ModelSpec, words: &[f32]) -> Result<(), Error> {
        let limits = recurrent_limits(spec).chain(prediction_limits(spec.outputs));
        check_saved(words, spec.saved_words(), limits)?;
        let (recurrent, prediction) = words.split_at_checked(spec.saved_state_words()).unwrap_or_default();
        restore_state(spec, self.recurrent, recurrent);
        self.outputs.restore(prediction);
        Ok(())
    }
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

/// Limits of the numbers of a prediction, in order.
pub(super) fn prediction_limits(outputs: u16) -> impl Iterator<Item = RangeInclusive<f32>> {
    let limits = [f32::MIN..=f32::MAX, 0.0..=f32::MAX, 0.0..=f32::MAX];
    limits.into_iter().flat_map(move |limits| repeat_n(limits, outputs.into()))
}
