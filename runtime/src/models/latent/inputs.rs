//! What goes into a network: its standardised inputs.
//!
//! One type for both networks and for every source, so that their layers exist once in flash.

use super::decoder_input::DecoderInput;
use crate::cells::{InputPairs, UNIT_LIMIT};
use crate::models::Model;
use crate::models::input::{LastRow, RawRow};
use crate::models::outputs::Outputs;
use crate::moments::Moments;
use crate::random::fixed_normal;

/// How latents are fed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Latents {
    /// Mean and variance.
    Moments,
    /// The mean, as if it were certain.
    Mean,
    /// One draw of the fixed ones.
    Draw(u16),
}

/// Where the inputs come from.
enum Source<'i> {
    /// A row in raw units, with what was predicted for it.
    Row(RawRow<'i>, Option<&'i Outputs<'i>>),
    /// A row for the first inputs and the stream's latents for the others.
    RowAndLatents(RawRow<'i>, &'i DecoderInput<'i>, Latents),
    /// All that the stream holds for the generative network.
    DecoderInput(&'i DecoderInput<'i>, Latents),
}

/// The inputs of a network.
pub(super) struct Inputs<'i> {
    network: &'i Model<'i>,
    source: Source<'i>,
}

impl<'i> Inputs<'i> {
    /// A row; where it has gaps, what was predicted for it.
    pub(super) fn row(network: &'i Model<'i>, row: RawRow<'i>, predicted: Option<&'i Outputs<'i>>) -> Self {
        Inputs { network, source: Source::Row(row, predicted) }
    }

    /// A row without gaps, then latents.
    pub(super) fn row_and_latents(
        network: &'i Model<'i>,
        row: &'i [f32],
        fed: &'i DecoderInput<'i>,
        latents: Latents,
    ) -> Self {
        let row = RawRow { values: row, vars: &[] };
        Inputs { network, source: Source::RowAndLatents(row, fed, latents) }
    }

    /// What the stream holds.
    pub(super) fn fed(network: &'i Model<'i>, fed: &'i DecoderInput<'i>, latents: Latents) -> Self {
        Inputs { network, source: Source::DecoderInput(fed, latents) }
    }

    /// The row among them, which outputs may be changes of.
    pub(super) fn last_row(&self) -> LastRow<'_> {
        match &self.source {
            Source::Row(row, _) | Source::RowAndLatents(row, ..) => LastRow::Raw(Some(row)),
            Source::DecoderInput(fed, _) => LastRow::Standardised(fed),
        }
    }

    fn at(&self, index: usize) -> Moments {
        if index >= usize::from(self.network.spec().inputs) {
            return Moments::default();
        }
        match self.source {
            Source::Row(row, predicted) => {
                let stand_in = || predicted.and_then(|predicted| predicted.stand_in(index));
                self.network.standardised(index, row.reading(index).or_else(stand_in))
            }
            Source::RowAndLatents(row, fed, latents) => match fed.latent(index) {
                Some(latent) => latent_moments(fed.at(index), latent, latents),
                None => self.network.standardised(index, row.reading(index)),
            },
            Source::DecoderInput(fed, latents) => match fed.latent(index) {
                Some(latent) => latent_moments(fed.at(index), latent, latents),
                None => fed.at(index),
            },
        }
    }
}

impl InputPairs for Inputs<'_> {
    fn deterministic(&self) -> impl Iterator<Item = Option<[f32; 2]>> {
        // Latents are uncertain, and rows are a small part of what these models do.
        core::iter::empty()
    }

    fn any(&self, pair: usize) -> [Moments; 2] {
        [2 * pair, 2 * pair + 1].map(|index| self.at(index))
    }
}

/// A latent of the moments `z`, as it is fed.
fn latent_moments(z: Moments, latent: u16, latents: Latents) -> Moments {
    match latents {
        Latents::Moments => z,
        Latents::Mean => Moments { var: 0.0, ..z },
        Latents::Draw(draw) => {
            let value = z.mean + libm::sqrtf(z.var) * fixed_normal(draw, latent);
            Moments { mean: value.clamp(-UNIT_LIMIT, UNIT_LIMIT), var: 0.0 }
        }
    }
}
