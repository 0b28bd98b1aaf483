//! One stream of a model: its memory and its handle in one value, whatever the kind of model.

use std::sync::Arc;

use pyo3::prelude::*;
use quaver::{
    AdaptOptions, AdaptivePredictor, Covariance, Denoiser, Prediction, Predictor, Reducer, Sampler,
};
use self_cell::{MutBorrow, self_cell};

use crate::errors::invalid;
use crate::model::{Model, Use};

/// What a handle borrows.
pub(crate) struct Memory {
    model: Arc<[u8]>,
    arena: MutBorrow<Vec<f32>>,
    taught: MutBorrow<Vec<f32>>,
}

/// A handle of the runtime.
pub(crate) enum Handle<'a> {
    Predictor(Predictor<'a, 'a>),
    Denoiser(Denoiser<'a, 'a>),
    Sampler(Sampler<'a, 'a>),
    Adaptive(AdaptivePredictor<'a, 'a>),
    Reducer(Reducer<'a, 'a>),
}

self_cell!(
    pub(crate) struct StreamCell {
        owner: Memory,
        #[covariant]
        dependent: Handle,
    }
);

/// How a stream starts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Start {
    /// As the model is.
    Plain,
    /// With an output layer that learns.
    Adaptive(AdaptOptions),
    /// With memory to be taught so many new classes by so many examples.
    Teachable { new_classes: u16, examples: usize },
}

/// Settings of adaptation from Python: covariance, prior, forgetting, correlation.
pub(crate) type AdaptSettings = (String, f32, f32, f32);

pub(crate) fn adapt_options(
    (covariance, prior, forgetting, correlation): AdaptSettings,
) -> PyResult<AdaptOptions> {
    let covariance = match &*covariance {
        "full" => Covariance::Full,
        "diagonal" => Covariance::Diagonal,
        other => {
            return Err(invalid(format!("covariance must be \"full\" or \"diagonal\", found {other:?}")));
        }
    };
    Ok(AdaptOptions { covariance, prior, forgetting, correlation })
}

impl Start {
    /// Words for the stream, and for what it is taught.
    fn words(self, model: &Model) -> Result<[usize; 2], quaver::Error> {
        let words = match self {
            Start::Plain => [model.arena_words, 0],
            Start::Adaptive(options) => {
                [AdaptivePredictor::arena_words(&quaver::Model::load(&model.bytes)?, &options), 0]
            }
            Start::Teachable { new_classes, examples } => {
                let model = quaver::ReducerModel::load(&model.bytes)?;
                let classes = model.classes() + usize::from(new_classes);
                let prototypes = examples.saturating_mul(model.dimensions() + 1);
                [model.arena_words(), classes.saturating_add(prototypes)]
            }
        };
        Ok(words)
    }
}

impl StreamCell {
    /// Starts a stream in memory of its own.
    pub(crate) fn start(model: &Model, start: Start) -> Result<Self, quaver::Error> {
        let [arena, taught] = start.words(model)?.map(|words| MutBorrow::new(vec![0.0; words]));
        let (kind, memory) = (model.kind, Memory { model: model.bytes.clone(), arena, taught });
        StreamCell::try_new(memory, |memory| {
            let (bytes, arena) = (&*memory.model, memory.arena.borrow_mut());
            Ok(match (start, kind) {
                (Start::Adaptive(options), _) => {
                    Handle::Adaptive(AdaptivePredictor::load_in(bytes, arena, options)?)
                }
                (Start::Teachable { new_classes, .. }, _) => {
                    let reducer = Reducer::load_in(bytes, arena)?;
                    Handle::Reducer(reducer.teach_in(memory.taught.borrow_mut(), new_classes)?)
                }
                (Start::Plain, Use::Predictor) => Handle::Predictor(Predictor::load_in(bytes, arena)?),
                (Start::Plain, Use::Denoiser) => Handle::Denoiser(Denoiser::load_in(bytes, arena)?),
                (Start::Plain, Use::Sampler) => Handle::Sampler(Sampler::load_in(bytes, arena)?),
                (Start::Plain, Use::Reducer) => Handle::Reducer(Reducer::load_in(bytes, arena)?),
            })
        })
    }

    /// Calls a function with the handle.
    pub(crate) fn with<T>(&mut self, work: impl FnOnce(&mut Handle<'_>) -> T) -> T {
        self.with_dependent_mut(|_, handle| work(handle))
    }
}

impl Handle<'_> {
    /// Reads a row; there is no prediction of a reducer.
    pub(crate) fn step(&mut self, row: &[f32], var: &[f32]) -> Option<Prediction<'_>> {
        match self {
            Handle::Predictor(predictor) => Some(predictor.step_uncertain(row, var)),
            Handle::Denoiser(denoiser) => Some(denoiser.step_uncertain(row, var)),
            Handle::Sampler(sampler) => Some(sampler.observe_uncertain(row, var)),
            Handle::Adaptive(predictor) => Some(predictor.step_uncertain(row, var)),
            Handle::Reducer(reducer) => {
                reducer.step_uncertain(row, var);
                None
            }
        }
    }

    /// The last prediction.
    pub(crate) fn prediction(&mut self) -> Option<Prediction<'_>> {
        match self {
            Handle::Predictor(predictor) => Some(predictor.prediction()),
            Handle::Denoiser(denoiser) => Some(denoiser.prediction()),
            Handle::Sampler(sampler) => Some(sampler.prediction()),
            Handle::Adaptive(predictor) => Some(predictor.prediction()),
            Handle::Reducer(_) => None,
        }
    }

    pub(crate) fn reset(&mut self) {
        match self {
            Handle::Predictor(predictor) => predictor.reset(),
            Handle::Denoiser(denoiser) => denoiser.reset(),
            Handle::Sampler(sampler) => sampler.reset(),
            Handle::Adaptive(predictor) => predictor.reset(),
            Handle::Reducer(reducer) => reducer.begin(),
        }
    }

    pub(crate) fn implausible_count(&self) -> u32 {
        match self {
            Handle::Predictor(predictor) => predictor.implausible_count(),
            Handle::Denoiser(denoiser) => denoiser.implausible_count(),
            Handle::Sampler(sampler) => sampler.implausible_count(),
            Handle::Adaptive(predictor) => predictor.implausible_count(),
            Handle::Reducer(reducer) => reducer.implausible_count(),
        }
    }

    pub(crate) fn save(&self) -> Result<Vec<f32>, quaver::Error> {
        let mut words = vec![0.0; self.saved_words()];
        match self {
            Handle::Predictor(predictor) => predictor.save(&mut words),
            Handle::Denoiser(denoiser) => denoiser.save(&mut words),
            Handle::Sampler(sampler) => sampler.save(&mut words),
            Handle::Adaptive(predictor) => predictor.save(&mut words),
            Handle::Reducer(reducer) => reducer.save(&mut words),
        }?;
        Ok(words)
    }

    fn saved_words(&self) -> usize {
        match self {
            Handle::Predictor(predictor) => predictor.model().spec().saved_words(),
            Handle::Denoiser(denoiser) => denoiser.model().saved_words(),
            Handle::Sampler(sampler) => sampler.model().saved_words(),
            Handle::Adaptive(predictor) => predictor.saved_words(),
            Handle::Reducer(reducer) => reducer.model().saved_words(),
        }
    }

    pub(crate) fn restore(&mut self, words: &[f32]) -> Result<(), quaver::Error> {
        match self {
            Handle::Predictor(predictor) => predictor.restore(words),
            Handle::Denoiser(denoiser) => denoiser.restore(words),
            Handle::Sampler(sampler) => sampler.restore(words),
            Handle::Adaptive(predictor) => predictor.restore(words),
            Handle::Reducer(reducer) => reducer.restore(words),
        }
    }
}
