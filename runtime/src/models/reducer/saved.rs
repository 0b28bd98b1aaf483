//! Saving and restoring a stream of a reducer: its network, then its pool.

use super::model::ReducerModel;
use super::pool::{fractional_position, pool_limits};
use super::state::ReducerState;
use crate::format::Error;
use crate::models::state::check_saved;

impl ReducerModel<'_> {
    /// Copies a stream's state into `words`.
    pub(super) fn save(&self, state: &ReducerState<'_>, words: &mut [f32]) -> Result<(), Error> {
        let (needed, found) = (self.saved_words(), words.len());
        let (network, pool) = words
            .split_at_mut_checked(self.network().spec().saved_words())
            .filter(|_| needed == found)
            .ok_or(Error::State { needed, found })?;
        self.network().save(&state.network, network)?;
        pool.iter_mut().zip(state.pool.saved()).for_each(|(word, value)| *word = value);
        Ok(())
    }

    /// Restores a saved state if every word of it is possible; otherwise the state is unchanged.
    pub(super) fn restore(&self, state: &mut ReducerState<'_>, words: &[f32]) -> Result<(), Error> {
        let (needed, found) = (self.saved_words(), words.len());
        let at = self.network().spec().saved_words();
        let (network, pool) =
            words.split_at_checked(at).filter(|_| needed == found).ok_or(Error::State { needed, found })?;
        match check_saved(pool, pool.len(), pool_limits(self)) {
            Err(Error::StateValue { word }) => return Err(Error::StateValue { word: at + word }),
            checked => checked?,
        }
        if let Some(word) = fractional_position(pool.iter().copied()) {
            return Err(Error::StateValue { word: at + word });
        }
        self.network().restore(&mut state.network, network)?;
        state.pool.restore(pool);
        Ok(())
    }

    /// An error unless every number of a stream is one that steps can have left.
    pub(super) fn check_state(&self, state: &ReducerState<'_>) -> Result<(), Error> {
        self.network().check_state(&state.network)?;
        let mut numbers = state.pool.saved().zip(pool_limits(self));
        let outside = numbers.position(|(value, limits)| !limits.contains(&value));
        match outside.or_else(|| fractional_position(state.pool.saved())) {
            Some(word) => Err(Error::StateValue { word: self.network().spec().arena_words() + word }),
            None => Ok(()),
        }
    }
}
