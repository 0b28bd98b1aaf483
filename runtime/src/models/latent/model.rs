//! A latent model and the memory it takes.

use core::marker::PhantomData;

use super::embedded::{Constants, EmbeddedLatent, Generative, Recognition};
use super::parts::{KnownLatent, LoadedLatent};
use super::prior::{LatentPriors, RowNoise};
use super::state::LatentState;
use crate::backend::NetworkMemory;
use crate::checkpoint::{Checkpoint, LatentCheckpoint};
use crate::format::{Error, Part, Recheck};
use crate::models::Model;
use crate::models::cost::check_budget;
use crate::models::parts::Known;
use crate::spec::{Family, Forecast, LatentSpec};

/// A latent model: the weights of two networks in flash. [`LoadedLatent`] at run time, or a type of
/// [`embed_denoiser!`](crate::embed_denoiser) or [`embed_sampler!`](crate::embed_sampler) that is known while
/// compiling.
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
pub struct LatentModel<'m, K = LoadedLatent<'m>> {
    pub(in crate::models) held: K,
    bytes: PhantomData<&'m [u8]>,
}

impl<'m> LatentModel<'m> {
    /// Checks the bytes of a checkpoint.
    ///
    /// # Errors
    /// Names the network and the field at fault; see [`Error`].
    #[inline(never)]
    pub fn load(bytes: &'m [u8]) -> Result<Self, Error> {
        Self::of(&LatentCheckpoint::read(bytes)?)
    }

    /// The model of a checked checkpoint. A function of its own, so that what takes a kilobyte is not on the
    /// stack while the checkpoint is checked; and in one expression, so that it is not moved.
    #[inline(never)]
    fn of(checkpoint: &LatentCheckpoint<'m>) -> Result<Self, Error> {
        Ok(LatentModel {
            held: LoadedLatent {
                spec: *checkpoint.spec(),
                recognition: network(checkpoint.recognition()),
                generative: network(checkpoint.generative()),
                prior: LatentPriors::new(checkpoint.prior_numbers()),
                row_noise: RowNoise::new(checkpoint.row_noise_numbers()),
                recheck: checkpoint.recheck(),
                crc: checkpoint.crc(),
            },
            bytes: PhantomData,
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

    /// The network that reads x_t and computes q(z_t | x_{1:t}).
    pub fn recognition(&self) -> &Model<'m> {
        &self.held.recognition
    }

    /// The network that computes p(x_t | …, z_t).
    pub fn generative(&self) -> &Model<'m> {
        &self.held.generative
    }

    /// A second look at the bytes of both networks, in case the flash has changed since they were loaded.
    pub fn recheck(&self) -> Recheck<'m> {
        self.held.recheck.clone()
    }

    /// The checksum of the checkpoint: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        self.held.crc
    }

    /// An error unless the model is of this family.
    pub(super) fn expect(&self, family: Family, allowed: &'static str) -> Result<(), Error> {
        if self.spec().family == family {
            return Ok(());
        }
        Err(Error::Invalid { part: Part::Latent, field: "family", allowed })
    }
}

/// A network of a checked checkpoint; one after the other, the stack holds what is moved of one.
#[inline(never)]
fn network<'m>(checkpoint: &Checkpoint<'m>) -> Model<'m> {
    Model::new(checkpoint.clone())
}

impl<E: EmbeddedLatent> LatentModel<'static, E> {
    /// The model of a type; what [`embed_denoiser!`](crate::embed_denoiser) and
    /// [`embed_sampler!`](crate::embed_sampler) define calls it.
    #[doc(hidden)]
    pub const fn embedded(held: E) -> Self {
        LatentModel { held, bytes: PhantomData }
    }

    /// Begins a stream in memory that is known to be large enough. Carves it up twice: a state that was reset
    /// lies in memory, and moving it from there takes a library's copying of memory, 900 bytes of code.
    #[inline(always)]
    pub(super) fn start_known<'a>(&self, words: &'a mut [f32]) -> LatentState<'a> {
        let predicted = self.reset_known(words);
        let mut state = LatentState { predicted, ..LatentState::default() };
        state.carve(self.spec(), self.memory(), words);
        state
    }

    /// Resets the stream in such memory; whether its outputs are then the prediction of the next row.
    fn reset_known(&self, words: &mut [f32]) -> bool {
        let mut state = LatentState::default();
        state.carve(self.spec(), self.memory(), words);
        self.reset(&mut state);
        state.predicted
    }

    /// The network that reads x_t and computes q(z_t | x_{1:t}).
    pub fn recognition(&self) -> &'static Model<'static, Recognition<E>> {
        Constants::<E>::recognition()
    }

    /// The network that computes p(x_t | …, z_t).
    pub fn generative(&self) -> &'static Model<'static, Generative<E>> {
        Constants::<E>::generative()
    }

    /// A second look at the bytes of both networks, in case the flash has changed since the program was made.
    pub fn recheck(&self) -> Recheck<'static> {
        Constants::<E>::recheck()
    }

    /// The checksum of the checkpoint: identifies exactly this model.
    pub fn crc(&self) -> u32 {
        Constants::<E>::crc()
    }
}

impl<K: KnownLatent> LatentModel<'_, K> {
    /// The architecture, apart from the two networks.
    #[inline(always)]
    pub fn spec(&self) -> &LatentSpec {
        self.held.spec()
    }

    /// Whether predictions of rows use a prior of z that was fitted after training, an
    /// [`AutoregressivePrior`](crate::checkpoint::AutoregressivePrior) per latent.
    pub fn has_fitted_prior(&self) -> bool {
        !self.held.prior().is_empty()
    }

    /// Whether steps of both networks run in the kernels in assembler of the target core; see
    /// [`Model::is_accelerated`].
    pub fn is_accelerated(&self) -> bool {
        self.held.recognition().is_accelerated() && self.held.generative().is_accelerated()
    }

    /// Channels of a row.
    pub fn channels(&self) -> usize {
        self.held.recognition().spec().inputs.into()
    }

    /// Four-byte words of RAM that one stream of this model needs: the `WORDS` of its
    /// [`Arena`](crate::Arena).
    #[inline(never)]
    pub fn arena_words(&self) -> usize {
        let [recognition, generative] = self.memory();
        latent_words(self.spec(), recognition, generative)
    }

    /// Numbers in a saved stream: its recurrent state, for a denoiser its last estimate, and with plausible
    /// ranges the number of implausible values.
    #[inline(never)]
    pub fn saved_words(&self) -> usize {
        let (recognition, generative) = (self.held.recognition().spec(), self.held.generative().spec());
        recognition.saved_state_words()
            + recognition.total_words()
            + match self.spec().family {
                Family::Storn => generative.saved_state_words() + 2 * self.channels(),
                Family::Vosp => 2 * usize::from(self.spec().latents) + 3 * self.channels(),
            }
    }

    /// Words of RAM for each future of a [`Rollouts`](crate::Rollouts).
    #[inline(never)]
    pub fn future_words(&self) -> usize {
        self.held.generative().spec().recurrent_words() + self.channels()
    }

    /// Index of the first latent among the inputs of the generative network.
    pub(super) fn first_latent(&self) -> usize {
        usize::from(self.held.generative().spec().inputs).saturating_sub(self.spec().latents.into())
    }

    /// Memory of both networks.
    #[inline(always)]
    fn memory(&self) -> [NetworkMemory; 2] {
        [self.held.recognition().held.memory(), self.held.generative().held.memory()]
    }

    /// Carves up a caller's memory; its contents stay as they are.
    pub(super) fn carve<'a>(&self, state: &mut LatentState<'a>, words: &'a mut [f32]) -> Result<(), Error> {
        let (memory, found) = (self.memory(), words.len());
        let carved = state.carve(self.spec(), memory, words);
        carved.ok_or_else(|| {
            let [recognition, generative] = memory;
            Error::Arena { needed: latent_words(self.spec(), recognition, generative), found }
        })
    }

    /// Carves up a caller's memory and resets the stream in it.
    #[inline(never)]
    pub(super) fn start<'a>(&self, state: &mut LatentState<'a>, words: &'a mut [f32]) -> Result<(), Error> {
        self.carve(state, words)?;
        self.reset(state);
        Ok(())
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

/// Slices of one number per channel in which moments over draws are accumulated.
pub(super) const fn averaged_lists(spec: &LatentSpec) -> usize {
    match spec.forecast {
        Forecast::Moments | Forecast::PosteriorMean => 0,
        Forecast::Draws { .. } => 3,
    }
}
