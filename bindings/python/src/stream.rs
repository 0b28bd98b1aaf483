//! One stream of a model: its memory and its handle in one value.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quaver::{
    AdaptOptions, AdaptivePredictor, Covariance, Denoiser, Prediction, Predictor, Reducer, Sampler,
};
use self_cell::{MutBorrow, self_cell};

use crate::errors::{invalid, refused};
use crate::floats::{from_bytes, to_bytes};
use crate::model::{Model, Use};
use crate::random::Random;

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
pub(crate) fn adapt_options(
    (covariance, prior, forgetting, correlation): (&str, f32, f32, f32),
) -> PyResult<AdaptOptions> {
    let covariance = match covariance {
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
    fn prediction(&mut self) -> Option<Prediction<'_>> {
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

    fn implausible_count(&self) -> u32 {
        match self {
            Handle::Predictor(predictor) => predictor.implausible_count(),
            Handle::Denoiser(denoiser) => denoiser.implausible_count(),
            Handle::Sampler(sampler) => sampler.implausible_count(),
            Handle::Adaptive(predictor) => predictor.implausible_count(),
            Handle::Reducer(reducer) => reducer.implausible_count(),
        }
    }

    fn save(&self) -> Result<Vec<f32>, quaver::Error> {
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

    fn restore(&mut self, words: &[f32]) -> Result<(), quaver::Error> {
        match self {
            Handle::Predictor(predictor) => predictor.restore(words),
            Handle::Denoiser(denoiser) => denoiser.restore(words),
            Handle::Sampler(sampler) => sampler.restore(words),
            Handle::Adaptive(predictor) => predictor.restore(words),
            Handle::Reducer(reducer) => reducer.restore(words),
        }
    }
}

/// A prediction as Python gets it: mean, variance, epistemic and aleatoric variance of every output; surprise
/// and z-scores; distance of the row and limit of familiar ones; kind, channel and score of an anomaly; channels
/// out of their plausible ranges.
type Step<'py> = (
    Bound<'py, PyByteArray>,
    Option<(f32, Bound<'py, PyByteArray>)>,
    Option<(f32, f32)>,
    Option<(String, Option<u16>, f32)>,
    Vec<usize>,
);

fn step<'py>(py: Python<'py>, prediction: &Prediction<'_>) -> Step<'py> {
    let parts: [fn(quaver::Output) -> f32; 4] = [
        |output| output.mean,
        |output| output.variance,
        |output| output.epistemic,
        |output| output.aleatoric,
    ];
    let outputs = parts.iter().flat_map(|part| prediction.iter().map(part));
    let surprise = prediction.surprise();
    (
        to_bytes(py, outputs),
        surprise.map(|surprise| (surprise.nll, to_bytes(py, surprise.z.iter().copied()))),
        prediction.novelty().map(|novelty| (novelty.distance, novelty.familiar)),
        prediction
            .anomaly()
            .map(|anomaly| (format!("{:?}", anomaly.kind).to_lowercase(), anomaly.channel, anomaly.score)),
        prediction.implausible().collect(),
    )
}

/// A stream. The Python half names its methods by the kind of model.
#[pyclass(module = "quaver._quaver")]
pub(crate) struct Stream {
    pub(crate) cell: StreamCell,
}

/// The refusal of a method that only other streams have.
pub(crate) fn only_for(what: &str, method: &str) -> PyErr {
    invalid(format!("{method} needs a stream of a {what}, and this is none"))
}

#[pymethods]
impl Stream {
    #[new]
    #[pyo3(signature = (model, adapt=None, teach=None))]
    fn new(
        model: &Model,
        adapt: Option<(String, f32, f32, f32)>,
        teach: Option<(u16, usize)>,
    ) -> PyResult<Self> {
        let start = match (adapt, teach) {
            (Some((covariance, prior, forgetting, correlation)), _) => {
                Start::Adaptive(adapt_options((&covariance, prior, forgetting, correlation))?)
            }
            (None, Some((new_classes, examples))) => Start::Teachable { new_classes, examples },
            (None, None) => Start::Plain,
        };
        Ok(Stream { cell: StreamCell::start(model, start).map_err(refused)? })
    }

    fn step<'py>(&mut self, py: Python<'py>, row: &[u8], var: &[u8]) -> Option<Step<'py>> {
        let (row, var) = (from_bytes(row), from_bytes(var));
        self.cell.with(|handle| handle.step(&row, &var).map(|prediction| step(py, &prediction)))
    }

    fn step_token<'py>(&mut self, py: Python<'py>, token: usize) -> PyResult<Step<'py>> {
        self.cell.with(|handle| match handle {
            Handle::Predictor(predictor) => Ok(step(py, &predictor.step_token(token))),
            _ => Err(only_for("predictor", "step_token")),
        })
    }

    fn prediction<'py>(&mut self, py: Python<'py>) -> Option<Step<'py>> {
        self.cell.with(|handle| handle.prediction().map(|prediction| step(py, &prediction)))
    }

    fn expected<'py>(&mut self, py: Python<'py>) -> PyResult<Step<'py>> {
        self.cell.with(|handle| match handle {
            Handle::Denoiser(denoiser) => Ok(step(py, &denoiser.expected())),
            _ => Err(only_for("denoiser", "expected")),
        })
    }

    fn interval(&mut self, level: f32) -> PyResult<Vec<[f32; 2]>> {
        self.cell.with(|handle| match handle {
            Handle::Predictor(predictor) => {
                let outputs = 0..predictor.prediction().mean().len();
                Ok(outputs.filter_map(|index| predictor.interval(index, level)).collect())
            }
            _ => Err(only_for("predictor", "interval")),
        })
    }

    fn observe(&mut self, truth: &[u8]) -> PyResult<()> {
        self.cell.with(|handle| match handle {
            Handle::Predictor(predictor) => {
                predictor.observe(&from_bytes(truth));
                Ok(())
            }
            _ => Err(only_for("predictor", "observe")),
        })
    }

    fn learn(&mut self, truth: &[u8]) -> PyResult<bool> {
        self.cell.with(|handle| match handle {
            Handle::Adaptive(predictor) => Ok(predictor.learn(&from_bytes(truth))),
            _ => Err(only_for("predictor that adapts", "learn")),
        })
    }

    fn forget(&mut self) -> PyResult<()> {
        self.cell.with(|handle| match handle {
            Handle::Adaptive(predictor) => Ok(predictor.forget()),
            Handle::Reducer(reducer) => Ok(reducer.forget_taught()),
            _ => Err(only_for("model that has learned", "forget")),
        })
    }

    fn draw_class(&mut self, temperature: f32, rng: &mut Random) -> PyResult<usize> {
        self.cell.with(|handle| match handle {
            Handle::Predictor(predictor) => Ok(predictor.prediction().draw_class_at(temperature, rng)),
            _ => Err(only_for("predictor", "draw_class")),
        })
    }

    fn reset(&mut self) {
        self.cell.with(|handle| handle.reset());
    }

    fn implausible_count(&mut self) -> u32 {
        self.cell.with(|handle| handle.implausible_count())
    }

    fn save<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyByteArray>> {
        let words = self.cell.with(|handle| handle.save()).map_err(refused)?;
        Ok(to_bytes(py, words))
    }

    fn restore(&mut self, words: &[u8]) -> PyResult<()> {
        self.cell.with(|handle| handle.restore(&from_bytes(words))).map_err(refused)
    }
}
