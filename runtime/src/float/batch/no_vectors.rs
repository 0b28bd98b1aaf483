//! Replaces `vectors` where a program is compiled for the vectors of its machine.

use super::network;
use crate::format::Cursor;
use crate::lanes::{Portable, StreamLanes};
use crate::spec::ModelSpec;

/// Advances all streams by a row each.
pub(crate) fn batch_step(
    spec: &ModelSpec,
    weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    network::step::<4, Portable>(spec, weights, memory, streams);
}
