//! The simple recurrence: h_t = f(W [x_t, h_{t−1}] + b) (Bayer 2015, thesis, Alg. 2).

use super::activation::{activation, deterministic_activation};
use super::{Layer, Units, limited, limited_mean};
use crate::checkpoint::{Activation, Group};
use crate::kernels::{self, vectors};
use crate::moments::Moments;

/// Overwrites the units `h` of an Elman or dense layer with their next state.
pub(crate) fn elman_step(layer: &Layer<'_>, function: Activation, h: &mut Units<'_>) {
    let deterministic = layer.is_deterministic();
    let done = vectors::elman(layer, deterministic, function, h);
    portable_elman(layer, deterministic, function, done, h);
}

/// Brings the units from `first` on forward: the definition of what vectors do.
pub(crate) fn portable_elman(
    layer: &Layer<'_>,
    deterministic: bool,
    function: Activation,
    first: usize,
    h: &mut Units<'_>,
) {
    for group in layer.affine.groups_from(first) {
        match (deterministic, group.lanes) {
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
    function: Activation,
    group: &Group<'_>,
    h: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = kernels::moments::<ROWS>(group, first, layer.input);
        for ((mean, var), a) in h.places(group.unit + first).zip(rows) {
            let y = activation(function, layer.form, a);
            let unit = limited(Moments { var: layer.variance_scale * y.var, ..y });
            (*mean, *var) = (unit.mean, unit.var);
        }
    }
}

/// [`noisy_group`] for a layer in which nothing is uncertain.
fn certain_group<const ROWS: usize>(
    layer: &Layer<'_>,
    function: Activation,
    group: &Group<'_>,
    h: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = kernels::means::<ROWS>(group, first, layer.input.mean);
        for ((mean, var), a) in h.places(group.unit + first).zip(rows) {
            (*mean, *var) = (limited_mean(deterministic_activation(function, a)), 0.0);
        }
    }
}
