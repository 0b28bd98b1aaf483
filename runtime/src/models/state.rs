//! What one stream remembers: data that can be saved, restored, copied and reset.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::packed_state;
use crate::Error;
use crate::cells::UNIT_LIMIT;
use crate::checkpoint::ModelSpec;

/// State of one stream, in the caller's arena.
///
/// Made by [`Model::start`](crate::Model::start).
#[derive(Debug)]
pub struct State<'a> {
    /// Per layer: h means, h variances, and for an LSTM c means, c variances; in packed layouts h, and for an LSTM
    /// mean and variance of each c, as integers.
    pub(super) recurrent: &'a mut [f32],
    /// The last prediction in raw units.
    pub(super) mean: &'a mut [f32],
    pub(super) epistemic: &'a mut [f32],
    pub(super) aleatoric: &'a mut [f32],
    /// Standardised residuals of the sample just seen; NaN where it was missing.
    pub(super) z: &'a mut [f32],
    /// Negative log-likelihood of the sample just seen.
    pub(super) nll: Option<f32>,
    /// Noisy input of the affine map at work: nothing of it survives a step.
    pub(super) scratch: &'a mut [f32],
}

impl<'a> State<'a> {
    /// Divides an arena's words; the contents are whatever they were.
    pub(super) fn divide(spec: &ModelSpec, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: spec.arena_words(), found: words.len() };
        let outputs = spec.outputs.into();
        let mut rest = words;
        let mut take = |count: usize| -> Option<&'a mut [f32]> {
            let (taken, left) = core::mem::take(&mut rest).split_at_mut_checked(count)?;
            rest = left;
            Some(taken)
        };
        let mut divided = || {
            Some(State {
                recurrent: take(spec.recurrent_words())?,
                mean: take(outputs)?,
                epistemic: take(outputs)?,
                aleatoric: take(outputs)?,
                z: take(outputs)?,
                nll: None,
                scratch: take(spec.scratch_words())?,
            })
        };
        divided().ok_or(too_small)
    }

    /// The last prediction, as far as it is saved.
    fn prediction(&self) -> impl Iterator<Item = f32> {
        [&*self.mean, &*self.epistemic, &*self.aleatoric].into_iter().flatten().copied()
    }

    /// Copies the state into `words`.
    pub(super) fn save(&self, spec: &ModelSpec, words: &mut [f32]) -> Result<(), Error> {
        let (recurrent, prediction) = divide_saved(spec, words.len(), words)?;
        if spec.layout.is_packed() {
            packed_state::save(spec, self.recurrent, recurrent);
        } else {
            recurrent.iter_mut().zip(&*self.recurrent).for_each(|(word, value)| *word = *value);
        }
        prediction.iter_mut().zip(self.prediction()).for_each(|(word, value)| *word = value);
        Ok(())
    }

    /// Takes over a saved state if every word of it is possible; is unchanged otherwise.
    pub(super) fn restore(&mut self, spec: &ModelSpec, words: &[f32]) -> Result<(), Error> {
        let needed = spec.saved_words();
        let lengths = Error::State { needed, found: words.len() };
        if needed != words.len() {
            return Err(lengths);
        }
        let possible = |(value, limits): (&f32, RangeInclusive<f32>)| limits.contains(value);
        if let Some(word) = words.iter().zip(saved_limits(spec)).position(|pair| !possible(pair)) {
            return Err(Error::StateValue { word });
        }
        let (recurrent, prediction) = words.split_at_checked(spec.saved_state_words()).ok_or(lengths)?;
        if spec.layout.is_packed() {
            packed_state::restore(spec, self.recurrent, recurrent);
        } else {
            self.recurrent.iter_mut().zip(recurrent).for_each(|(place, value)| *place = *value);
        }
        let places = [&mut *self.mean, &mut *self.epistemic, &mut *self.aleatoric];
        places.into_iter().flatten().zip(prediction).for_each(|(place, value)| *place = *value);
        self.forget_surprise();
        Ok(())
    }

    pub(super) fn forget_surprise(&mut self) {
        self.z.fill(f32::NAN);
        self.nll = None;
    }
}

/// A saved state's recurrent part and prediction.
fn divide_saved<'w>(
    spec: &ModelSpec,
    found: usize,
    words: &'w mut [f32],
) -> Result<(&'w mut [f32], &'w mut [f32]), Error> {
    let needed = spec.saved_words();
    let parts = if needed == found { words.split_at_mut_checked(spec.saved_state_words()) } else { None };
    parts.ok_or(Error::State { needed, found })
}

/// What each word of a saved state may be, in order.
fn saved_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> + '_ {
    let unit = [-UNIT_LIMIT..=UNIT_LIMIT, 0.0..=UNIT_LIMIT * UNIT_LIMIT];
    let block =
        move |count: u16| unit.clone().into_iter().flat_map(move |limits| repeat_n(limits, count.into()));
    let layers = spec.layers.iter().flat_map(move |layer| {
        let block = block.clone();
        (0..layer.cell.states()).flat_map(move |_| block(layer.units))
    });
    let prediction = [f32::MIN..=f32::MAX, 0.0..=f32::MAX, 0.0..=f32::MAX];
    layers.chain(prediction.into_iter().flat_map(|limits| repeat_n(limits, spec.outputs.into())))
}
