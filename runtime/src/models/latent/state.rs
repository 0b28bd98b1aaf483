//! State of one stream of a latent model.

use super::average::Average;
use super::decoder_input::DecoderInput;
use super::model::LatentModel;
use crate::arena::{ArenaSplitter, copy};
use crate::format::Error;
use crate::models::outputs::Outputs;
use crate::spec::Family;

/// State of two networks, and scratch for their steps.
#[derive(Debug)]
pub(super) struct LatentState<'a> {
    /// Layers of the recognition network.
    pub(super) recognition: &'a mut [f32],
    /// Layers of the generative network; empty if that has no recurrence.
    pub(super) generative: &'a mut [f32],
    /// Copy of the generative network's layers for lookahead, which must not change the stream.
    pub(super) lookahead: &'a mut [f32],
    /// What the generative network reads next.
    pub(super) decoder_input: DecoderInput<'a>,
    /// The last estimate or prediction.
    pub(super) outputs: Outputs<'a>,
    /// Whether `outputs` is the prediction of the next row.
    pub(super) predicted: bool,
    pub(super) average: Average<'a>,
    pub(super) scratch: &'a mut [f32],
}

impl<'a> LatentState<'a> {
    /// Carves up a caller's memory; its contents stay as they are.
    pub(super) fn carve(model: &LatentModel<'_>, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: model.arena_words(), found: words.len() };
        let mut words = ArenaSplitter::new(words);
        let (recognition, generative) = (model.recognition().spec(), model.generative().spec());
        let remembered = match model.spec().family {
            Family::Storn => generative.recurrent_words(),
            Family::Vosp => 0,
        };
        let averaged = if model.averaged_lists() > 0 { model.channels() } else { 0 };
        let mut state = || {
            Some(LatentState {
                recognition: words.carve(recognition.recurrent_words())?,
                generative: words.carve(remembered)?,
                lookahead: words.carve(generative.recurrent_words())?,
                decoder_input: DecoderInput::carve(
                    &mut words,
                    generative.inputs,
                    model.spec().latents,
                    model.first_latent(),
                )?,
                outputs: Outputs::carve(&mut words, generative.outputs, recognition.implausible_words())?,
                predicted: false,
                average: Average::carve(&mut words, averaged)?,
                scratch: words.carve(model.scratch_words())?,
            })
        };
        state().ok_or(too_small)
    }

    /// Copies the state of another stream of the same model.
    pub(super) fn copy_from(&mut self, other: &LatentState<'_>) {
        copy(self.recognition, other.recognition);
        copy(self.generative, other.generative);
        self.decoder_input.copy_from(&other.decoder_input);
        self.outputs.copy_from(&other.outputs);
        self.predicted = other.predicted;
    }
}
