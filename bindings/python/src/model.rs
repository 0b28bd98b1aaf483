//! A checkpoint that has been checked.

use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use quaver::checkpoint::{Family, Kind, ModelSpec};
use quaver::conformal::normal_quantile;
use quaver::{LatentModel, ReducerModel};

use crate::errors::refused;

/// What a model is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    Predictor,
    Denoiser,
    Sampler,
    Reducer,
}

impl Use {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Use::Predictor => "predictor",
            Use::Denoiser => "denoiser",
            Use::Sampler => "sampler",
            Use::Reducer => "reducer",
        }
    }
}

/// A checkpoint: its bytes, shared by all its streams, and what every caller asks for.
#[pyclass(frozen, module = "quaver._quaver")]
pub(crate) struct Model {
    pub(crate) bytes: Arc<[u8]>,
    pub(crate) kind: Use,
    /// Channels of a row.
    #[pyo3(get)]
    pub(crate) inputs: usize,
    /// Outputs of a prediction; of a reducer, components of an embedding.
    #[pyo3(get)]
    pub(crate) outputs: usize,
    #[pyo3(get)]
    input_names: Vec<String>,
    #[pyo3(get)]
    output_names: Vec<String>,
    /// Number of a reducer's classes, which may have no names.
    #[pyo3(get)]
    classes: usize,
    #[pyo3(get)]
    class_names: Vec<String>,
    /// Whether predictions are of the next row.
    #[pyo3(get)]
    predicts_next: bool,
    /// Words of RAM for a stream on a device.
    #[pyo3(get)]
    pub(crate) arena_words: usize,
}

#[pymethods]
impl Model {
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Self> {
        let bytes: Arc<[u8]> = bytes.into();
        match Kind::of(&bytes) {
            Some(Kind::Latent) => Model::latent(&bytes),
            Some(Kind::Reducer) => Model::reducer(&bytes),
            _ => Model::predictor(&bytes),
        }
        .map_err(refused)
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.kind.name()
    }

    /// Half the width of each output's central interval of a level, in standard deviations.
    fn quantiles(&self, level: f32) -> PyResult<Vec<f32>> {
        if self.kind != Use::Predictor {
            return Ok(vec![normal_quantile(level); self.outputs]);
        }
        let model = quaver::Model::load(&self.bytes).map_err(refused)?;
        Ok((0..self.outputs).map(|output| model.quantile(output, level)).collect())
    }

    #[getter]
    fn checkpoint<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.bytes)
    }
}

/// Names as strings of their own.
fn owned<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    names.map(String::from).collect()
}

impl Model {
    fn predictor(bytes: &Arc<[u8]>) -> Result<Self, quaver::Error> {
        let model = quaver::Model::load(bytes)?;
        let (spec, checkpoint): (&ModelSpec, _) = (model.spec(), model.checkpoint());
        Ok(Model {
            bytes: bytes.clone(),
            kind: Use::Predictor,
            inputs: spec.inputs.into(),
            outputs: spec.outputs.into(),
            input_names: owned(checkpoint.input_names()),
            output_names: owned(checkpoint.output_names()),
            classes: 0,
            class_names: Vec::new(),
            predicts_next: spec.target.is_next(),
            arena_words: spec.arena_words(),
        })
    }

    fn latent(bytes: &Arc<[u8]>) -> Result<Self, quaver::Error> {
        let model = LatentModel::load(bytes)?;
        let kind = if model.spec().family == Family::Vosp { Use::Denoiser } else { Use::Sampler };
        Ok(Model {
            bytes: bytes.clone(),
            kind,
            inputs: model.channels(),
            outputs: model.channels(),
            input_names: owned(model.recognition().checkpoint().input_names()),
            output_names: owned(model.generative().checkpoint().output_names()),
            classes: 0,
            class_names: Vec::new(),
            predicts_next: kind == Use::Sampler,
            arena_words: model.arena_words(),
        })
    }

    fn reducer(bytes: &Arc<[u8]>) -> Result<Self, quaver::Error> {
        let model = ReducerModel::load(bytes)?;
        Ok(Model {
            bytes: bytes.clone(),
            kind: Use::Reducer,
            inputs: model.network().spec().inputs.into(),
            outputs: model.dimensions(),
            input_names: owned(model.network().checkpoint().input_names()),
            output_names: Vec::new(),
            classes: model.classes(),
            class_names: owned((0..model.classes()).filter_map(|class| model.class_name(class))),
            predicts_next: false,
            arena_words: model.arena_words(),
        })
    }
}
