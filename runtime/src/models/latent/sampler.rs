//! Following a sequence, predicting its next row, and going on by itself.

use rand_core::Rng;

use super::inputs::{Inputs, Latents};
use super::model::LatentModel;
use super::state::LatentState;
use super::steps::pass;
use crate::checkpoint::Family;
use crate::models::input::RawRow;
use crate::models::prediction::Prediction;
use crate::random::normal;
use crate::{Arena, Error};

/// What a stream that goes on by itself takes for its next row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FeedMode {
    /// The mean of p(x_{t+1} | …, z_{t+1}): a smooth sequence, in which chance enters by z alone.
    Mean,
    /// A draw from that distribution: sequences like those in the data, noise included.
    Draw,
}

/// A STORN model with one stream: it follows rows, predicts the next, and can go on by itself.
///
/// The generative network reads [x_{t−1}, z_t] and says p(x_t | x_{1:t−1}, z_{1:t}) (Bayer 2015, thesis, eqs. 29 to 31). While
/// rows are [observed](Self::observe), z_t is what the recognition network makes of them; ahead of them it is drawn from
/// the prior N(0, 1).
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
/// // What if nothing more came? Any generator of `rand_core` will do.
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
pub struct Sampler<'m, 'a> {
    pub(super) model: LatentModel<'m>,
    pub(super) state: LatentState<'a>,
}

impl<'m, 'a> Sampler<'m, 'a> {
    /// Checks a checkpoint once and for all and begins a stream in `arena`.
    ///
    /// # Errors
    /// Names the network and field at fault, or says how many words the arena needs; see [`Error`].
    pub fn load<const WORDS: usize>(bytes: &'m [u8], arena: &'a mut Arena<WORDS>) -> Result<Self, Error> {
        Self::load_in(bytes, arena.words_mut())
    }

    /// Like [`load`](Self::load), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_in(bytes: &'m [u8], words: &'a mut [f32]) -> Result<Self, Error> {
        let model = LatentModel::load(bytes)?.expect(Family::Storn, "STORN in a sampler")?;
        let state = model.start(words)?;
        Ok(Sampler { model, state })
    }

    /// Takes in one row of raw units and predicts the next, p(x_{t+1} | x_{1:t}); see [`prediction`](Self::prediction).
    ///
    /// A NaN or infinite value is a missing channel, and so is every channel beyond the end of a short row: its
    /// prediction stands in, mean and variance. The surprise scores the row against the prediction made before it.
    pub fn observe(&mut self, row: &[f32]) -> Prediction<'_> {
        self.observe_uncertain(row, &[])
    }

    /// Like [`observe`](Self::observe), for a row whose values are themselves uncertain: one variance per channel, in
    /// squared raw units.
    pub fn observe_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        let Sampler { model, state } = self;
        let row = RawRow { values: mean, vars: var };
        model.expect_next(state);
        state.outputs.judge(model.likelihood(), &row);
        model.recognise(state, row);
        model.remember(state);
        state.fed.take_row(model.generative(), row, &state.outputs);
        state.expected = false;
        self.prediction()
    }

    /// What is expected of the next row: the generative network looked at one step ahead, with z_{t+1} as the prior has it and
    /// the checkpoint's [`Forecast`](crate::checkpoint::Forecast) says. The stream stays where it is.
    pub fn prediction(&mut self) -> Prediction<'_> {
        self.model.expect_next(&mut self.state);
        self.state.outputs.prediction()
    }

    /// Goes one step on by itself and returns the row it took, in raw units.
    ///
    /// The stream then stands as if it had observed that row: it can go on sampling, or observing. To ask "what next?" and
    /// stay, [`fork`](Self::fork) the stream first, or [`save`](Self::save) and [`restore`](Self::restore) it.
    pub fn sample(&mut self, rng: &mut (impl Rng + ?Sized), feedback: FeedMode) -> &[f32] {
        let Sampler { model, state } = self;
        state.draw_latents(rng);
        let LatentState { recognition, generative, fed, outputs, scratch, .. } = state;
        let inputs = Inputs::fed(model.generative(), fed, Latents::Moments);
        pass(model.generative(), generative, scratch, inputs, outputs.places());
        if feedback == FeedMode::Draw {
            outputs.draw(model.likelihood(), rng);
        }
        let row = RawRow { values: outputs.mean, vars: &[] };
        let inputs = Inputs::row(model.recognition(), row, None);
        model.recognition().recur(recognition, scratch, &inputs);
        fed.take_row(model.generative(), row, outputs);
        state.outputs.forget_surprise();
        state.expected = false;
        state.outputs.mean
    }

    /// Another stream at the same place, in memory of its own.
    ///
    /// # Errors
    /// If the arena is too small.
    pub fn fork<'b, const WORDS: usize>(
        &self,
        arena: &'b mut Arena<WORDS>,
    ) -> Result<Sampler<'m, 'b>, Error> {
        self.fork_in(arena.words_mut())
    }

    /// Like [`fork`](Self::fork), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// If the slice is shorter than [`LatentModel::arena_words`].
    pub fn fork_in<'b>(&self, words: &'b mut [f32]) -> Result<Sampler<'m, 'b>, Error> {
        let mut state = LatentState::divide(&self.model, words)?;
        state.copy_from(&self.state);
        Ok(Sampler { model: self.model.clone(), state })
    }

    /// Forgets everything seen; the prediction is then that of the first row.
    pub fn reset(&mut self) {
        self.model.reset(&mut self.state);
    }

    /// Copies the stream's state into `words`.
    ///
    /// # Errors
    /// If `words` is not [`LatentModel::saved_words`] long.
    pub fn save(&self, words: &mut [f32]) -> Result<(), Error> {
        self.model.save(&self.state, words)
    }

    /// Goes on from a saved state: this stream's, or another one's.
    ///
    /// # Errors
    /// If the words cannot be a state of this model; the stream is then unchanged.
    pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        self.model.restore(&mut self.state, words)
    }

    /// The model.
    pub fn model(&self) -> &LatentModel<'m> {
        &self.model
    }
}

impl LatentState<'_> {
    /// Draws z from the white prior.
    pub(super) fn draw_latents(&mut self, rng: &mut (impl Rng + ?Sized)) {
        let (mean, var) = self.fed.latents();
        mean.iter_mut().for_each(|z| *z = normal(rng));
        var.fill(0.0);
    }
}
