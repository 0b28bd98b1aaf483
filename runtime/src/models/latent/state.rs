//! The memory of one stream of a latent model.

use super::average::Average;
use super::decoder_input::DecoderInput;
use super::model::LatentModel;
use crate::Error;
use crate::checkpoint::Family;
use crate::models::outputs::Outputs;
use crate::models::words::{Words, copy};

/// What a stream of two networks remembers, and the room in which it computes.
#[derive(Debug)]
pub(super) struct LatentState<'a> {
    /// Layers of the recognition network.
    pub(super) recognition: &'a mut [f32],
    /// Layers of the generative network; empty if that has no recurrence.
    pub(super) generative: &'a mut [f32],
    /// Layers of the generative network at work: a copy, so that a look ahead changes nothing.
    pub(super) ahead: &'a mut [f32],
    /// What the generative network reads next.
    pub(super) fed: DecoderInput<'a>,
    /// The last estimate or prediction.
    pub(super) outputs: Outputs<'a>,
    /// Whether `outputs` is what is expected of the next row.
    pub(super) expected: bool,
    pub(super) average: Average<'a>,
    pub(super) scratch: &'a mut [f32],
}

impl<'a> LatentState<'a> {
    /// Divides a caller's memory; the contents are whatever they were.
    pub(super) fn divide(model: &LatentModel<'_>, words: &'a mut [f32]) -> Result<Self, Error> {
        let too_small = Error::Arena { needed: model.arena_words(), found: words.len() };
        let mut words = Words::new(words);
        let (recognition, generative) = (model.recognition().spec(), model.generative().spec());
        let remembered = match model.spec().family {
            Family::Storn => generative.recurrent_words(),
            Family::Vosp => 0,
        };
        let averaged = if model.averaged_lists() > 0 { model.channels() } else { 0 };
        let mut divided = || {
            Some(LatentState {
                recognition: words.take(recognition.recurrent_words())?,
                generative: words.take(remembered)?,
                ahead: words.take(generative.recurrent_words())?,
                fed: DecoderInput::divide(
                    &mut words,
                    generative.inputs,
                    model.spec().latents,
                    model.first_latent(),
                )?,
                outputs: Outputs::divide(&mut words, generative.outputs)?,
                expected: false,
                average: Average::divide(&mut words, averaged)?,
                scratch: words.take(model.scratch_words())?,
            })
        };
        divided().ok_or(too_small)
    }

    /// Takes over everything that another stream of the same model remembers.
    pub(super) fn copy_from(&mut self, other: &LatentState<'_>) {
        copy(self.recognition, other.recognition);
        copy(self.generative, other.generative);
        self.fed.copy_from(&other.fed);
        self.outputs.copy_from(&other.outputs);
        self.expected = other.expected;
    }
}
