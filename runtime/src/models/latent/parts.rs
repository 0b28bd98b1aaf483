//! What a latent model holds: two networks and what was fitted after training, loaded at run time or known
//! while compiling.

use core::fmt::Debug;

use super::network_inputs::Sources;
use super::prior::{LatentPriors, RowNoise};
use crate::format::Recheck;
use crate::models::model::Model;
use crate::models::parts::{Known, Loaded};
use crate::spec::LatentSpec;

/// Where a [`LatentModel`](crate::LatentModel) comes from: [`LoadedLatent`] from bytes at run time, or a type
/// that [`embed_denoiser!`](crate::embed_denoiser) or [`embed_sampler!`](crate::embed_sampler) defines and of
/// which everything is known while compiling.
///
/// Not to be implemented elsewhere.
pub trait KnownLatent: Clone + Debug {
    /// What is known of the recognition network.
    #[doc(hidden)]
    type Recognition: Known;
    /// What is known of the generative network. A type of its own: networks differ in cells and sizes, and
    /// each is compiled for what it uses.
    #[doc(hidden)]
    type Generative: Known;
    /// What the generative network may read.
    #[doc(hidden)]
    const SOURCES: Sources;

    /// The architecture, apart from the two networks.
    #[doc(hidden)]
    fn spec(&self) -> &LatentSpec;

    /// The network that reads x_t and computes q(z_t | x_{1:t}).
    #[doc(hidden)]
    fn recognition(&self) -> &Model<'_, Self::Recognition>;

    /// The network that computes p(x_t | …, z_t).
    #[doc(hidden)]
    fn generative(&self) -> &Model<'_, Self::Generative>;

    /// The prior of z that was fitted after training; empty if predictions use that of the spec.
    #[doc(hidden)]
    fn prior(&self) -> LatentPriors<'_>;

    /// The noise of observed rows that predictions do not contain.
    #[doc(hidden)]
    fn row_noise(&self) -> RowNoise<'_>;
}

/// A latent model that was loaded at run time: nothing is known of it while compiling.
#[derive(Clone, Debug)]
pub struct LoadedLatent<'m> {
    pub(super) spec: LatentSpec,
    pub(super) recognition: Model<'m>,
    pub(super) generative: Model<'m>,
    pub(super) prior: LatentPriors<'m>,
    pub(super) row_noise: RowNoise<'m>,
    /// From the first byte of both networks.
    pub(super) recheck: Recheck<'m>,
    pub(super) crc: u32,
}

impl<'m> KnownLatent for LoadedLatent<'m> {
    type Recognition = Loaded<'m>;
    type Generative = Loaded<'m>;
    const SOURCES: Sources = Sources { row_and_latents: true, predicted: true, mean: true, draws: true };

    #[inline(always)]
    fn spec(&self) -> &LatentSpec {
        &self.spec
    }

    #[inline(always)]
    fn recognition(&self) -> &Model<'_, Loaded<'m>> {
        &self.recognition
    }

    #[inline(always)]
    fn generative(&self) -> &Model<'_, Loaded<'m>> {
        &self.generative
    }

    #[inline(always)]
    fn prior(&self) -> LatentPriors<'_> {
        self.prior
    }

    #[inline(always)]
    fn row_noise(&self) -> RowNoise<'_> {
        self.row_noise
    }
}
