//! Online denoising: estimates of rows without their noise, from past and present alone.

use super::embedded::EmbeddedLatent;
use super::model::LatentModel;
use super::parts::{KnownLatent, LoadedLatent};
use super::prior::LatentPriors;
use super::state::LatentState;
use crate::arena::Arena;
use crate::format::Error;
use crate::models::handle::{loading, stream_methods};
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
pub struct Denoiser<'m, 'a, K = LoadedLatent<'m>> {
    model: LatentModel<'m, K>,
    state: LatentState<'a>,
}

impl<'m, 'a> Denoiser<'m, 'a> {
    loading!(LatentModel);

    #[inline(never)] // its kilobyte of stack is not needed while the model is checked
    fn start(model: LatentModel<'m>, words: &'a mut [f32]) -> Result<Self, Error> {
        model.expect(Family::Vosp, "VOSP in a denoiser")?;
        let mut state = LatentState::default();
        model.start(&mut state, words)?;
        Ok(Denoiser { model, state })
    }
}

impl<'a, E: EmbeddedLatent> Denoiser<'static, 'a, E> {
    /// A stream of a model that is known while compiling; what [`embed_denoiser!`](crate::embed_denoiser)
    /// defines calls it. There is nothing to check, and an arena that is too small does not compile.
    #[doc(hidden)]
    pub fn embedded<const WORDS: usize>(held: E, arena: &'a mut Arena<WORDS>) -> Self {
        const { assert!(WORDS >= crate::arena_words(E::BYTES), "the arena is too small for the model") };
        const { assert!(crate::is_denoiser(E::BYTES), "this is not the checkpoint of a denoiser") };
        let model = LatentModel::embedded(held);
        let state = model.start_known(arena.words_mut());
        Denoiser { model, state }
    }
}

impl<'m, K: KnownLatent> Denoiser<'m, '_, K> {
    /// Reads one noisy row in raw units and estimates it without the noise.
    ///
    /// A NaN or infinite value is a missing channel, and so is every channel beyond the end of a short
    /// row, and a value outside of its [plausible range](crate::Model::ranges): it is imputed by its
    /// prediction, mean and variance, and the estimate fills it in. The surprise scores the row against
    /// p(x_t | h_{t−1}), computed before the row was read. A model trained on clean targets predicts
    /// clean rows. Its checkpoint has the variance of the noise, which is added before the row is scored;
    /// in one without it (format version 2) noise alone raises the surprise.
    pub fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.step_uncertain(row, &[])
    }

    /// Like [`step`](Self::step), for a row whose values are themselves uncertain: one variance per channel,
    /// in squared raw units.
    pub fn step_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        let Denoiser { model, state } = self;
        let mut implausible = model.take_implausible(state);
        let found = model.held.recognition().check_row(mean, &mut implausible);
        let row = RawRow::new(mean, var, found);
        model.predict_next(state);
        // What is scored and imputed is a noisy row.
        let [_, _, aleatoric] = state.outputs.slices();
        model.held.row_noise().add_to(aleatoric);
        state.outputs.score(&model.held.generative().held, &row);
        model.recognise(state, row);
        model.decode(state, LatentPriors::default());
        state.decoder_input.write_units(&model.held.recognition().held, state.recognition);
        state.predicted = false;
        model.put_implausible(state, implausible);
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

    /// Number of implausible values since the stream was started or reset; see
    /// [`Model::implausible_count`](crate::Model::implausible_count).
    pub fn implausible_count(&self) -> u32 {
        self.state.outputs.implausible.count()
    }

    stream_methods!(LatentModel<'m, K>, "[`LatentModel::saved_words`]");
}
