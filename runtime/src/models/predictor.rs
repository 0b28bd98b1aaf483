//! Online prediction with mean and variance.

use super::model::Model;
use super::prediction::{Output, Prediction};
use super::state::State;
use crate::arena::Arena;
use crate::format::Error;

/// A model with one stream: the common case in one value.
///
/// See the [crate's front page](crate) for an example. For many streams of one model, hold a [`Model`] and
/// one [`State`] per stream.
#[derive(Debug)]
pub struct Predictor<'m, 'a> {
    model: Model<'m>,
    state: State<'a>,
}

impl<'m, 'a> Predictor<'m, 'a> {
    /// Checks a checkpoint and starts a stream in `arena`.
    ///
    /// # Errors
    /// Names the field at fault, or the number of words that the arena needs; see [`Error`].
    pub fn load<const WORDS: usize>(bytes: &'m [u8], arena: &'a mut Arena<WORDS>) -> Result<Self, Error> {
        Self::load_in(bytes, arena.words_mut())
    }

    /// Like [`load`](Self::load), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_in(bytes: &'m [u8], words: &'a mut [f32]) -> Result<Self, Error> {
        let model = Model::load(bytes)?;
        let state = model.start_in(words)?;
        Ok(Predictor { model, state })
    }

    /// Like [`load`](Self::load), for models that are not known when the program is made: refuses one whose
    /// step takes more than `budget` multiply-accumulates; see [`Model::load_within`].
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`Error::Budget`].
    pub fn load_within<const WORDS: usize>(
        bytes: &'m [u8],
        arena: &'a mut Arena<WORDS>,
        budget: u64,
    ) -> Result<Self, Error> {
        let model = Model::load_within(bytes, budget)?;
        let state = model.start(arena)?;
        Ok(Predictor { model, state })
    }

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

    /// Checks the stream's memory; see [`Model::check_state`].
    ///
    /// # Errors
    /// [`Error::StateValue`].
    pub fn check_state(&self) -> Result<(), Error> {
        self.model.check_state(&self.state)
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

    /// Forgets everything seen.
    pub fn reset(&mut self) {
        self.model.reset(&mut self.state);
    }

    /// Copies the stream's state into `words`; see [`Model::save`].
    ///
    /// # Errors
    /// If `words` is not [`ModelSpec::saved_words`](crate::checkpoint::ModelSpec::saved_words) long.
    pub fn save(&self, words: &mut [f32]) -> Result<(), Error> {
        self.model.save(&self.state, words)
    }

    /// Continues from a saved state; see [`Model::restore`].
    ///
    /// # Errors
    /// If the words cannot be a state of this model.
    pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        self.model.restore(&mut self.state, words)
    }

    /// Whether steps run in the kernels in assembler of the target core; see [`Model::is_accelerated`].
    pub fn is_accelerated(&self) -> bool {
        self.model.is_accelerated()
    }

    /// The model.
    pub fn model(&self) -> &Model<'m> {
        &self.model
    }
}
