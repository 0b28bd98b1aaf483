//! The steps that denoiser, sampler and rollouts are made of.
//!
//! None is inlined, so that each exists once in flash.

use super::model::LatentModel;
use super::network_inputs::{Inputs, Latents, NetworkStep};
use super::parts::KnownLatent;
use super::prior::LatentPriors;
use super::state::LatentState;
use crate::arena::copy;
use crate::backend;
use crate::models::emitter::Emitter;
use crate::models::implausible::Implausible;
use crate::models::input::RawRow;
use crate::models::outputs::OutputSlices;
use crate::models::parts::{Known, Network};
use crate::spec::{Family, Forecast, Layout, Likelihood};

impl<K: KnownLatent> LatentModel<'_, K> {
    /// Resets the stream. The prediction is then that of the first row.
    #[inline(never)]
    pub(super) fn reset(&self, state: &mut LatentState<'_>) {
        state.recognition.fill(0.0);
        if self.spec().family == Family::Storn {
            state.generative.fill(0.0);
        }
        state.lookahead.fill(0.0);
        state.decoder_input.clear();
        state.decoder_input.start_latents(self.held.prior().stationary());
        state.outputs.forget_surprise();
        if self.has_ranges() {
            state.outputs.implausible.reset();
        }
        state.predicted = false;
        self.predict_next(state);
        if self.spec().family == Family::Vosp {
            // The first step starts from z_0 = 0, or from the stationary distribution of a fitted prior.
            state.decoder_input.clear();
            state.decoder_input.start_latents(self.held.prior().stationary());
            state.predicted = false;
        }
    }

    /// Whether rows have plausible ranges.
    fn has_ranges(&self) -> bool {
        self.held.recognition().spec().extensions.ranges
    }

    /// Takes implausible values out of the stream while a row refers to them; nothing without ranges.
    #[inline(always)]
    pub(super) fn take_implausible<'a>(&self, state: &mut LatentState<'a>) -> Implausible<'a> {
        if self.has_ranges() {
            core::mem::take(&mut state.outputs.implausible)
        } else {
            Implausible::default()
        }
    }

    /// Puts them back.
    #[inline(always)]
    pub(super) fn put_implausible<'a>(&self, state: &mut LatentState<'a>, implausible: Implausible<'a>) {
        if self.has_ranges() {
            state.outputs.implausible = implausible;
        }
    }

    /// Distribution of rows given the outputs.
    pub(super) fn likelihood(&self) -> Likelihood {
        self.held.generative().spec().likelihood
    }

    /// Predicts the next row, p(x_{t+1} | x_{1:t}), with z_{t+1} from the prior, unless that is done.
    #[inline(never)]
    pub(super) fn predict_next(&self, state: &mut LatentState<'_>) {
        if !state.predicted {
            if !self.has_fitted_prior() {
                state.decoder_input.predict(self.spec().prior);
            }
            self.decode(state, self.held.prior());
            state.predicted = true;
        }
    }

    /// Computes q(z_t | x_{1:t}) from the row x_t, whose gaps are imputed by its prediction.
    #[inline(never)]
    pub(super) fn recognise(&self, state: &mut LatentState<'_>, row: RawRow<'_>) {
        let LatentState { recognition, decoder_input, outputs, scratch, .. } = state;
        let inputs = Inputs::row(&self.held, row, Some(outputs));
        network_step(&self.held.recognition().held, recognition, scratch, inputs, decoder_input.posterior());
        decoder_input.finish_posterior();
    }

    /// Computes a row by the generative network from the distribution of z, without advancing the stream.
    /// With a fitted prior it is that of the next row.
    #[inline(never)]
    pub(super) fn decode(&self, state: &mut LatentState<'_>, prior: LatentPriors<'_>) {
        match self.spec().forecast {
            Forecast::Moments => self.decode_with(state, Latents::Moments, prior),
            Forecast::PosteriorMean => self.decode_with(state, self.mean_of(prior), prior),
            Forecast::Draws { count } => {
                for draw in 0..count {
                    self.decode_with(state, Latents::Draw(draw), prior);
                    state.average.add(draw, &state.outputs);
                }
                state.average.finish(&mut state.outputs);
            }
        }
    }

    /// How latents are fed where an observed row has the posterior mean. The variance of a fitted prior is
    /// that of the prediction; without it an error bar would be that of an observed row.
    fn mean_of(&self, prior: LatentPriors<'_>) -> Latents {
        let carries_variance = self.held.generative().spec().layout != Layout::Mean;
        if prior.is_empty() || !carries_variance { Latents::Mean } else { Latents::Moments }
    }

    fn decode_with(&self, state: &mut LatentState<'_>, latents: Latents, prior: LatentPriors<'_>) {
        let LatentState { generative, lookahead, decoder_input, outputs, scratch, .. } = state;
        if self.spec().family == Family::Storn {
            copy(lookahead, generative);
        }
        let inputs = if prior.is_empty() {
            Inputs::decoder(&self.held, decoder_input, latents)
        } else {
            Inputs::predicted(&self.held, decoder_input, latents, prior)
        };
        network_step(&self.held.generative().held, lookahead, scratch, inputs, outputs.slices());
    }

    /// Advances the layers of the generative network with the posterior of z_t.
    #[inline(never)]
    pub(super) fn advance_generative(&self, state: &mut LatentState<'_>) {
        let latents = match self.spec().forecast {
            Forecast::Moments => Latents::Moments,
            Forecast::PosteriorMean | Forecast::Draws { .. } => Latents::Mean,
        };
        let LatentState { generative, decoder_input, scratch, .. } = state;
        let inputs = Inputs::decoder(&self.held, decoder_input, latents);
        self.held.generative().advance_layers(generative, scratch, &inputs);
    }
}

/// One step of a network: layers, then outputs.
#[inline(never)]
pub(super) fn network_step<K: KnownLatent, N: Known>(
    network: &N,
    recurrent: &mut [f32],
    scratch: &mut [f32],
    inputs: Inputs<'_, K>,
    slices: OutputSlices<'_>,
) {
    let mut step = NetworkStep { inputs, emitter: Emitter::new(network, slices) };
    backend::step::<N>(network.spec(), network.parts().weights, recurrent, scratch, &mut step);
    step.emitter.finish();
}
