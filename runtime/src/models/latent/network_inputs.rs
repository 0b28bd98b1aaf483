//! Standardised inputs of a latent model's networks.
//!
//! One type for both networks and for every source, so that their layers exist once in flash.

use super::decoder_input::DecoderInput;
use super::parts::KnownLatent;
use super::prior::LatentPriors;
use crate::models::emitter::Emitter;
use crate::models::input::{RawRow, Reading, ResidualBase};
use crate::models::input_density::ImputedRow;
use crate::models::outputs::Outputs;
use crate::models::parts::{Known, Network};
use crate::moments::{Moments, Scalar, limited_mean};
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

/// Which latents and sources of them may occur: a model that is known while compiling has no code for others.
#[derive(Clone, Copy, Debug)]
pub struct Sources {
    /// Rows that are fed back: futures of a sampler.
    pub(super) row_and_latents: bool,
    /// A fitted prior.
    pub(super) predicted: bool,
    /// [`Latents::Mean`].
    pub(super) mean: bool,
    /// [`Latents::Draw`].
    pub(super) draws: bool,
}

/// The inputs of a network.
pub(super) struct Inputs<'i, K> {
    model: &'i K,
    source: Source<'i>,
}

impl<'i, K: KnownLatent> Inputs<'i, K> {
    /// A row for the recognition network; gaps are imputed by its prediction.
    pub(super) fn row(model: &'i K, row: RawRow<'i>, predicted: Option<&'i Outputs<'i>>) -> Self {
        Inputs { model, source: Source::Row(row, predicted) }
    }

    /// For the generative network, as all others: a row without gaps, then latents.
    pub(super) fn row_and_latents(
        model: &'i K,
        row: &'i [f32],
        input: &'i DecoderInput<'i>,
        latents: Latents,
    ) -> Self {
        Inputs { model, source: Source::RowAndLatents(RawRow::unchecked(row), input, latents) }
    }

    /// The inputs that the stream holds.
    pub(super) fn decoder(model: &'i K, input: &'i DecoderInput<'i>, latents: Latents) -> Self {
        Inputs { model, source: Source::DecoderInput(input, latents) }
    }

    /// The inputs that the stream holds, with the latents of the next row from the fitted prior.
    pub(super) fn predicted(
        model: &'i K,
        input: &'i DecoderInput<'i>,
        latents: Latents,
        prior: LatentPriors<'i>,
    ) -> Self {
        Inputs { model, source: Source::Predicted(input, latents, prior) }
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

    /// The moments of input `index`; none beyond the last.
    #[inline(never)] // twice per pair
    fn at(&self, index: usize) -> Moments {
        match &self.source {
            Source::Row(row, predicted) => {
                let imputed = || predicted.and_then(|predicted| predicted.impute(index));
                let reading = row.reading(index).or_else(imputed);
                standardised(&self.model.recognition().held, index, reading)
            }
            Source::RowAndLatents(row, input, latents) if K::SOURCES.row_and_latents => {
                match input.latent(index) {
                    Some(latent) => Self::latent(input.at(index), latent, *latents),
                    None => standardised(&self.model.generative().held, index, row.reading(index)),
                }
            }
            Source::Predicted(input, latents, prior) if K::SOURCES.predicted => match input.latent(index) {
                Some(latent) => Self::latent(prior.next(latent, input.at(index)), latent, *latents),
                None => input.at(index),
            },
            Source::DecoderInput(input, latents)
            | Source::Predicted(input, latents, _)
            | Source::RowAndLatents(_, input, latents) => match input.latent(index) {
                Some(latent) => Self::latent(input.at(index), latent, *latents),
                None => input.at(index),
            },
        }
    }

    /// A latent of the moments `z`, as it enters the generative network.
    #[inline(always)]
    fn latent(z: Moments, latent: u16, latents: Latents) -> Moments {
        match latents {
            Latents::Mean if K::SOURCES.mean => Moments { var: 0.0, ..z },
            Latents::Draw(draw) if K::SOURCES.draws => {
                let value = z.mean + Scalar::sqrt(z.var) * fixed_normal(draw, latent);
                Moments { mean: limited_mean(value), var: 0.0 }
            }
            Latents::Moments | Latents::Mean | Latents::Draw(_) => z,
        }
    }
}

/// A channel of a row in the units of a network; beyond the last there is nothing.
#[inline(always)]
fn standardised(network: &impl Known, channel: usize, reading: Option<Reading>) -> Moments {
    if channel < usize::from(network.spec().inputs) {
        network.standardised(channel, reading)
    } else {
        Moments::default()
    }
}

impl<K: KnownLatent> InputPairs for Inputs<'_, K> {
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>> {
        // Latents have variances, and rows are a small part of these models' inputs.
        core::iter::empty()
    }

    fn any(&self, pair: usize) -> [Moments; 2] {
        [2 * pair, 2 * pair + 1].map(|index| self.at(index))
    }
}

/// One step of a network: its inputs and its outputs.
pub(super) struct NetworkStep<'i, 'p, K, N> {
    pub(super) inputs: Inputs<'i, K>,
    pub(super) emitter: Emitter<'i, 'p, N>,
}

impl<'i, K: KnownLatent, N: Known> StepIo for NetworkStep<'i, '_, K, N> {
    type Inputs = Inputs<'i, K>;

    fn inputs(&self) -> &Inputs<'i, K> {
        &self.inputs
    }

    fn output(&mut self, row: Moments) {
        self.emitter.add(row, self.inputs.residual_base());
    }
}
