//! State of one stream of a latent model.

use super::average::Average;
use super::decoder_input::DecoderInput;
use super::model::averaged_lists;
use crate::arena::{ArenaSplitter, copy};
use crate::backend::NetworkMemory;
use crate::models::outputs::Outputs;
use crate::spec::{Family, LatentSpec};

/// State of two networks, and scratch for their steps.
#[derive(Debug, Default)]
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
    /// Carves up a caller's memory for a stream of both networks, recognition and generative; the contents of
    /// the memory stay as they are. In place, because a state is large to be moved.
    #[inline(always)]
    pub(super) fn carve(
        &mut self,
        spec: &LatentSpec,
        [recognition, generative]: [NetworkMemory; 2],
        words: &'a mut [f32],
    ) -> Option<()> {
        let mut words = ArenaSplitter::new(words);
        let remembered = match spec.family {
            Family::Storn => generative.recurrent,
            Family::Vosp => 0,
        };
        let latents = spec.latents.into();
        let averaged = if averaged_lists(spec) > 0 { recognition.inputs } else { 0 };
        self.recognition = words.carve(recognition.recurrent)?;
        self.generative = words.carve(remembered)?;
        self.lookahead = words.carve(generative.recurrent)?;
        self.decoder_input = DecoderInput::carve(&mut words, generative.inputs, latents)?;
        self.outputs = Outputs::carve(&mut words, generative.outputs as u16, recognition.implausible)?;
        self.average = Average::carve(&mut words, averaged)?;
        self.scratch = words.carve(recognition.scratch.max(generative.scratch))?;
        Some(())
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
