//! Streams of Python.

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quaver::Prediction;

use crate::errors::{invalid, refused};
use crate::floats::{from_bytes, to_bytes};
use crate::handle::{AdaptSettings, Handle, Start, StreamCell, adapt_options};
use crate::model::Model;
use crate::random::Random;

/// A prediction as Python gets it: mean, variance, epistemic and aleatoric variance of every output; surprise
/// and z-scores; distance of the row and limit of familiar ones; kind, channel and score of an anomaly;
/// channels out of their plausible ranges.
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
    fn new(model: &Model, adapt: Option<AdaptSettings>, teach: Option<(u16, usize)>) -> PyResult<Self> {
        let start = match (adapt, teach) {
            (Some(settings), _) => Start::Adaptive(adapt_options(settings)?),
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

    fn forget(&mut self) {
        self.cell.with(|handle| match handle {
            Handle::Adaptive(predictor) => predictor.forget(),
            Handle::Reducer(reducer) => reducer.forget_taught(),
            // These have nothing to forget.
            Handle::Predictor(_) | Handle::Denoiser(_) | Handle::Sampler(_) => {}
        });
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
