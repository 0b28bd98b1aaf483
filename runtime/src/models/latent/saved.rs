//! Saving and restoring a stream of a latent model.
//!
//! Both families: the recognition network's layers. STORN: the generative network's layers, and mean and
//! variance of the row it reads next. VOSP: mean and variance of z_t, and the last estimate. Both with
//! plausible ranges: the number of implausible values. Everything else follows from these.

use super::model::LatentModel;
use super::parts::KnownLatent;
use super::state::LatentState;
use crate::backend::{restore_state, save_state};
use crate::format::Error;
use crate::models::state::{
    check_memory, check_saved, moment_limits, prediction_limits, recurrent_limits, saved_total, total_limits,
};
use crate::spec::Family;

impl<K: KnownLatent> LatentModel<'_, K> {
    /// Copies a stream's state into `words`.
    pub(super) fn save(&self, state: &LatentState<'_>, words: &mut [f32]) -> Result<(), Error> {
        let (needed, found) = (self.saved_words(), words.len());
        let (recognition, rest) = words
            .split_at_mut_checked(self.held.recognition().spec().saved_state_words())
            .filter(|_| needed == found)
            .ok_or(Error::State { needed, found })?;
        save_state(self.held.recognition().spec(), state.recognition, recognition);
        match self.spec().family {
            Family::Storn => {
                let spec = self.held.generative().spec();
                let (generative, row) =
                    rest.split_at_mut_checked(spec.saved_state_words()).unwrap_or_default();
                save_state(spec, state.generative, generative);
                let saved = state.decoder_input.saved_others().chain(state.outputs.implausible.saved());
                row.iter_mut().zip(saved).for_each(|(word, value)| *word = value);
            }
            Family::Vosp => {
                let saved = self.saved_latents(state).chain(state.outputs.saved());
                let saved = saved.chain(state.outputs.implausible.saved());
                rest.iter_mut().zip(saved).for_each(|(word, value)| *word = value);
            }
        }
        Ok(())
    }

    /// Means and variances of z_t.
    fn saved_latents<'s>(&self, state: &'s LatentState<'_>) -> impl Iterator<Item = f32> + 's {
        // Only the prior of the training overwrites the latents in a prediction.
        state.decoder_input.saved_latents(state.predicted && !self.has_fitted_prior())
    }

    /// An error unless every number of a stream is one that steps can have left.
    pub(super) fn check_state(&self, state: &LatentState<'_>) -> Result<(), Error> {
        let recognition = (self.held.recognition().spec(), &*state.recognition);
        let generative = (self.held.generative().spec(), &*state.generative);
        let [inputs, latents] = [self.first_latent(), self.spec().latents.into()];
        let others = state.decoder_input.saved_others().zip(moment_limits(inputs));
        let latents = self.saved_latents(state).zip(moment_limits(latents));
        let estimate = state.outputs.saved().zip(prediction_limits(self.held.generative().spec().outputs));
        let total = state.outputs.implausible.saved().zip(total_limits(self.held.recognition().spec()));
        check_memory([recognition, generative], others.chain(latents).chain(estimate).chain(total))
    }

    /// Restores a saved state if every word of it is possible; otherwise the state is unchanged.
    pub(super) fn restore(&self, state: &mut LatentState<'_>, words: &[f32]) -> Result<(), Error> {
        self.check(words)?;
        let spec = self.held.recognition().spec();
        let (recognition, rest) = words.split_at_checked(spec.saved_state_words()).unwrap_or_default();
        restore_state(spec, state.recognition, recognition);
        match self.spec().family {
            Family::Storn => {
                let spec = self.held.generative().spec();
                let (generative, row) = rest.split_at_checked(spec.saved_state_words()).unwrap_or_default();
                restore_state(spec, state.generative, generative);
                let (mean, var) = state.decoder_input.others();
                mean.iter_mut().chain(var).zip(row).for_each(|(word, value)| *word = *value);
                state.outputs.forget_surprise();
            }
            Family::Vosp => {
                let (latents, estimate) =
                    rest.split_at_checked(2 * usize::from(self.spec().latents)).unwrap_or_default();
                let (mean, var) = state.decoder_input.latents();
                mean.iter_mut().chain(var).zip(latents).for_each(|(word, value)| *word = *value);
                state.decoder_input.write_units(&self.held.recognition().held, state.recognition);
                state.outputs.restore(estimate);
            }
        }
        state.outputs.implausible.restore(saved_total(self.held.recognition().spec(), words));
        state.predicted = false;
        Ok(())
    }

    /// Checks that `words` can be a stream of this model.
    fn check(&self, words: &[f32]) -> Result<(), Error> {
        let recognition = recurrent_limits(self.held.recognition().spec());
        let total = total_limits(self.held.recognition().spec());
        let needed = self.saved_words();
        match self.spec().family {
            Family::Storn => {
                let generative = recurrent_limits(self.held.generative().spec());
                check_saved(
                    words,
                    needed,
                    recognition.chain(generative).chain(moment_limits(self.channels())).chain(total),
                )
            }
            Family::Vosp => {
                let latents = moment_limits(self.spec().latents.into());
                let estimate = prediction_limits(self.held.generative().spec().outputs);
                check_saved(words, needed, recognition.chain(latents).chain(estimate).chain(total))
            }
        }
    }
}
