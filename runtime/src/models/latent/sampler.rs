//! Following a sequence, predicting its next row, and sampling its continuation.

use rand_core::Rng;

use super::embedded::EmbeddedLatent;
use super::model::LatentModel;
use super::network_inputs::{Inputs, Latents};
use super::parts::{KnownLatent, LoadedLatent};
use super::state::LatentState;
use super::steps::network_step;
use crate::arena::Arena;
use crate::format::Error;
use crate::models::handle::{loading, stream_methods};
use crate::models::input::RawRow;
use crate::models::prediction::Prediction;
use crate::random::normal;
use crate::spec::Family;

/// The row that a sampled stream feeds back as its next input. Frozen: there is no third choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FeedMode {
    /// The mean of p(x_{t+1} | …, z_{t+1}): a smooth sequence, random only through z.
    Mean,
    /// A draw from that distribution: sequences like those in the data, noise included.
    Draw,
}

/// A STORN model with one stream: it follows rows, predicts the next, and can sample its continuation.
///
/// The generative network reads [x_{t−1}, z_t] and computes p(x_t | x_{1:t−1}, z_{1:t}) (Bayer 2015, thesis,
/// eqs. 29 to 31). While rows are [observed](Self::observe), z_t comes from the recognition network; beyond
/// them it is drawn from the prior N(0, 1).
///
/// ```
/// use quaver::{Arena, FeedMode, Sampler};
/// use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};
///
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../../examples/sampler.qvr");
///
/// let mut arena = Arena::<111>::new();
/// let mut sampler = Sampler::load(MODEL, &mut arena)?;
/// for row in [[12.0, 35.0, 4.0], [16.0, f32::NAN, 6.0]] {
///     let next = sampler.observe(&row);
///     println!("next: {:?}, surprise: {:?}", next.mean(), next.surprise());
/// }
///
/// // A possible continuation. Any generator of `rand_core` will do.
/// let mut rng = Xoroshiro128PlusPlus::seed_from_u64(1);
/// let mut arena = Arena::<111>::new();
/// let mut future = sampler.fork(&mut arena)?;
/// for _ in 0..10 {
///     println!("{:?}", future.sample(&mut rng, FeedMode::Draw));
/// }
/// # assert_eq!(sampler.model().arena_words(), 111);
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Debug)]
pub struct Sampler<'m, 'a, K = LoadedLatent<'m>> {
    pub(super) model: LatentModel<'m, K>,
    pub(super) state: LatentState<'a>,
}

impl<'m, 'a> Sampler<'m, 'a> {
    loading!(LatentModel);

    #[inline(never)] // its kilobyte of stack is not needed while the model is checked
    fn start(model: LatentModel<'m>, words: &'a mut [f32]) -> Result<Self, Error> {
        model.expect(Family::Storn, "STORN in a sampler")?;
        let mut state = LatentState::default();
        model.start(&mut state, words)?;
        Ok(Sampler { model, state })
    }
}

impl<'a, E: EmbeddedLatent> Sampler<'static, 'a, E> {
    /// A stream of a model that is known while compiling; what [`embed_sampler!`](crate::embed_sampler)
    /// defines calls it. There is nothing to check, and an arena that is too small does not compile.
    #[doc(hidden)]
    pub fn embedded<const WORDS: usize>(held: E, arena: &'a mut Arena<WORDS>) -> Self {
        const { assert!(WORDS >= crate::arena_words(E::BYTES), "the arena is too small for the model") };
        const { assert!(crate::is_sampler(E::BYTES), "this is not the checkpoint of a sampler") };
        let model = LatentModel::embedded(held);
        let state = model.start_known(arena.words_mut());
        Sampler { model, state }
    }
}

impl<'m, 'a, K: KnownLatent> Sampler<'m, 'a, K> {
    /// Reads one row in raw units and predicts the next, p(x_{t+1} | x_{1:t}); see
    /// [`prediction`](Self::prediction).
    ///
    /// A NaN or infinite value is a missing channel, and so is every channel beyond the end of a short row,
    /// and a value outside of its [plausible range](crate::Model::ranges): it is imputed by its prediction,
    /// mean and variance. The surprise scores the row against the prediction
    /// made before it.
    pub fn observe(&mut self, row: &[f32]) -> Prediction<'_> {
        self.observe_uncertain(row, &[])
    }

    /// Like [`observe`](Self::observe), for a row whose values are themselves uncertain: one variance per
    /// channel, in squared raw units.
    pub fn observe_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        let Sampler { model, state } = self;
        let mut implausible = model.take_implausible(state);
        let found = model.held.recognition().check_row(mean, &mut implausible);
        let row = RawRow::new(mean, var, found);
        model.predict_next(state);
        state.outputs.score(&model.held.generative().held, &row);
        model.recognise(state, row);
        model.advance_generative(state);
        state.decoder_input.write_row(&model.held.generative().held, row, &state.outputs);
        state.predicted = false;
        model.put_implausible(state, implausible);
        self.prediction()
    }

    /// Prediction of the next row: the generative network evaluated one step ahead, with z_{t+1} from the
    /// prior, in the way of the checkpoint's [`Forecast`](crate::checkpoint::Forecast). The stream is not
    /// advanced.
    pub fn prediction(&mut self) -> Prediction<'_> {
        self.model.predict_next(&mut self.state);
        self.state.outputs.prediction()
    }

    /// Samples the next row, in raw units, and feeds it back.
    ///
    /// The stream then is as if it had observed that row: it can continue sampling, or observing. To keep it
    /// where it is, [`fork`](Self::fork) it first, or [`save`](Self::save) and [`restore`](Self::restore) it.
    pub fn sample(&mut self, rng: &mut (impl Rng + ?Sized), feed: FeedMode) -> &[f32] {
        let Sampler { model, state } = self;
        state.draw_latents(rng);
        let LatentState { recognition, generative, decoder_input, outputs, scratch, .. } = state;
        let inputs = Inputs::decoder(&model.held, decoder_input, Latents::Moments);
        network_step(&model.held.generative().held, generative, scratch, inputs, outputs.slices());
        if feed == FeedMode::Draw {
            outputs.draw(model.likelihood(), rng);
        }
        let row = RawRow::unchecked(outputs.mean);
        let inputs = Inputs::row(&model.held, row, None);
        model.held.recognition().advance_layers(recognition, scratch, &inputs);
        decoder_input.write_row(&model.held.generative().held, row, outputs);
        state.outputs.forget_surprise();
        state.predicted = false;
        state.outputs.mean
    }

    /// Number of implausible values since the stream was started or reset; see
    /// [`Model::implausible_count`](crate::Model::implausible_count).
    pub fn implausible_count(&self) -> u32 {
        self.state.outputs.implausible.count()
    }

    /// A copy of the stream, in memory of its own.
    ///
    /// # Errors
    /// If the arena is too small.
    pub fn fork<'b, const WORDS: usize>(
        &self,
        arena: &'b mut Arena<WORDS>,
    ) -> Result<Sampler<'m, 'b, K>, Error> {
        self.fork_in(arena.words_mut())
    }

    /// Like [`fork`](Self::fork), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// If the slice is shorter than [`LatentModel::arena_words`].
    pub fn fork_in<'b>(&self, words: &'b mut [f32]) -> Result<Sampler<'m, 'b, K>, Error> {
        let mut state = LatentState::default();
        self.model.carve(&mut state, words)?;
        state.copy_from(&self.state);
        Ok(Sampler { model: self.model.clone(), state })
    }

    /// The model and the stream, for futures of it.
    pub(super) fn parts(&mut self) -> (&LatentModel<'m, K>, &mut LatentState<'a>) {
        (&self.model, &mut self.state)
    }

    stream_methods!(LatentModel<'m, K>, "[`LatentModel::saved_words`]");
}

impl LatentState<'_> {
    /// Draws z from the white prior.
    pub(super) fn draw_latents(&mut self, rng: &mut (impl Rng + ?Sized)) {
        let (mean, var) = self.decoder_input.latents();
        mean.iter_mut().for_each(|z| *z = normal(rng));
        var.fill(0.0);
    }
}
