//! What one stream remembers: data that can be saved, restored, copied and reset.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::outputs::Outputs;
#[cfg(feature = "quantized")]
use super::quantized_state;
use super::words::{Words, copy};
use crate::Error;
use crate::cells::UNIT_LIMIT;
use crate::checkpoint::ModelSpec;

/// State of one stream, in the caller's arena.
///
/// Made by [`Model::start`](crate::Model::start).
#[derive(Debug)]
pub struct State<'a> {
    /// Per layer: h means, h variances, and for an LSTM c means, c variances; in quantized layouts h, and for an LSTM
    /// mean and variance of each c, as integers.
    pub(super) recurrent: &'a mut [f32],
    /// The last prediction, and the score of the sample just seen.
    pub(super) outputs: Outputs<'a>,
    /// Noisy input of the affine map at work: nothing of it survives a step.
    pub(super) scratch: &'a mut [f32],
}

impl<'a> State<'a> {
    /// Divides an arena's words; the contents are whatever they were.
    pub(super) fn divide(spec: &ModelSpec, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: spec.arena_words(), found: words.len() };
        let mut words = Words::new(words);
        let mut divided = || {
            Some(State {
                recurrent: words.take(spec.recurrent_words())?,
                outputs: Outputs::divide(&mut words, spec.outputs)?,
                scratch: words.take(spec.scratch_words())?,
            })
        };
        divided().ok_or(too_small)
    }

    /// Copies the state into `words`.
    pub(super) fn save(&self, spec: &ModelSpec, words: &mut [f32]) -> Result<(), Error> {
        let wrong_length = Error::State { needed: spec.saved_words(), found: words.len() };
        if words.len() != spec.saved_words() {
            return Err(wrong_length);
        }
        let (recurrent, prediction) =
            words.split_at_mut_checked(spec.saved_state_words()).ok_or(wrong_length)?;
        save_recurrent(spec, self.recurrent, recurrent);
        prediction.iter_mut().zip(self.outputs.saved()).for_each(|(word, value)| *word = value);
        Ok(())
    }

    /// Takes over a saved state if every word of it is possible; is unchanged otherwise.
    pub(super) fn restore(&mut self, spec: &ModelSpec, words: &[f32]) -> Result<(), Error> {
        let limits = recurrent_limits(spec).chain(prediction_limits(spec.outputs));
        check_saved(words, spec.saved_words(), limits)?;
        let (recurrent, prediction) = words.split_at_checked(spec.saved_state_words()).unwrap_or_default();
        restore_recurrent(spec, self.recurrent, recurrent);
        self.outputs.restore(prediction);
        Ok(())
    }
}

/// Writes the state of a network's layers as numbers.
pub(super) fn save_recurrent(spec: &ModelSpec, recurrent: &[f32], numbers: &mut [f32]) {
    match spec.layout.runs_quantized() {
        #[cfg(feature = "quantized")]
        true => quantized_state::save(spec, recurrent, numbers),
        _ => copy(numbers, recurrent),
    }
}

/// Reads what [`save_recurrent`] wrote.
pub(super) fn restore_recurrent(spec: &ModelSpec, recurrent: &mut [f32], numbers: &[f32]) {
    match spec.layout.runs_quantized() {
        #[cfg(feature = "quantized")]
        true => quantized_state::restore(spec, recurrent, numbers),
        _ => copy(recurrent, numbers),
    }
}

/// Whether a saved state has the right length and only possible values.
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

/// What the numbers of a network's layers may be, in order.
pub(super) fn recurrent_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> + '_ {
    spec.layers
        .iter()
        .flat_map(|layer| (0..layer.cell.states()).flat_map(move |_| moment_limits(layer.units.into())))
}

/// What the means and then the variances of `count` standardised quantities may be.
pub(super) fn moment_limits(count: usize) -> impl Iterator<Item = RangeInclusive<f32>> {
    let limits = [-UNIT_LIMIT..=UNIT_LIMIT, 0.0..=UNIT_LIMIT * UNIT_LIMIT];
    limits.into_iter().flat_map(move |limits| repeat_n(limits, count))
}

/// What the numbers of a prediction may be, in order.
pub(super) fn prediction_limits(outputs: u16) -> impl Iterator<Item = RangeInclusive<f32>> {
    let limits = [f32::MIN..=f32::MAX, 0.0..=f32::MAX, 0.0..=f32::MAX];
    limits.into_iter().flat_map(move |limits| repeat_n(limits, outputs.into()))
}
