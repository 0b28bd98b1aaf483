//! The compiled half of the Python package `quaver`: the runtime's streams, and batches of sequences over
//! threads. The other half, `python/quaver`, converts arrays and frames, trains by the command line `quaver`,
//! and has the documentation.
//!
//! Rows and predictions cross the boundary as bytes of little-endian f32, which numpy reads and writes
//! without a binding to its C interface: one wheel serves all versions of Python and numpy.

mod batch;
mod csv;
mod errors;
mod floats;
mod handle;
mod model;
mod random;
mod reduce;
mod sampling;
mod stream;

use pyo3::prelude::*;

#[pymodule]
fn _quaver(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_class::<model::Model>()?;
    module.add_class::<random::Random>()?;
    module.add_class::<stream::Stream>()?;
    module.add_function(wrap_pyfunction!(batch::predict, module)?)?;
    module.add_function(wrap_pyfunction!(batch::reduce, module)?)?;
    module.add_function(wrap_pyfunction!(csv::csv, module)?)?;
    module.add_function(wrap_pyfunction!(sampling::sample, module)?)?;
    module.add_function(wrap_pyfunction!(sampling::futures, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::embedding, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::classify, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::teach, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::taught, module)?)?;
    module.add_function(wrap_pyfunction!(reduce::restore_taught, module)?)
}
