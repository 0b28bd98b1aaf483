//! Replaces `vectors` where a program is compiled for the vectors of its machine.

use super::network;
use super::transpose::Portable;
use crate::format::Cursor;
use crate::spec::ModelSpec;
use crate::step_io::StreamLanes;

/// Advances all streams by a row each.
pub(crate) fn batch_step(
    spec: &ModelSpec,
    weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    network::step::<4, Portable>(spec, weights, memory, streams);
}
