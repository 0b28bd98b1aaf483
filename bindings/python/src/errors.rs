//! Errors as exceptions of Python.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// The exception of an error of the runtime, with its message.
pub(crate) fn refused(error: quaver::Error) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// A `ValueError`.
pub(crate) fn invalid(message: impl Into<String>) -> PyErr {
    PyValueError::new_err(message.into())
}
