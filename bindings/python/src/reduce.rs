//! Embeddings and classes of a reducer's stream.

use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use quaver::{Classification, Embedding, Reducer};

use crate::floats::{from_bytes, to_bytes};
use crate::handle::Handle;
use crate::stream::{Stream, only_for};

/// A classification that has been copied: class, name, distance, novelty, known, and probabilities.
pub(crate) struct Class {
    pub(crate) class: usize,
    name: Option<String>,
    pub(crate) distance: Option<f32>,
    pub(crate) novelty: f32,
    pub(crate) known: bool,
    pub(crate) probabilities: Vec<f32>,
}

impl From<Classification<'_>> for Class {
    fn from(found: Classification<'_>) -> Self {
        Class {
            class: found.class,
            name: found.name().map(String::from),
            distance: found.distance,
            novelty: found.novelty,
            known: found.known,
            probabilities: found.probabilities.to_vec(),
        }
    }
}

/// The same as Python gets it.
pub(crate) type ClassBytes<'py> = (usize, Option<String>, Option<f32>, f32, bool, Bound<'py, PyByteArray>);

impl Class {
    pub(crate) fn for_python(self, py: Python<'_>) -> ClassBytes<'_> {
        let Class { class, name, distance, novelty, known, probabilities } = self;
        (class, name, distance, novelty, known, to_bytes(py, probabilities))
    }
}

/// Means, then variances, of the components; nothing before the first row.
#[pyfunction]
pub(crate) fn embedding<'py>(
    py: Python<'py>,
    stream: &mut Stream,
) -> PyResult<Option<Bound<'py, PyByteArray>>> {
    let bytes = |found: Embedding<'_>| to_bytes(py, found.mean.iter().chain(found.var).copied());
    with_reducer(stream, "embedding", |reducer| reducer.embedding().map(bytes))
}

#[pyfunction]
pub(crate) fn classify<'py>(py: Python<'py>, stream: &mut Stream) -> PyResult<Option<ClassBytes<'py>>> {
    let found = with_reducer(stream, "classify", |reducer| reducer.classify().map(Class::from))?;
    Ok(found.map(|found| found.for_python(py)))
}

#[pyfunction]
pub(crate) fn teach(stream: &mut Stream, class: usize) -> PyResult<bool> {
    with_reducer(stream, "teach", |reducer| reducer.teach(class))
}

#[pyfunction]
pub(crate) fn taught<'py>(py: Python<'py>, stream: &mut Stream) -> PyResult<Bound<'py, PyByteArray>> {
    with_reducer(stream, "taught", |reducer| to_bytes(py, reducer.taught().iter().copied()))
}

#[pyfunction]
pub(crate) fn restore_taught(stream: &mut Stream, words: &[u8]) -> PyResult<bool> {
    with_reducer(stream, "restore_taught", |reducer| reducer.restore_taught(&from_bytes(words)))
}

fn with_reducer<T>(
    stream: &mut Stream,
    method: &str,
    work: impl FnOnce(&mut Reducer<'_, '_>) -> T,
) -> PyResult<T> {
    stream.cell.with(|handle| match handle {
        Handle::Reducer(reducer) => Ok(work(reducer)),
        _ => Err(only_for("reducer", method)),
    })
}
