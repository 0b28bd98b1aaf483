//! The simple recurrence: h_t = f(W [x_t, h_{t−1}] + b) (Bayer 2015, thesis, Alg. 2).

use super::transfer::{certain_transfer, transfer};
use super::{Layer, Units, limited, limited_mean};
use crate::checkpoint::{Group, Transfer};
use crate::kernels::{self, vectors};
use crate::moments::Moments;

/// Overwrites the units `h` of an Elman or dense layer with their next state.
pub(crate) fn elman_step(layer: &Layer<'_>, function: Transfer, h: &mut Units<'_>) {
    let certain = layer.is_certain();
    let done = vectors::elman(layer, certain, function, h);
    portable_elman(layer, certain, function, done, h);
}

/// Brings the units from `first` on forward: the definition of what vectors do.
pub(crate) fn portable_elman(
    layer: &Layer<'_>,
    certain: bool,
    function: Transfer,
    first: usize,
    h: &mut Units<'_>,
) {
    for group in layer.affine.groups_from(first) {
        match (certain, group.lanes) {
            (true, 1) => certain_group::<1>(layer, function, &group, h),
            (true, _) => certain_group::<4>(layer, function, &group, h),
            (false, 1) => noisy_group::<1>(layer, function, &group, h),
            (false, _) => noisy_group::<4>(layer, function, &group, h),
        }
    }
}

/// One group, `ROWS` units at a time.
fn noisy_group<const ROWS: usize>(
    layer: &Layer<'_>,
    function: Transfer,
    group: &Group<'_>,
    h: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = kernels::moments::<ROWS>(group, first, layer.input);
        for ((mean, var), a) in h.places(group.unit + first).zip(rows) {
            let y = transfer(function, layer.form, a);
            let unit = limited(Moments { var: layer.variance_scale * y.var, ..y });
            (*mean, *var) = (unit.mean, unit.var);
        }
    }
}

/// [`noisy_group`] for a layer in which nothing is uncertain.
fn certain_group<const ROWS: usize>(
    layer: &Layer<'_>,
    function: Transfer,
    group: &Group<'_>,
    h: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = kernels::means::<ROWS>(group, first, layer.input.mean);
        for ((mean, var), a) in h.places(group.unit + first).zip(rows) {
            (*mean, *var) = (limited_mean(certain_transfer(function, a)), 0.0);
        }
    }
}
