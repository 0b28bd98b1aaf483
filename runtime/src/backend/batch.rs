//! One step of many streams, where a backend can run them side by side: the float one.

use crate::format::Cursor;
use crate::spec::ModelSpec;
use crate::step_io::StreamLanes;

/// Words of memory that [`batch_step`] needs; `None` for models whose streams are stepped one by one.
#[cfg(feature = "float")]
pub(crate) fn batch_words(spec: &ModelSpec) -> Option<usize> {
    (!spec.layout.is_quantized()).then(|| crate::float::batch_words(spec))
}

#[cfg(not(feature = "float"))]
pub(crate) fn batch_words(_: &ModelSpec) -> Option<usize> {
    None
}

/// Advances up to sixteen streams by a row each: all layers, then the rows of the output map. `weights` is
/// the payload from the first layer on.
#[cfg(feature = "float")]
pub(crate) fn batch_step(
    spec: &ModelSpec,
    weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    crate::float::batch_step(spec, weights, memory, streams);
}

#[cfg(not(feature = "float"))]
pub(crate) fn batch_step(_: &ModelSpec, _: Cursor<'_>, _: &mut [f32], _: &mut dyn StreamLanes) {}
