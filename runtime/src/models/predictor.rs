//! Online prediction with mean and variance.

use core::iter::repeat;

use super::input::{RawRow, StepInputs};
use super::likelihood::{categorical, noise_of};
use super::network::{self, bernoulli_output, gaussian_output};
use super::packed;
use super::prediction::{Output, Prediction, outputs};
use super::state::State;
use super::surprise::score;
use crate::checkpoint::{Checkpoint, Cursor, F32s, Likelihood, ModelSpec, Target, Vector};
use crate::moments::Moments;
use crate::{Arena, Error};

/// A loaded model: weights in flash, shared by any number of streams.
#[derive(Clone, Debug)]
pub struct Model<'m> {
    checkpoint: Checkpoint<'m>,
    input_mean: F32s<'m>,
    input_std: F32s<'m>,
    output_mean: F32s<'m>,
    output_std: F32s<'m>,
    /// The payload from the first layer on.
    weights: Cursor<'m>,
}

impl<'m> Model<'m> {
    /// Checks the bytes of a checkpoint once and for all.
    ///
    /// # Errors
    /// Names the field at fault; see [`Error`].
    pub fn load(bytes: &'m [u8]) -> Result<Self, Error> {
        let checkpoint = Checkpoint::read(bytes)?;
        let mut cursor = checkpoint.cursor();
        let [input_mean, input_std, output_mean, output_std] =
            Vector::BEFORE_LAYERS.map(|vector| cursor.vector(vector, checkpoint.spec()));
        Ok(Model { input_mean, input_std, output_mean, output_std, weights: cursor, checkpoint })
    }

    /// The architecture.
    pub fn spec(&self) -> &ModelSpec {
        self.checkpoint.spec()
    }

    /// The checkpoint this model was loaded from.
    pub fn checkpoint(&self) -> &Checkpoint<'m> {
        &self.checkpoint
    }

    /// Begins a stream in `arena`.
    ///
    /// # Errors
    /// If the arena is too small.
    pub fn start<'a, const WORDS: usize>(&self, arena: &'a mut Arena<WORDS>) -> Result<State<'a>, Error> {
        self.start_in(arena.words_mut())
    }

    /// Begins a stream in a slice of at least [`ModelSpec::arena_words`] words, for hosts that size it at run time.
    ///
    /// # Errors
    /// If the slice is too short.
    pub fn start_in<'a>(&self, words: &'a mut [f32]) -> Result<State<'a>, Error> {
        let mut state = State::divide(self.spec(), words)?;
        self.reset(&mut state);
        Ok(state)
    }

    /// Forgets everything seen. A model that predicts its next input then predicts the first one.
    pub fn reset(&self, state: &mut State<'_>) {
        state.recurrent.fill(0.0);
        state.forget_surprise();
        match self.spec().target {
            Target::Next => self.advance(state, None),
            Target::Columns => self.prior(state),
        }
    }

    /// Takes in one row of raw units and predicts.
    ///
    /// A NaN or infinite value is a missing channel, and so is every channel beyond the end of a short row: its
    /// prediction stands in, mean and variance, when the model predicts its own inputs, else the training mean
    /// and variance. Values beyond the last channel are ignored.
    pub fn step<'s>(&self, state: &'s mut State<'_>, row: &[f32]) -> Prediction<'s> {
        self.step_uncertain(state, row, &[])
    }

    /// Like [`step`](Self::step), for a row whose values are themselves uncertain: one variance per channel, in
    /// squared raw units.
    pub fn step_uncertain<'s>(&self, state: &'s mut State<'_>, mean: &[f32], var: &[f32]) -> Prediction<'s> {
        let row = RawRow { values: mean, vars: var };
        if self.spec().target == Target::Next {
            self.judge(state, row);
        }
        self.advance(state, Some(row));
        Prediction::of(state)
    }

    /// The last prediction again.
    pub fn prediction<'s>(&self, state: &'s State<'_>) -> Prediction<'s> {
        Prediction::of(state)
    }

    /// Copies a stream's state into `words`, which must have [`ModelSpec::saved_words`] elements.
    ///
    /// # Errors
    /// If `words` has another length.
    pub fn save(&self, state: &State<'_>, words: &mut [f32]) -> Result<(), Error> {
        state.save(self.spec(), words)
    }

    /// Goes on from a state saved by [`save`](Self::save): the same stream's, or another one's.
    ///
    /// # Errors
    /// If the length does not fit or a word is not a possible value; the state is then unchanged.
    pub fn restore(&self, state: &mut State<'_>, words: &[f32]) -> Result<(), Error> {
        state.restore(self.spec(), words)
    }

    /// Scores a row against the prediction made before it.
    fn judge(&self, state: &mut State<'_>, row: RawRow<'_>) {
        let likelihood = self.spec().likelihood;
        let predicted = outputs(state.mean, state.epistemic, state.aleatoric);
        let mut total = None;
        for (channel, (z, output)) in state.z.iter_mut().zip(predicted).enumerate() {
            let scored = row.reading(channel).map(|reading| score(likelihood, output, reading.value()));
            *z = scored.as_ref().map_or(f32::NAN, |score| score.z);
            if let Some(score) = scored {
                total = Some(total.unwrap_or(0.0) + score.nll);
            }
        }
        state.nll = total;
    }

    /// Brings the stream one sample forward. One function for every kind of model, and not one per caller: it is large.
    #[inline(never)]
    fn advance(&self, state: &mut State<'_>, row: Option<RawRow<'_>>) {
        let spec = self.spec();
        let mut weights = self.weights;
        let predicted = match spec.target {
            Target::Next => [&*state.mean, &*state.epistemic, &*state.aleatoric],
            Target::Columns => [&[][..]; 3],
        };
        let inputs = StepInputs { row, predicted, mean: self.input_mean, std: self.input_std };
        let below = if spec.layout.is_packed() {
            packed::recur(spec, &mut weights, state.scratch, state.recurrent, &inputs)
        } else {
            network::recur(spec, &mut weights, state.scratch, state.recurrent, inputs.limited(spec.inputs))
        };

        let mut after_output = weights;
        after_output.skip(spec.output_shape());
        let noise_var = after_output.vector(Vector::NoiseVar, spec);
        let calibration = after_output.vector(Vector::Calibration, spec);
        let units = self.output_mean.iter().zip(self.output_std.iter());
        let noises = noise_var.iter().chain(repeat(0.0)).zip(calibration.iter().chain(repeat(1.0)));
        let places = state.mean.iter_mut().zip(state.epistemic.iter_mut().zip(state.aleatoric.iter_mut()));
        let mut channels = places.zip(units.zip(noises));
        let mut held = None;
        let each = |y: Moments| {
            let (y, noise) = match (spec.likelihood, held.take()) {
                // The row of the mean waits for that of the noise.
                (Likelihood::Heteroscedastic, None) => {
                    held = Some(y);
                    return;
                }
                (Likelihood::Heteroscedastic, Some(mean)) => (mean, noise_of(y)),
                _ => (y, 0.0),
            };
            if let Some(((mean, (epistemic, aleatoric)), ((raw_mean, raw_std), (noise_var, calibration)))) =
                channels.next()
            {
                let output = match spec.likelihood {
                    Likelihood::Gaussian => gaussian_output(y, raw_mean, raw_std, noise_var, calibration),
                    Likelihood::Bernoulli => bernoulli_output(y),
                    Likelihood::Heteroscedastic => gaussian_output(y, raw_mean, raw_std, noise, calibration),
                    // Logits for now: probabilities need all of them.
                    Likelihood::Categorical => Output::of(y.mean, y.var, 0.0),
                };
                (*mean, *epistemic, *aleatoric) = (output.mean, output.epistemic, output.aleatoric);
            }
        };
        if spec.layout.is_packed() {
            packed::output_step(spec, &mut weights, state.scratch, below, each);
        } else {
            network::output_step(spec, &mut weights, state.scratch, below, each);
        }
        if spec.likelihood == Likelihood::Categorical {
            categorical(state.mean, state.epistemic, state.aleatoric);
        }
    }

    /// What is known of the outputs before the first sample: their distribution in the training data.
    fn prior(&self, state: &mut State<'_>) {
        let probability = match self.spec().likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => None,
            Likelihood::Bernoulli => Some(0.5),
            Likelihood::Categorical => Some(1.0 / f32::from(self.spec().outputs)),
        };
        let places = state.mean.iter_mut().zip(state.aleatoric.iter_mut());
        for ((mean, aleatoric), (raw_mean, raw_std)) in
            places.zip(self.output_mean.iter().zip(self.output_std.iter()))
        {
            (*mean, *aleatoric) = match probability {
                Some(p) => (p, p * (1.0 - p)),
                None => (raw_mean, raw_std * raw_std),
            };
        }
        state.epistemic.fill(0.0);
    }
}

/// A model with one stream: the common case in one value.
///
/// See the [crate's front page](crate) for an example. For many streams of one model, hold a [`Model`] and one
/// [`State`] per stream.
#[derive(Debug)]
pub struct Predictor<'m, 'a> {
    model: Model<'m>,
    state: State<'a>,
}

impl<'m, 'a> Predictor<'m, 'a> {
    /// Checks a checkpoint once and for all and begins a stream in `arena`.
    ///
    /// # Errors
    /// Names the field at fault, or says how many words the arena needs; see [`Error`].
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

    /// Takes in one row of raw units and predicts; see [`Model::step`].
    pub fn step(&mut self, row: &[f32]) -> Prediction<'_> {
        self.model.step(&mut self.state, row)
    }

    /// Takes in one row with a variance per channel and predicts; see [`Model::step_uncertain`].
    pub fn step_uncertain(&mut self, mean: &[f32], var: &[f32]) -> Prediction<'_> {
        self.model.step_uncertain(&mut self.state, mean, var)
    }

    /// Takes in several rows, one after the other in one slice, and shows each prediction to `each`. A rest shorter
    /// than a row is ignored.
    pub fn run(&mut self, rows: &[f32], mut each: impl FnMut(Prediction<'_>)) {
        let width = usize::from(self.model.spec().inputs).max(1);
        for row in rows.chunks_exact(width) {
            each(self.model.step(&mut self.state, row));
        }
    }

    /// The last prediction again; before the first sample, what is expected of it.
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
    /// If `words` is not [`ModelSpec::saved_words`] long.
    pub fn save(&self, words: &mut [f32]) -> Result<(), Error> {
        self.model.save(&self.state, words)
    }

    /// Goes on from a saved state; see [`Model::restore`].
    ///
    /// # Errors
    /// If the words cannot be a state of this model.
    pub fn restore(&mut self, words: &[f32]) -> Result<(), Error> {
        self.model.restore(&mut self.state, words)
    }

    /// The model.
    pub fn model(&self) -> &Model<'m> {
        &self.model
    }
}
