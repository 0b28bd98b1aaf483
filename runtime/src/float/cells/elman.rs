//! The simple recurrence: h_t = f(W [x_t, h_{t−1}] + b) (Bayer 2015, thesis, Alg. 2).

use super::super::format::Group;
use super::super::kernels;
use super::activation::{activation, deterministic_activation};
use super::vectors;
use super::{Layer, Units};
use crate::moments::{Moments, limited_mean};
use crate::spec::Activation;

/// Replaces the units `h` of an Elman or dense layer by their next state.
pub(in crate::float) fn elman_step(layer: &Layer<'_>, function: Activation, h: &mut Units<'_>) {
    let deterministic = layer.is_deterministic();
    let done = vectors::elman(layer, deterministic, function, h);
    portable_elman(layer, deterministic, function, done, h);
}

/// Advances the units from `first` on: the definition that vector code must equal bit for bit.
pub(super) fn portable_elman(
    layer: &Layer<'_>,
    deterministic: bool,
    function: Activation,
    first: usize,
    h: &mut Units<'_>,
) {
    for group in layer.affine.groups_from(first) {
        match (deterministic, group.lanes) {
            (true, 1) => deterministic_group::<1>(layer, function, &group, h),
            (true, _) => deterministic_group::<4>(layer, function, &group, h),
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
        for ((mean, var), a) in h.units_from(group.unit + first).zip(rows) {
            let y = activation(function, layer.form, a);
            let unit = Moments::limited(Moments { var: layer.variance_scale * y.var, ..y });
            (*mean, *var) = (unit.mean, unit.var);
        }
    }
}

/// [`noisy_group`] of a deterministic layer.
fn deterministic_group<const ROWS: usize>(
    layer: &Layer<'_>,
    function: Activation,
    group: &Group<'_>,
    h: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = kernels::means::<ROWS>(group, first, layer.input.mean);
        for ((mean, var), a) in h.units_from(group.unit + first).zip(rows) {
            (*mean, *var) = (limited_mean(deterministic_activation(function, a)), 0.0);
        }
    }
}
