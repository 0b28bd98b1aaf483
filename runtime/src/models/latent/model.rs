//! A loaded latent model and the memory it takes.

use super::prior::{LatentPriors, RowNoise};
use super::state::LatentState;
use crate::backend::NetworkMemory;
use crate::checkpoint::LatentCheckpoint;
use crate::format::{Error, Part, Recheck};
use crate::models::Model;
use crate::models::cost::check_budget;
use crate::spec::{Family, Forecast, LatentSpec};

/// A loaded latent model: the weights of two networks in flash.
///
/// A [`Denoiser`](crate::Denoiser) or a [`Sampler`](crate::Sampler) is such a model with one stream; this
/// type has the sizes that they need.
///
/// ```
/// use quaver::LatentModel;
///
/// let bytes = quaver::include_checkpoint!("../../../examples/denoiser.qvr");
/// let model = LatentModel::load(bytes)?;
/// println!("{} channels, {} latents", model.channels(), model.spec().latents);
/// println!("{} words of RAM", model.arena_words());
/// # assert_eq!(model.channels(), 3);
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LatentModel<'m> {
    spec: LatentSpec,
    recognition: Model<'m>,
    generative: Model<'m>,
    prior: LatentPriors<'m>,
    row_noise: RowNoise<'m>,
    /// From the first byte of both networks.
    recheck: Recheck<'m>,
    crc: u32,
}

impl<'m> LatentModel<'m> {
    /// Checks the bytes of a checkpoint.
    ///
    /// # Errors
    /// Names the network and the field at fault; see [`Error`].
    #[inline(never)]
    pub fn load(bytes: &'m [u8]) -> Result<Self, Error> {
        let checkpoint = LatentCheckpoint::read(bytes)?;
        Ok(LatentModel {
            spec: *checkpoint.spec(),
            recognition: Model::new(checkpoint.recognition().clone()),
            generative: Model::new(checkpoint.generative().clone()),
            prior: LatentPriors::new(checkpoint.prior_numbers()),
            row_noise: RowNoise::new(checkpoint.row_noise_numbers()),
            recheck: checkpoint.recheck(),
            crc: checkpoint.crc(),
        })
    }

    /// Like [`load`](Self::load), for models that are not known when the program is made: refuses one whose
    /// step takes more than `budget` multiply-accumulates ([`step_cost`](Self::step_cost)).
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`Error::Budget`].
    pub fn load_within(bytes: &'m [u8], budget: u64) -> Result<Self, Error> {
        let model = Self::load(bytes)?;
        check_budget(model.step_cost(), budget)?;
        Ok(model)
    }

    /// The architecture, apart from the two networks.
    pub fn spec(&self) -> &LatentSpec {
        &self.spec
    }

    /// The network that reads x_t and computes q(z_t | x_{1:t}).
    pub fn recognition(&self) -> &Model<'m> {
        &self.recognition
    }

    /// The network that computes p(x_t | …, z_t).
    pub fn generative(&self) -> &Model<'m> {
        &self.generative
    }

    /// The prior of z that was fitted after training; empty if predictions use that of the spec.
    pub(super) fn fitted_prior(&self) -> LatentPriors<'m> {
        self.prior
    }

    /// The noise of observed rows that predictions do not contain.
    pub(super) fn row_noise(&self) -> RowNoise<'m> {
        self.row_noise
    }

    /// Whether predictions of rows use a prior of z that was fitted after training, an
    /// [`AutoregressivePrior`](crate::checkpoint::AutoregressivePrior) per latent.
    pub fn has_fitted_prior(&self) -> bool {
        !self.prior.is_empty()
    }

    /// Whether steps of both networks run in the kernels in assembler of the target core; see
    /// [`Model::is_accelerated`].
    pub fn is_accelerated(&self) -> bool {
        self.recognition.is_accelerated() && self.generative.is_accelerated()
    }

    /// A second look at the bytes of both networks, in case the flash has changed since they were loaded.
    pub fn recheck(&self) -> Recheck<'m> {
        self.recheck.clone()
    }

    /// Channels of a row.
    pub fn channels(&self) -> usize {
        self.recognition.spec().inputs.into()
    }

    /// The checksum of the checkpoint: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.crc
    }

    /// Four-byte words of RAM that one stream of this model needs: the `WORDS` of its
    /// [`Arena`](crate::Arena).
    #[inline(never)]
    pub fn arena_words(&self) -> usize {
        latent_words(&self.spec, self.recognition.spec().memory(), self.generative.spec().memory())
    }

    /// Numbers in a saved stream: its recurrent state, for a denoiser its last estimate, and with plausible
    /// ranges the number of implausible values.
    #[inline(never)]
    pub fn saved_words(&self) -> usize {
        let (recognition, generative) = (self.recognition.spec(), self.generative.spec());
        recognition.saved_state_words()
            + recognition.total_words()
            + match self.spec.family {
                Family::Storn => generative.saved_state_words() + 2 * self.channels(),
                Family::Vosp => 2 * usize::from(self.spec.latents) + 3 * self.channels(),
            }
    }

    /// Words of RAM for each future of a [`Rollouts`](crate::Rollouts).
    #[inline(never)]
    pub fn future_words(&self) -> usize {
        self.generative.spec().recurrent_words() + self.channels()
    }

    /// Slices of one number per channel in which moments over draws are accumulated.
    pub(super) fn averaged_lists(&self) -> usize {
        averaged_lists(&self.spec)
    }

    /// Words of scratch: the networks take turns.
    #[inline(never)]
    pub(super) fn scratch_words(&self) -> usize {
        self.recognition.spec().scratch_words().max(self.generative.spec().scratch_words())
    }

    /// Index of the first latent among the inputs of the generative network.
    pub(super) fn first_latent(&self) -> usize {
        usize::from(self.generative.spec().inputs).saturating_sub(self.spec.latents.into())
    }

    /// An error unless the model is of this family.
    pub(super) fn expect(self, family: Family, allowed: &'static str) -> Result<Self, Error> {
        if self.spec.family == family {
            return Ok(self);
        }
        Err(Error::Invalid { part: Part::Latent, field: "family", allowed })
    }

    /// Carves up a caller's memory and resets the stream in it.
    #[inline(never)]
    pub(super) fn start<'a>(&self, words: &'a mut [f32]) -> Result<LatentState<'a>, Error> {
        let mut state = LatentState::carve(self, words)?;
        self.reset(&mut state);
        Ok(state)
    }
}

/// Words of a stream: both networks' layers, a copy of the generative network's for lookahead, the decoder's
/// input, prediction and residuals, implausible values, averages over draws, and scratch, which the networks
/// share.
pub(in crate::models) const fn latent_words(
    spec: &LatentSpec,
    recognition: NetworkMemory,
    generative: NetworkMemory,
) -> usize {
    let remembered = match spec.family {
        Family::Storn => generative.recurrent,
        Family::Vosp => 0,
    };
    let scratch =
        if recognition.scratch > generative.scratch { recognition.scratch } else { generative.scratch };
    recognition.recurrent
        + remembered
        + generative.recurrent
        + 2 * generative.inputs
        + spec.latents as usize
        + (4 + averaged_lists(spec)) * recognition.inputs
        + recognition.implausible
        + scratch
}

const fn averaged_lists(spec: &LatentSpec) -> usize {
    match spec.forecast {
        Forecast::Moments | Forecast::PosteriorMean => 0,
        Forecast::Draws { .. } => 3,
    }
}
