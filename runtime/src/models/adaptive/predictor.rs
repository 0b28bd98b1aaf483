//! A predictor whose output layer learns while it runs.

use super::options::AdaptOptions;
use super::readout::{Readout, features, readout_words};
use crate::arena::Arena;
use crate::format::{Error, Part};
use crate::models::model::Model;
use crate::models::prediction::Prediction;
use crate::models::state::{State, check_saved};

/// A model with one stream whose output layer learns from labelled samples: for the arm, the machine or the
/// day that it was not trained on.
///
/// A label is the true value of an output at the sample just read, from a reference sensor or from a short
/// calibration. Labels may come with every sample, now and then, or for a first minute only. The layers stay
/// as exported, in integers or f32; a linear correction of the outputs by the last layer's units is learned
/// by recursive Bayesian regression. What is uncertain about it is part of the epistemic variance, and the
/// error bar widens by the factor by which past errors exceed it. A label changes nothing beyond
/// [`arena_words`](Self::arena_words) words of memory, and nothing of the checkpoint.
///
/// ```
/// use quaver::{AdaptOptions, AdaptivePredictor, Arena, Covariance};
///
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../../examples/grip_force.qvr");
/// const WORDS: usize = quaver::adaptive_arena_words(MODEL, Covariance::Full);
///
/// let mut arena = Arena::<WORDS>::new();
/// let mut predictor = AdaptivePredictor::load(MODEL, &mut arena, AdaptOptions::default())?;
/// let emg = [14.0, 9.5, 8.0, 4.25, 6.0, 11.5, 20.25, 17.0];
/// let before = predictor.step(&emg).mean()[0];
/// for _ in 0..200 {
///     predictor.step(&emg);
///     predictor.learn(&[before + 10.0]); // this person grips ten newtons harder
/// }
/// assert!(predictor.step(&emg).mean()[0] > before + 5.0);
/// # Ok::<(), quaver::Error>(())
/// ```
///
/// A model of its own next input needs no reference: its labels are the rows themselves. Call `learn(&row)`
/// before `step(&row)`; its surprise and the values that it imputes are then those of the adapted model.
#[derive(Debug)]
pub struct AdaptivePredictor<'m, 'a> {
    model: Model<'m>,
    state: State<'a>,
    readout: Readout<'a>,
}

impl<'m, 'a> AdaptivePredictor<'m, 'a> {
    /// Checks a checkpoint and starts a stream in `arena` that has learned nothing yet.
    ///
    /// # Errors
    /// Names the field at fault, or the number of words that the arena needs; see [`Error`]. Models of zeros
    /// and ones or of classes are refused: their outputs are not linear in the units.
    pub fn load<const WORDS: usize>(
        bytes: &'m [u8],
        arena: &'a mut Arena<WORDS>,
        options: AdaptOptions,
    ) -> Result<Self, Error> {
        Self::load_in(bytes, arena.words_mut(), options)
    }

    /// Like [`load`](Self::load), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_in(bytes: &'m [u8], words: &'a mut [f32], options: AdaptOptions) -> Result<Self, Error> {
        Self::new(Model::load(bytes)?, words, options)
    }

    /// Starts a stream of a loaded model in a slice of at least [`arena_words`](Self::arena_words) words.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn new(model: Model<'m>, words: &'a mut [f32], options: AdaptOptions) -> Result<Self, Error> {
        options.check()?;
        let spec = model.spec();
        if !spec.likelihood.is_normal() {
            let allowed = "gaussian or heteroscedastic in a model that adapts";
            return Err(Error::Invalid { part: Part::Spec, field: "likelihood", allowed });
        }
        let too_small = Error::Arena { needed: Self::arena_words(&model, &options), found: words.len() };
        let (stream, learned) = words.split_at_mut_checked(spec.arena_words()).ok_or(too_small)?;
        let readout = Readout::carve(spec, learned, options).ok_or(too_small)?;
        let state = model.start_in(stream)?;
        let mut predictor = AdaptivePredictor { model, state, readout };
        predictor.reset();
        Ok(predictor)
    }

    /// Words of RAM for a stream of a model and for what it learns; as a constant,
    /// [`adaptive_arena_words`](crate::adaptive_arena_words).
    pub fn arena_words(model: &Model<'_>, options: &AdaptOptions) -> usize {
        let spec = model.spec();
        let units = features(spec).saturating_sub(1);
        spec.arena_words() + readout_words(spec.outputs.into(), units, options.covariance)
    }

    /// Reads one row in raw units and predicts with what was learned so far; see [`Model::step`].
    pub fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.step_uncertain(row, &[])
    }

    /// Reads one row with a variance per channel and predicts; see [`Model::step_uncertain`].
    pub fn step_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        self.model.step_uncertain(&mut self.state, mean, var);
        self.readout.correct(&self.model, &mut self.state);
        self.state.outputs.prediction()
    }

    /// Learns the true values of what was just predicted, in raw units: one per output, NaN where there is
    /// none. The next step is the first to use it; [`prediction`](Self::prediction) stays as it was made.
    ///
    /// `false` if there was nothing to learn: no finite label, or a prediction that has been learned from
    /// before. All outputs share one covariance, which shrinks only with labels of all of them: a model
    /// whose labels are never complete goes on learning at its initial rate.
    pub fn learn(&mut self, truth: &[f32]) -> bool {
        self.readout.learn(&self.model, &self.state, truth)
    }

    /// The last prediction; before the first sample, the prediction of it.
    pub fn prediction(&self) -> Prediction<'_> {
        self.state.outputs.prediction()
    }

    /// Number of implausible values since the stream was started or reset; see
    /// [`Model::implausible_count`].
    pub fn implausible_count(&self) -> u32 {
        self.model.implausible_count(&self.state)
    }

    /// Forgets every row, and keeps what was learned from labels: a new recording of the same arm.
    pub fn reset(&mut self) {
        self.model.reset(&mut self.state);
        // Before the first sample, a model of other columns predicts their training mean, not by its units.
        self.readout.fresh = false;
        if self.model.spec().target.is_next() {
            self.readout.correct(&self.model, &mut self.state);
        }
    }

    /// Forgets what was learned from labels, and continues the stream: another arm. The next step predicts
    /// as exported; its error bar is the wider one of a readout that has yet to learn.
    pub fn forget(&mut self) {
        self.readout.forget();
        self.readout.fresh = false;
    }

    /// Numbers in a saved stream with what was learned.
    pub fn saved_words(&self) -> usize {
        self.model.spec().saved_words() + self.readout.saved_words()
    }

    /// Copies the stream's state and what was learned into `words`.
    ///
    /// # Errors
    /// If `words` is not [`saved_words`](Self::saved_words) long.
    pub fn save(&self, words: &mut [f32]) -> Result<(), Error> {
        let (needed, found) = (self.saved_words(), words.len());
        let (stream, learned) = words
            .split_at_mut_checked(self.model.spec().saved_words())
            .filter(|_| needed == found)
            .ok_or(Error::State { needed, found })?;
        self.model.save(&self.state, stream)?;
        learned.iter_mut().zip(self.readout.saved()).for_each(|(word, value)| *word = value);
        Ok(())
    }

    /// Continues from what [`save`](Self::save) wrote, in this program or a later one, with the same options.
    ///
    /// # Errors
    /// If the length is wrong or a word is not a possible value; nothing is changed then.
    pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        let (needed, found) = (self.saved_words(), words.len());
        let at = self.model.spec().saved_words();
        let (stream, learned) =
            words.split_at_checked(at).filter(|_| needed == found).ok_or(Error::State { needed, found })?;
        match check_saved(learned, learned.len(), self.readout.saved_limits()) {
            Err(Error::StateValue { word }) => return Err(Error::StateValue { word: at + word }),
            checked => checked?,
        }
        self.model.restore(&mut self.state, stream)?;
        self.readout.restore(learned);
        self.readout.read_features(self.model.spec(), &self.state);
        Ok(())
    }

    /// Checks the stream's memory and what was learned; see [`Model::check_state`].
    ///
    /// # Errors
    /// [`Error::StateValue`].
    pub fn check_state(&self) -> Result<(), Error> {
        self.model.check_state(&self.state)?;
        let at = self.model.spec().arena_words();
        let mut learned = self.readout.saved().zip(self.readout.saved_limits());
        match learned.position(|(value, limits)| !limits.contains(&value)) {
            Some(word) => Err(Error::StateValue { word: at + word }),
            None => Ok(()),
        }
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
