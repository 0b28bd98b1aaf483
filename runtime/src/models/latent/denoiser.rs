//! Online denoising: estimates of rows without their noise, from past and present alone.

use super::model::LatentModel;
use super::prior::LatentPriors;
use super::state::LatentState;
use crate::arena::Arena;
use crate::format::Error;
use crate::models::input::RawRow;
use crate::models::prediction::Prediction;
use crate::spec::Family;

/// A VOSP model with one stream: noisy rows in, denoised rows with error bars out.
///
/// At each step the recognition network computes q(z_t | x_{1:t}) and the generative network p(x_t | h_{t−1},
/// z_t), where h is the state of the recognition network *before* x_t: the row reaches its own estimate only
/// through the few numbers of z_t, a bottleneck that noise does not pass (Bayer et al., VOSP, 3.2 and 4.2).
/// Nothing of the future is used.
///
/// ```
/// use quaver::{Arena, Denoiser};
///
/// static MODEL: &[u8] = quaver::include_checkpoint!("../../../examples/denoiser.qvr");
///
/// let mut arena = Arena::<69>::new();
/// let mut denoiser = Denoiser::load(MODEL, &mut arena)?;
/// for row in [[12.0, 35.0, 4.0], [16.0, f32::NAN, 6.0], [19.0, 43.0, 90.0]] {
///     let clean = denoiser.step(&row);
///     for channel in clean.iter() {
///         println!("{:.2} ± {:.2}", channel.mean, channel.std_dev());
///     }
///     // How unlikely the row was, given the rows before it.
///     println!("{:?}", clean.surprise().map(|surprise| surprise.nll));
/// }
/// # assert_eq!(denoiser.model().arena_words(), 69);
/// # Ok::<(), quaver::Error>(())
/// ```
#[derive(Debug)]
pub struct Denoiser<'m, 'a> {
    model: LatentModel<'m>,
    state: LatentState<'a>,
}

impl<'m, 'a> Denoiser<'m, 'a> {
    /// Checks a checkpoint and starts a stream in `arena`.
    ///
    /// # Errors
    /// Names the network and field at fault, or the number of words that the arena needs; see [`Error`].
    pub fn load<const WORDS: usize>(bytes: &'m [u8], arena: &'a mut Arena<WORDS>) -> Result<Self, Error> {
        Self::load_in(bytes, arena.words_mut())
    }

    /// Like [`load`](Self::load), for hosts that size the memory at run time.
    ///
    /// # Errors
    /// As [`load`](Self::load).
    pub fn load_in(bytes: &'m [u8], words: &'a mut [f32]) -> Result<Self, Error> {
        Self::start(LatentModel::load(bytes)?, words)
    }

    /// Like [`load`](Self::load), for models that are not known when the program is made: refuses one whose
    /// step takes more than `budget` multiply-accumulates, before it runs one; see
    /// [`LatentModel::step_cost`].
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`Error::Budget`].
    pub fn load_within<const WORDS: usize>(
        bytes: &'m [u8],
        arena: &'a mut Arena<WORDS>,
        budget: u64,
    ) -> Result<Self, Error> {
        Self::start(LatentModel::load_within(bytes, budget)?, arena.words_mut())
    }

    fn start(model: LatentModel<'m>, words: &'a mut [f32]) -> Result<Self, Error> {
        let model = model.expect(Family::Vosp, "VOSP in a denoiser")?;
        let state = model.start(words)?;
        Ok(Denoiser { model, state })
    }

    /// Reads one noisy row in raw units and estimates it without the noise.
    ///
    /// A NaN or infinite value is a missing channel, and so is every channel beyond the end of a short row:
    /// it is imputed by its prediction, mean and variance, and the estimate fills it in. The surprise scores
    /// the row against p(x_t | h_{t−1}), computed before the row was read. A model trained on clean targets
    /// predicts clean rows. Its checkpoint has the variance of the noise, which is added before the row is
    /// scored; in one without it (format version 2) noise alone raises the surprise.
    pub fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.step_uncertain(row, &[])
    }

    /// Like [`step`](Self::step), for a row whose values are themselves uncertain: one variance per channel,
    /// in squared raw units.
    pub fn step_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        let Denoiser { model, state } = self;
        let row = RawRow::new(mean, var);
        model.predict_next(state);
        // What is scored and imputed is a noisy row.
        let [_, _, aleatoric] = state.outputs.slices();
        model.row_noise().add_to(aleatoric);
        state.outputs.score(model.likelihood(), &row);
        model.recognise(state, row);
        model.decode(state, LatentPriors::default());
        state.decoder_input.write_units(model.recognition(), state.recognition);
        state.predicted = false;
        state.outputs.prediction()
    }

    /// Prediction of the next row, p(x_{t+1} | x_{1:t}), noise included: the generative network evaluated
    /// with z_{t+1} from the prior. The stream is not advanced; [`prediction`](Self::prediction) returns this
    /// prediction from now on.
    pub fn expected(&mut self) -> Prediction<'_> {
        self.model.predict_next(&mut self.state);
        self.state.outputs.forget_surprise();
        self.state.outputs.prediction()
    }

    /// The last estimate, or the last [expected](Self::expected) row; before the first row, the prediction of
    /// it.
    pub fn prediction(&self) -> Prediction<'_> {
        self.state.outputs.prediction()
    }

    /// Forgets everything seen.
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

    /// Continues from a saved state: of this stream, or of another one.
    ///
    /// # Errors
    /// If the words cannot be a state of this model; the stream is then unchanged.
    pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        self.model.restore(&mut self.state, words)
    }

    /// Checks the stream's memory; see [`Model::check_state`](crate::Model::check_state).
    ///
    /// # Errors
    /// [`Error::StateValue`].
    pub fn check_state(&self) -> Result<(), Error> {
        self.model.check_state(&self.state)
    }

    /// Whether steps run in the kernels in assembler of the target core; see
    /// [`Model::is_accelerated`](crate::Model::is_accelerated).
    pub fn is_accelerated(&self) -> bool {
        self.model.is_accelerated()
    }

    /// The model.
    pub fn model(&self) -> &LatentModel<'m> {
        &self.model
    }
}
