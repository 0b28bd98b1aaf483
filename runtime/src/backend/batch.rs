//! One step of many streams, where a backend runs them side by side.

use crate::format::Cursor;
use crate::lanes::StreamLanes;
use crate::spec::ModelSpec;

/// Words of memory that [`batch_step`] needs; `None` for models whose streams are stepped one by one.
pub(crate) fn batch_words(spec: &ModelSpec) -> Option<usize> {
    dispatch!(spec.layout, backend => backend::batch_words(spec))
}

/// Advances up to sixteen streams by a row each: all layers, then the rows of the output map. `weights` is
/// the payload from the first layer on.
pub(crate) fn batch_step(
    spec: &ModelSpec,
    weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    dispatch!(spec.layout, backend => backend::batch_step(spec, weights, memory, streams));
}
