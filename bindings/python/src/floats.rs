//! Numbers as bytes of little-endian f32.

use pyo3::prelude::*;
use pyo3::types::PyByteArray;

/// The numbers in some bytes.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|word| f32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

/// Numbers for numpy, which may write to them.
pub(crate) fn to_bytes<'py>(
    py: Python<'py>,
    values: impl IntoIterator<Item = f32>,
) -> Bound<'py, PyByteArray> {
    let bytes: Vec<u8> = values.into_iter().flat_map(f32::to_le_bytes).collect();
    PyByteArray::new(py, &bytes)
}
