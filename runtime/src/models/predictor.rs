//! Online prediction with mean and variance.

use super::embedded::Embedded;
use super::handle::{loading, stream_methods};
use super::model::Model;
use super::parts::{Known, Loaded};
use super::prediction::{Output, Prediction};
use super::state::State;
use crate::arena::Arena;
use crate::format::Error;

/// A model with one stream: the common case in one value.
///
/// See the [crate's front page](crate) for an example. For many streams of one model, hold a [`Model`] and
/// one [`State`] per stream.
#[derive(Debug)]
pub struct Predictor<'m, 'a, K = Loaded<'m>> {
    model: Model<'m, K>,
    state: State<'a>,
}

impl<'m, 'a> Predictor<'m, 'a> {
    loading!(Model);

    fn start(model: Model<'m>, words: &'a mut [f32]) -> Result<Self, Error> {
        let state = model.start_in(words)?;
        Ok(Predictor { model, state })
    }
}

impl<'a, E: Embedded> Predictor<'static, 'a, E> {
    /// A stream of a model that is known while compiling; what [`embed_model!`](crate::embed_model) defines
    /// calls it. There is nothing to check, and an arena that is too small does not compile.
    #[doc(hidden)]
    pub fn embedded<const WORDS: usize>(held: E, arena: &'a mut Arena<WORDS>) -> Self {
        const { assert!(WORDS >= crate::arena_words(E::BYTES), "the arena is too small for the model") };
        let model = Model::embedded(held);
        let state = model.start_known(arena.words_mut());
        Predictor { model, state }
    }
}

impl<'m, K: Known> Predictor<'m, '_, K> {
    /// Reads one row in raw units and predicts; see [`Model::step`].
    pub fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.model.step(&mut self.state, row)
    }

    /// Reads one row with a variance per channel and predicts; see [`Model::step_uncertain`].
    pub fn step_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        self.model.step_uncertain(&mut self.state, mean, var)
    }

    /// Reads one token and predicts; see [`Model::step_token`].
    ///
    /// ```
    /// # static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/text.qvr");
    /// use quaver::{Arena, Predictor};
    /// use rand_xoshiro::{Xoroshiro128PlusPlus, rand_core::SeedableRng};
    ///
    /// let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    /// let mut predictor = Predictor::load(MODEL, &mut arena)?;
    /// let mut rng = Xoroshiro128PlusPlus::seed_from_u64(7);
    /// let mut token = predictor.prediction().draw_class(&mut rng);
    /// for _ in 0..20 {
    ///     token = predictor.step_token(token).draw_class(&mut rng); // what is drawn is read next
    /// }
    /// # assert!(token < usize::from(predictor.model().spec().outputs));
    /// # Ok::<(), quaver::Error>(())
    /// ```
    pub fn step_token(&mut self, token: usize) -> Prediction<'_> {
        self.model.step_token(&mut self.state, token)
    }

    /// Steps through several rows in one slice and passes each prediction to `each`. A remainder shorter than
    /// a row is ignored.
    pub fn run(&mut self, rows: &[f32], mut each: impl FnMut(Prediction<'_>)) {
        let width = usize::from(self.model.spec().inputs).max(1);
        for row in rows.chunks_exact(width) {
            each(self.model.step(&mut self.state, row));
        }
    }

    /// Tells the stream the truth about its last prediction, so that the width of its error bars follows; see
    /// [`Model::observe`].
    pub fn observe(&mut self, truth: &[f32]) {
        self.model.observe(&mut self.state, truth);
    }

    /// Tells the stream the truth about outputs that it predicted some rows ago; see [`Model::observe_late`].
    pub fn observe_late(&mut self, predicted: impl IntoIterator<Item = Output>, truth: &[f32]) {
        self.model.observe_late(&mut self.state, predicted, truth);
    }

    /// Whether the width of error bars follows the truth; see [`State::track`].
    pub fn track(&mut self, on: bool) {
        self.state.track(on);
    }

    /// Both ends of the central interval of a level around output `index` of the last prediction; see
    /// [`Model::interval`].
    pub fn interval(&self, index: usize, level: f32) -> Option<[f32; 2]> {
        let output = self.prediction().get(index)?;
        Some(self.model.interval(index, output, level))
    }

    /// The last prediction; before the first sample, the prediction of it.
    pub fn prediction(&self) -> Prediction<'_> {
        self.model.prediction(&self.state)
    }

    /// Number of implausible values since the stream was started or reset; see
    /// [`Model::implausible_count`].
    pub fn implausible_count(&self) -> u32 {
        self.model.implausible_count(&self.state)
    }

    stream_methods!(Model<'m, K>, "[`ModelSpec::saved_words`](crate::checkpoint::ModelSpec::saved_words)");
}
