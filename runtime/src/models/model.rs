//! A loaded network, and the steps of its streams.

use core::marker::PhantomData;

use super::cost::check_budget;
use super::embedded::{Constants, Embedded};
use super::emitter::Emitter;
use super::input::RawRow;
use super::parts::{Known, Loaded, Network};
use super::prediction::{Novelty, Output, Prediction};
use super::row_step::{PooledStep, RowStep};
use super::state::State;
use crate::arena::Arena;
use crate::backend;
use crate::checkpoint::Checkpoint;
use crate::conformal;
use crate::format::{Error, Recheck};
use crate::spec::{Likelihood, ModelSpec, PoolOver, Target};
use crate::step_io::InputPairs;

/// A model: weights in flash, shared by any number of streams. [`Loaded`] at run time, or a type of
/// [`embed_model!`](crate::embed_model) that is known while compiling.
#[derive(Clone, Debug)]
pub struct Model<'m, K = Loaded<'m>> {
    pub(super) held: K,
    bytes: PhantomData<&'m [u8]>,
}

impl<'m> Model<'m> {
    /// Checks the bytes of a checkpoint once and for all.
    ///
    /// # Errors
    /// Names the field at fault; see [`Error`].
    pub fn load(bytes: &'m [u8]) -> Result<Self, Error> {
        Ok(Self::new(Checkpoint::read(bytes)?))
    }

    /// Like [`load`](Self::load), for models that are not known when the program is made: refuses one whose
    /// step takes more than `budget` multiply-accumulates ([`ModelSpec::step_cost`]).
    ///
    /// ```
    /// # static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
    /// use quaver::{Error, Model};
    ///
    /// // A core that takes 4 cycles per multiply-accumulate with the model of today, at 64 MHz and 1 kHz.
    /// const BUDGET: u64 = 64_000_000 / 1_000 / 4;
    /// let model = Model::load_within(MODEL, BUDGET)?;
    /// assert!(model.spec().step_cost() <= BUDGET);
    /// assert!(matches!(Model::load_within(MODEL, 100), Err(Error::Budget { .. })));
    /// # Ok::<(), quaver::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`load`](Self::load), and [`Error::Budget`].
    pub fn load_within(bytes: &'m [u8], budget: u64) -> Result<Self, Error> {
        let model = Self::load(bytes)?;
        check_budget(model.spec().step_cost(), budget)?;
        Ok(model)
    }

    /// The model of a checked checkpoint.
    pub(super) fn new(checkpoint: Checkpoint<'m>) -> Self {
        Model { held: Loaded::new(checkpoint), bytes: PhantomData }
    }

    /// The checkpoint this model was loaded from.
    pub fn checkpoint(&self) -> &Checkpoint<'m> {
        &self.held.parts.checkpoint
    }

    /// A second look at the bytes of the checkpoint, in case the flash has changed since it was loaded.
    pub fn recheck(&self) -> Recheck<'m> {
        self.checkpoint().recheck()
    }
}

impl<E: Embedded> Model<'static, E> {
    /// The model of a type; what [`embed_model!`](crate::embed_model) defines calls it.
    #[doc(hidden)]
    pub const fn embedded(held: E) -> Self {
        Model { held, bytes: PhantomData }
    }

    /// Begins a stream in memory that is known to be large enough.
    pub(super) fn start_known<'a>(&self, words: &'a mut [f32]) -> State<'a> {
        let mut state = State::carve(self.held.memory(), words).unwrap_or_default();
        self.reset(&mut state);
        state
    }

    /// The checkpoint of this model.
    pub fn checkpoint(&self) -> &'static Checkpoint<'static> {
        &Constants::<E>::parts().checkpoint
    }

    /// A second look at the bytes of the checkpoint, in case the flash has changed since the program was
    /// made.
    pub fn recheck(&self) -> Recheck<'static> {
        self.checkpoint().recheck()
    }
}

impl<'m, K: Known> Model<'m, K> {
    /// The architecture.
    pub fn spec(&self) -> &ModelSpec {
        self.held.spec()
    }

    /// Whether steps run in the kernels in assembler of the target core.
    ///
    /// True if the model's layout is a quantized one, the core has such kernels (the crate's [front
    /// page](crate#kernels) has the table), and the bytes lie at an address that is a multiple of four. A
    /// model at another address gives the same predictions 2.5 to 5 times slower.
    /// [`include_checkpoint!`](crate::include_checkpoint) aligns it; a plain `include_bytes!` or a partition
    /// of the flash may not.
    pub fn is_accelerated(&self) -> bool {
        backend::is_accelerated(self.spec(), &self.held.parts().weights)
    }

    /// Checks that a stream's memory is one that steps can have left: an error names the first word, counted
    /// from the start of the stream's memory, that is not finite, a negative variance, or out of its range.
    /// Together with [`recheck`](Self::recheck), for a task that watches over the others.
    ///
    /// # Errors
    /// [`Error::StateValue`]; [`reset`](Self::reset) or [`restore`](Self::restore) the stream.
    pub fn check_state(&self, state: &State<'_>) -> Result<(), Error> {
        state.check(self.spec())
    }

    /// Begins a stream in `arena`.
    ///
    /// # Errors
    /// If the arena is too small.
    pub fn start<'a, const WORDS: usize>(&self, arena: &'a mut Arena<WORDS>) -> Result<State<'a>, Error> {
        self.start_in(arena.words_mut())
    }

    /// Begins a stream in a slice of at least [`ModelSpec::arena_words`] words, for hosts that size it at run
    /// time.
    ///
    /// # Errors
    /// If the slice is too short.
    pub fn start_in<'a>(&self, words: &'a mut [f32]) -> Result<State<'a>, Error> {
        let mut state = State::carve(self.held.memory(), words)?;
        self.reset(&mut state);
        Ok(state)
    }

    /// Forgets everything seen. A model that predicts its next input then predicts the first one.
    ///
    /// What followed the stream is forgotten as well: error bars have the width of the checkpoint again, and
    /// there is no evidence of faults. To keep the widths over a restart, [`save`](Self::save) and
    /// [`restore`](Self::restore) the stream.
    pub fn reset(&self, state: &mut State<'_>) {
        state.recurrent.fill(0.0);
        state.scales.fill(1.0);
        if let Some(monitor) = &self.held.parts().monitor {
            monitor.reset(state.evidence);
        }
        state.outputs.forget_surprise();
        state.outputs.implausible.reset();
        if self.held.parts().linear.is_some() {
            state.ring.reset(self.spec());
        }
        match self.spec().target {
            Target::Next | Target::ResidualNext => self.advance(state, None),
            Target::Columns | Target::ResidualSame => self.prior(state),
        }
    }

    /// Takes in one row of raw units and predicts.
    ///
    /// A NaN or infinite value is a missing channel, and so is every channel beyond the end of a short
    /// row. So is a value outside of the [plausible range](Self::ranges) of its channel, which is also
    /// [counted](Self::implausible_count). With an input density in the checkpoint it is imputed by its
    /// conditional distribution given the other channels, combined with its prediction if the model
    /// predicts its own inputs ([`Imputation`](crate::checkpoint::Imputation)). Otherwise it is imputed
    /// by its prediction alone or, in models of other columns, by the training mean and variance. Values
    /// beyond the last channel are ignored.
    pub fn step<'s>(&self, state: &'s mut State<'_>, row: &[f32]) -> Prediction<'s> {
        self.step_uncertain(state, row, &[])
    }

    /// Like [`step`](Self::step), for a row whose values are themselves uncertain: one variance per channel,
    /// in squared raw units.
    pub fn step_uncertain<'s>(&self, state: &'s mut State<'_>, mean: &[f32], var: &[f32]) -> Prediction<'s> {
        // Little is left of it where the model is known; elsewhere its stack is no concern of its caller's.
        match K::SPEC {
            Some(_) => self.step_here(state, mean, var),
            None => self.step_apart(state, mean, var),
        }
    }

    #[inline(never)]
    fn step_apart<'s>(&self, state: &'s mut State<'_>, mean: &[f32], var: &[f32]) -> Prediction<'s> {
        self.step_here(state, mean, var)
    }

    #[inline(always)]
    fn step_here<'s>(&self, state: &'s mut State<'_>, mean: &[f32], var: &[f32]) -> Prediction<'s> {
        // Taken out of the stream while the row refers to it.
        let mut implausible = core::mem::take(&mut state.outputs.implausible);
        let row = RawRow::new(mean, var, self.check_row(mean, &mut implausible));
        self.read_row(state, &row);
        state.outputs.implausible = implausible;
        state.outputs.prediction()
    }

    /// Reads one token, by its index among the inputs, and predicts: the bits of [`step`](Self::step) with a
    /// row that is 1 in this channel and 0 in all others, which nobody has to build. For models of text,
    /// whose inputs are the tokens of a vocabulary; an index beyond its end is a missing token, as a row of
    /// NaN would be.
    pub fn step_token<'s>(&self, state: &'s mut State<'_>, token: usize) -> Prediction<'s> {
        let known = token < usize::from(self.spec().inputs);
        let row = if known { RawRow::of_token(token) } else { RawRow::unchecked(&[]) };
        let mut implausible = core::mem::take(&mut state.outputs.implausible);
        self.check_row(&[], &mut implausible);
        self.read_row(state, &row);
        state.outputs.implausible = implausible;
        state.outputs.prediction()
    }

    /// Scores a row, reads it and predicts.
    fn read_row(&self, state: &mut State<'_>, row: &RawRow<'_>) {
        self.examine(state, row);
        self.advance(state, Some(row));
    }

    /// Everything that is done with a row before the network reads it: it is scored, its missing channels are
    /// imputed, and it enters the ring of the last rows.
    #[inline(always)]
    pub(super) fn examine(&self, state: &mut State<'_>, row: &RawRow<'_>) {
        if self.spec().target.is_next() {
            state.outputs.score(&self.held, row);
            self.follow(state, row);
        }
        self.impute_row(state, row);
        if let Some(monitor) = &self.held.parts().monitor {
            state.outputs.anomaly = monitor.read(&self.held, row, state);
        }
        if self.held.parts().linear.is_some() {
            let State { ring, outputs, row: standardised, .. } = state;
            ring.read(&self.held, row, standardised.view(), outputs.parts());
        }
    }

    /// Standardises a row, imputes its missing channels and measures its distance, with an input density.
    fn impute_row(&self, state: &mut State<'_>, row: &RawRow<'_>) {
        if let Some(density) = &self.held.parts().density {
            let State { outputs, row: standardised, scratch, .. } = state;
            outputs.novelty = Some(density.read(&self.held, row, outputs, standardised, scratch));
        }
    }

    /// Reads a row as [`step_uncertain`](Self::step_uncertain) does, for models of other columns that are
    /// pooled. Writes the moments of the last layer's units, or of the rows of the output map, which does not
    /// run for units.
    pub(super) fn step_pooled(
        &self,
        state: &mut State<'_>,
        [mean, var]: [&[f32]; 2],
        over: PoolOver,
        [means, vars]: [&mut [f32]; 2],
    ) {
        let mut implausible = core::mem::take(&mut state.outputs.implausible);
        let row = RawRow::new(mean, var, self.check_row(mean, &mut implausible));
        self.impute_row(state, &row);
        let State { recurrent, outputs, row: standardised, scratch, .. } = state;
        let widening = self.widening(outputs.novelty);
        let emitter = Emitter::new(&self.held, outputs.slices());
        let inputs = RowStep { row: Some(&row), imputed: standardised.view(), emitter };
        match over {
            PoolOver::Units => {
                self.advance_layers(recurrent, scratch, &inputs);
                backend::read_units::<K>(self.spec(), recurrent, means, vars);
            }
            PoolOver::Outputs => {
                let rows = [means.iter_mut(), vars.iter_mut()];
                let mut step = PooledStep { inputs, rows };
                backend::step::<K>(self.spec(), self.held.parts().weights, recurrent, scratch, &mut step);
            }
        }
        if widening != 1.0 {
            vars.iter_mut().for_each(|var| *var *= widening);
        }
        state.outputs.implausible = implausible;
    }

    /// Factor by which the novelty of a row widens variances; 1 without an input density.
    fn widening(&self, novelty: Option<Novelty>) -> f32 {
        let density = self.held.parts().density.as_ref();
        density.zip(novelty).map_or(1.0, |(density, novelty)| density.widening(novelty))
    }

    /// Tells the stream the truth about its last prediction, one value per output; NaN where it is not known.
    /// The width of the error bars follows it from the next step on.
    ///
    /// With [`Extensions::tracking`](crate::checkpoint::Extensions::tracking) in the checkpoint, the variance
    /// of an output grows a little after each truth outside its interval and shrinks after each inside, so
    /// that in the long run as many are outside as asked for, whatever the stream does: after T truths, the
    /// rate of misses is within (B + γ)/(γT) of the wanted one, as long as the factor has not reached its
    /// bounds (module [`conformal`]). Without it, nothing happens.
    ///
    /// For models of other columns. A model of its own next input learns the truth from its next row without
    /// being told, and ignores this. Call it at most once per step.
    pub fn observe(&self, state: &mut State<'_>, truth: &[f32]) {
        if !self.spec().target.is_next() {
            self.follow(state, &RawRow::unchecked(truth));
        }
    }

    /// Like [`observe`](Self::observe), for a truth that arrives some rows later: about the outputs that were
    /// predicted then, which the caller kept.
    pub fn observe_late(
        &self,
        state: &mut State<'_>,
        predicted: impl IntoIterator<Item = Output>,
        truth: &[f32],
    ) {
        let truth = RawRow::unchecked(truth);
        if let Some(tracking) = self.held.tracking().filter(|_| state.tracks) {
            tracking.observe(state.scales, predicted.into_iter(), &truth);
        }
    }

    fn follow(&self, state: &mut State<'_>, truth: &RawRow<'_>) {
        if let Some(tracking) = self.held.tracking().filter(|_| state.tracks) {
            tracking.observe(state.scales, state.outputs.iter(), truth);
        }
    }

    /// Factors on the variances of the outputs that the stream has arrived at; empty for a model that does
    /// not follow the truth.
    pub fn variance_scales<'s>(&self, state: &'s State<'_>) -> &'s [f32] {
        state.scales
    }

    /// Half the width of output `index`'s central interval of a level, in standard deviations: from the
    /// checkpoint's conformal quantiles if it has them, else that of a normal distribution.
    pub fn quantile(&self, index: usize, level: f32) -> f32 {
        let stored = |place| self.held.parts().quantiles.at(conformal::LEVELS.len() * index + place);
        let holds = self.spec().extensions.quantiles && index < usize::from(self.spec().outputs);
        if holds { conformal::interval_quantile(stored, level) } else { conformal::normal_quantile(level) }
    }

    /// Both ends of the central interval of a level around output `index` of a prediction.
    ///
    /// ```
    /// # use quaver::{Arena, Predictor};
    /// # static MODEL: &[u8] = quaver::include_checkpoint!("../../examples/grip_force.qvr");
    /// # let mut arena = Arena::<{ quaver::arena_words(MODEL) }>::new();
    /// # let mut predictor = Predictor::load(MODEL, &mut arena)?;
    /// predictor.step(&[14.0, 9.5, 3.0, 4.25, 6.0, 11.5, 20.25, 17.0]);
    /// let [low, high] = predictor.interval(0, 0.9).unwrap_or_default(); // nine of ten truths are inside
    /// # assert!(low < high);
    /// # Ok::<(), quaver::Error>(())
    /// ```
    pub fn interval(&self, index: usize, output: Output, level: f32) -> [f32; 2] {
        output.interval(self.quantile(index, level))
    }

    /// The last prediction.
    pub fn prediction<'s>(&self, state: &'s State<'_>) -> Prediction<'s> {
        state.outputs.prediction()
    }

    /// Copies a stream's state into `words`, which must have [`ModelSpec::saved_words`] elements.
    ///
    /// # Errors
    /// If `words` has another length.
    pub fn save(&self, state: &State<'_>, words: &mut [f32]) -> Result<(), Error> {
        state.save(self.spec(), words)
    }

    /// Continues from a state saved by [`save`](Self::save): of this stream, or of another one.
    ///
    /// # Errors
    /// If the length is wrong or a word is not a possible value; the state is then unchanged.
    pub fn restore(&self, state: &mut State<'_>, words: &[f32]) -> Result<(), Error> {
        state.restore(self.spec(), words)
    }

    /// Advances the stream by one sample. One function for every caller, because it is large.
    #[inline(never)]
    fn advance(&self, state: &mut State<'_>, row: Option<&RawRow<'_>>) {
        self.emit(state, row, |step, recurrent, scratch| {
            backend::step::<K>(self.spec(), self.held.parts().weights, recurrent, scratch, step);
        });
    }

    /// Writes the prediction of a step whose rows of the output map `run` passes on.
    #[inline(always)]
    pub(super) fn emit(
        &self,
        state: &mut State<'_>,
        row: Option<&RawRow<'_>>,
        run: impl FnOnce(&mut RowStep<'_, '_, K>, &mut [f32], &mut [f32]),
    ) {
        let State { recurrent, outputs, row: standardised, scales, ring, scratch, .. } = state;
        let parts = self.held.parts();
        let widening = self.widening(outputs.novelty);
        let imputed = standardised.view();
        let mut step = RowStep { row, imputed, emitter: Emitter::new(&self.held, outputs.slices()) };
        step.emitter.scales = scales;
        step.emitter.linear = parts.linear.as_ref().map(|linear| (linear, &*ring));
        step.emitter.widening = widening;
        run(&mut step, recurrent, scratch);
        step.emitter.finish();
        if let (Some(row), Some(density)) = (row, &parts.density) {
            density.add_lasting(row, imputed, parts.output_std_dev, outputs.slices());
        }
    }

    /// Advances the layers by one sample, without computing outputs.
    pub(super) fn advance_layers(
        &self,
        recurrent: &mut [f32],
        scratch: &mut [f32],
        inputs: &impl InputPairs,
    ) {
        backend::layers::<K>(self.spec(), self.held.parts().weights, recurrent, scratch, inputs);
    }

    /// Distribution of the outputs before the first sample: that of the training data.
    fn prior(&self, state: &mut State<'_>) {
        let probability = match self.spec().likelihood {
            Likelihood::Gaussian | Likelihood::Heteroscedastic => None,
            Likelihood::Bernoulli => Some(0.5),
            Likelihood::Categorical => Some(1.0 / f32::from(self.spec().outputs)),
        };
        let outputs = &mut state.outputs;
        let slices = outputs.mean.iter_mut().zip(outputs.aleatoric.iter_mut());
        let parts = self.held.parts();
        let scales = parts.output_mean.iter().zip(parts.output_std_dev.iter());
        for ((mean, aleatoric), (raw_mean, raw_std_dev)) in slices.zip(scales) {
            (*mean, *aleatoric) = match probability {
                Some(p) => (p, p * (1.0 - p)),
                None => (raw_mean, raw_std_dev * raw_std_dev),
            };
        }
        outputs.epistemic.fill(0.0);
    }
}
