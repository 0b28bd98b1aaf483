//! Standardised inputs of a latent model's networks.
//!
//! One type for both networks and for every source, so that their layers exist once in flash.

use super::decoder_input::DecoderInput;
use super::prior::LatentPriors;
use crate::models::emitter::Emitter;
use crate::models::input::{RawRow, ResidualBase};
use crate::models::input_density::ImputedRow;
use crate::models::outputs::Outputs;
use crate::models::parts::{Loaded, Network};
use crate::moments::{Moments, limited_mean};
use crate::random::fixed_normal;
use crate::step_io::{InputPairs, StepIo};

/// How latents enter the generative network.
#[derive(Clone, Copy, Debug)]
pub(super) enum Latents {
    /// Mean and variance.
    Moments,
    /// The mean, without variance.
    Mean,
    /// One of the fixed draws.
    Draw(u16),
}

/// Source of the inputs.
enum Source<'i> {
    /// A row in raw units, with its prediction.
    Row(RawRow<'i>, Option<&'i Outputs<'i>>),
    /// A row for the first inputs and the stream's latents for the others.
    RowAndLatents(RawRow<'i>, &'i DecoderInput<'i>, Latents),
    /// All inputs that the stream holds for the generative network.
    DecoderInput(&'i DecoderInput<'i>, Latents),
    /// The same before the next row: the latents follow the fitted prior.
    Predicted(&'i DecoderInput<'i>, Latents, LatentPriors<'i>),
}

/// The inputs of a network.
pub(super) struct Inputs<'i> {
    network: &'i Loaded<'i>,
    source: Source<'i>,
}

impl<'i> Inputs<'i> {
    /// A row; gaps are imputed by its prediction.
    pub(super) fn row(network: &'i Loaded<'i>, row: RawRow<'i>, predicted: Option<&'i Outputs<'i>>) -> Self {
        Inputs { network, source: Source::Row(row, predicted) }
    }

    /// A row without gaps, then latents.
    pub(super) fn row_and_latents(
        network: &'i Loaded<'i>,
        row: &'i [f32],
        input: &'i DecoderInput<'i>,
        latents: Latents,
    ) -> Self {
        Inputs { network, source: Source::RowAndLatents(RawRow::unchecked(row), input, latents) }
    }

    /// The inputs that the stream holds.
    pub(super) fn decoder(network: &'i Loaded<'i>, input: &'i DecoderInput<'i>, latents: Latents) -> Self {
        Inputs { network, source: Source::DecoderInput(input, latents) }
    }

    /// The inputs that the stream holds, with the latents of the next row from the fitted prior.
    pub(super) fn predicted(
        network: &'i Loaded<'i>,
        input: &'i DecoderInput<'i>,
        latents: Latents,
        prior: LatentPriors<'i>,
    ) -> Self {
        Inputs { network, source: Source::Predicted(input, latents, prior) }
    }

    /// The row among them, which residuals are added to.
    fn residual_base(&self) -> ResidualBase<'_> {
        match &self.source {
            Source::Row(row, _) | Source::RowAndLatents(row, ..) => {
                ResidualBase::Raw(Some(row), ImputedRow::default())
            }
            Source::DecoderInput(input, _) | Source::Predicted(input, ..) => input.residual_base(),
        }
    }

    fn at(&self, index: usize) -> Moments {
        if index >= usize::from(self.network.spec().inputs) {
            return Moments::default();
        }
        match self.source {
            Source::Row(row, predicted) => {
                let imputed = || predicted.and_then(|predicted| predicted.impute(index));
                self.network.standardised(index, row.reading(index).or_else(imputed))
            }
            Source::RowAndLatents(row, input, latents) => match input.latent(index) {
                Some(latent) => latent_moments(input.at(index), latent, latents),
                None => self.network.standardised(index, row.reading(index)),
            },
            Source::DecoderInput(input, latents) => match input.latent(index) {
                Some(latent) => latent_moments(input.at(index), latent, latents),
                None => input.at(index),
            },
            Source::Predicted(input, latents, prior) => match input.latent(index) {
                Some(latent) => latent_moments(prior.next(latent, input.at(index)), latent, latents),
                None => input.at(index),
            },
        }
    }
}

impl InputPairs for Inputs<'_> {
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>> {
        // Latents have variances, and rows are a small part of these models' inputs.
        core::iter::empty()
    }

    fn any(&self, pair: usize) -> [Moments; 2] {
        [2 * pair, 2 * pair + 1].map(|index| self.at(index))
    }
}

/// One step of a network: its inputs and its outputs.
pub(super) struct NetworkStep<'i, 'p> {
    pub(super) inputs: Inputs<'i>,
    pub(super) emitter: Emitter<'i, 'p, Loaded<'i>>,
}

impl InputPairs for NetworkStep<'_, '_> {
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>> {
        self.inputs.deterministic()
    }

    fn any(&self, pair: usize) -> [Moments; 2] {
        self.inputs.any(pair)
    }
}

impl StepIo for NetworkStep<'_, '_> {
    fn output(&mut self, row: Moments) {
        self.emitter.add(row, self.inputs.residual_base());
    }
}

/// A latent of the moments `z`, as it enters the generative network.
fn latent_moments(z: Moments, latent: u16, latents: Latents) -> Moments {
    match latents {
        Latents::Moments => z,
        Latents::Mean => Moments { var: 0.0, ..z },
        Latents::Draw(draw) => {
            let value = z.mean + libm::sqrtf(z.var) * fixed_normal(draw, latent);
            Moments { mean: limited_mean(value), var: 0.0 }
        }
    }
}
