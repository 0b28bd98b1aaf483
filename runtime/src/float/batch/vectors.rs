//! The walk of sixteen streams, compiled for the vectors of a host and chosen when the program runs (feature
//! `vectors`). Nothing is fused or reordered: the bits are those of every other core.

#![allow(unsafe_code)] // calling functions with instructions that not every machine has

use super::network;
use crate::format::Cursor;
use crate::lanes::{Avx512, Portable, StreamLanes, cpu};
use crate::spec::ModelSpec;

/// Advances all streams by a row each.
pub(crate) fn batch_step(
    spec: &ModelSpec,
    weights: Cursor<'_>,
    memory: &mut [f32],
    streams: &mut dyn StreamLanes,
) {
    if cpu::has_avx512f() {
        // SAFETY: the machine has these instructions.
        unsafe { step_avx512(spec, weights, memory, streams) }
    } else if cpu::has_avx2() {
        // SAFETY: as above.
        unsafe { step_avx2(spec, weights, memory, streams) }
    } else {
        network::step::<4, Portable>(spec, weights, memory, streams);
    }
}

/// Sixteen rows of sixteen lanes are half of the registers.
#[target_feature(enable = "avx512f")]
fn step_avx512(spec: &ModelSpec, weights: Cursor<'_>, memory: &mut [f32], streams: &mut dyn StreamLanes) {
    network::step::<16, Avx512>(spec, weights, memory, streams);
}

/// Four rows of sixteen lanes are half of the registers.
#[target_feature(enable = "avx2")]
fn step_avx2(spec: &ModelSpec, weights: Cursor<'_>, memory: &mut [f32], streams: &mut dyn StreamLanes) {
    network::step::<4, Portable>(spec, weights, memory, streams);
}

#[cfg(all(test, feature = "write"))]
mod tests;
