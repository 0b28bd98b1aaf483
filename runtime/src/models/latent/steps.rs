//! The steps that denoiser, sampler and fan are made of.
//!
//! None is inlined, so that each exists once in flash whoever calls it.

use super::inputs::{Inputs, Latents};
use super::model::LatentModel;
use super::state::LatentState;
use crate::checkpoint::{Family, Forecast, Likelihood};
use crate::models::Model;
use crate::models::input::RawRow;
use crate::models::outputs::OutputSlices;
use crate::models::words::copy;

impl LatentModel<'_> {
    /// Forgets everything seen. What is then predicted is the first row.
    #[inline(never)]
    pub(super) fn reset(&self, state: &mut LatentState<'_>) {
        state.recognition.fill(0.0);
        state.generative.fill(0.0);
        state.ahead.fill(0.0);
        state.fed.clear();
        state.outputs.forget_surprise();
        state.expected = false;
        self.expect_next(state);
        if self.spec().family == Family::Vosp {
            // z_0 = 0, from which the first step goes on.
            state.fed.clear();
            state.expected = false;
        }
    }

    /// How rows and outputs relate.
    pub(super) fn likelihood(&self) -> Likelihood {
        self.generative().spec().likelihood
    }

    /// Makes the outputs what is expected of the next row, p(x_{t+1} | x_{1:t}), with z_{t+1} as the prior has it.
    #[inline(never)]
    pub(super) fn expect_next(&self, state: &mut LatentState<'_>) {
        if !state.expected {
            state.fed.expect(self.spec().prior);
            self.estimate(state);
            state.expected = true;
        }
    }

    /// q(z_t | x_{1:t}) from the row x_t; where that has gaps, what was expected stands in.
    #[inline(never)]
    pub(super) fn recognise(&self, state: &mut LatentState<'_>, row: RawRow<'_>) {
        let LatentState { recognition, fed, outputs, scratch, .. } = state;
        let inputs = Inputs::row(self.recognition(), row, Some(outputs));
        pass(self.recognition(), recognition, scratch, inputs, fed.posterior());
        fed.recognised();
    }

    /// What the generative network says of a row, z having the moments that are fed for it.
    #[inline(never)]
    pub(super) fn estimate(&self, state: &mut LatentState<'_>) {
        match self.spec().forecast {
            Forecast::Moments => self.estimate_with(state, Latents::Moments),
            Forecast::PosteriorMean => self.estimate_with(state, Latents::Mean),
            Forecast::Draws { count } => {
                for draw in 0..count {
                    self.estimate_with(state, Latents::Draw(draw));
                    state.average.add(draw, &state.outputs);
                }
                state.average.finish(&mut state.outputs);
            }
        }
    }

    fn estimate_with(&self, state: &mut LatentState<'_>, latents: Latents) {
        let LatentState { generative, ahead, fed, outputs, scratch, .. } = state;
        copy(ahead, generative);
        pass(
            self.generative(),
            ahead,
            scratch,
            Inputs::fed(self.generative(), fed, latents),
            outputs.places(),
        );
    }

    /// Brings the generative network's memory forward with what is known of z_t.
    #[inline(never)]
    pub(super) fn remember(&self, state: &mut LatentState<'_>) {
        let latents = match self.spec().forecast {
            Forecast::Moments => Latents::Moments,
            Forecast::PosteriorMean | Forecast::Draws { .. } => Latents::Mean,
        };
        let LatentState { generative, fed, scratch, .. } = state;
        let inputs = Inputs::fed(self.generative(), fed, latents);
        self.generative().recur(generative, scratch, &inputs);
    }
}

/// One network's whole step: layers, then outputs.
#[inline(never)]
pub(super) fn pass(
    network: &Model<'_>,
    recurrent: &mut [f32],
    scratch: &mut [f32],
    inputs: Inputs<'_>,
    places: OutputSlices<'_>,
) {
    let after_layers = network.recur(recurrent, scratch, &inputs);
    network.emit(after_layers, recurrent, scratch, inputs.last_row(), places);
}
