//! Long short-term memory on moments (Fortunato, Blundell and Vinyals 2017, A.2).
//!
//! i, f, o = σ(affine), g = tanh(affine), c_t = f ⊙ c_{t−1} + i ⊙ g, h_t = o ⊙ tanh(c_t), with sums and
//! products of quantities taken as independent (Bayer 2015, thesis, eqs. 14 and 15).

use super::super::format::Group;
use super::super::kernels;
use super::activation::{deterministic_activation, sigmoid, tanh};
use super::vectors;
use super::{Layer, Units};
use crate::moments::{Moments, limited_mean, product_of_sanitized};
use crate::spec::{Activation, MomentForm};

/// Gates of a unit in the order of a checkpoint's rows: input, forget, candidate, output.
const GATES: [usize; 4] = [0, 1, 2, 3];

/// Replaces units `h` and cells `c` by their next state.
pub(in crate::float) fn lstm_step(layer: &Layer<'_>, h: &mut Units<'_>, c: &mut Units<'_>) {
    let deterministic = layer.is_deterministic() && vectors::all_zero(c.var);
    let done = vectors::lstm(layer, deterministic, h, c);
    portable_lstm(layer, deterministic, done, h, c);
}

/// Advances the units from `first` on: the definition that vector code must equal bit for bit.
pub(super) fn portable_lstm(
    layer: &Layer<'_>,
    deterministic: bool,
    first: usize,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) {
    for group in layer.affine.groups_from(first) {
        match (deterministic, group.lanes) {
            (true, 1) => deterministic_group::<1>(layer, &group, h, c),
            (true, _) => deterministic_group::<4>(layer, &group, h, c),
            (false, 1) => noisy_group::<1>(layer, &group, h, c),
            (false, _) => noisy_group::<4>(layer, &group, h, c),
        }
    }
}

/// One group, `ROWS` units at a time.
fn noisy_group<const ROWS: usize>(
    layer: &Layer<'_>,
    group: &Group<'_>,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = |gate| kernels::moments::<ROWS>(group, gate * group.lanes + first, layer.input);
        let [input, forget, candidate, output] = GATES.map(rows);
        let units = h.units_from(group.unit + first).zip(c.units_from(group.unit + first));
        let gates = input.iter().zip(&forget).zip(candidate.iter().zip(&output));
        for (((h_mean, h_var), (c_mean, c_var)), ((i, f), (g, o))) in units.zip(gates) {
            let gates = [*i, *f, *g, *o];
            let (unit, cell) = unit_step(layer.form, gates, Moments { mean: *c_mean, var: *c_var });
            (*h_mean, *h_var) = (unit.mean, layer.variance_scale * unit.var);
            (*c_mean, *c_var) = (cell.mean, cell.var);
        }
    }
}

/// The next (h, c) of one unit.
#[inline(never)] // two loops call it, and it is large
fn unit_step(form: MomentForm, gates: [Moments; 4], cell: Moments) -> (Moments, Moments) {
    let [input, forget, candidate, output] = gates;
    let kept = product_of_sanitized(sigmoid(form, forget), cell);
    let added = product_of_sanitized(sigmoid(form, input), tanh(form, candidate));
    let cell = Moments::limited(Moments { mean: kept.mean + added.mean, var: kept.var + added.var });
    (product_of_sanitized(sigmoid(form, output), tanh(form, cell)), cell)
}

/// [`noisy_group`] of a deterministic layer.
fn deterministic_group<const ROWS: usize>(
    layer: &Layer<'_>,
    group: &Group<'_>,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) {
    for first in (0..group.lanes).step_by(ROWS) {
        let rows = |gate| kernels::means::<ROWS>(group, gate * group.lanes + first, layer.input.mean);
        let [input, forget, candidate, output] = GATES.map(rows);
        let units = h.units_from(group.unit + first).zip(c.units_from(group.unit + first));
        let gates = input.iter().zip(&forget).zip(candidate.iter().zip(&output));
        for (((h_mean, h_var), (c_mean, _)), ((i, f), (g, o))) in units.zip(gates) {
            let gates = [*i, *f, *g, *o];
            (*h_mean, *c_mean) = deterministic_unit_step(gates, *c_mean);
            *h_var = 0.0;
        }
    }
}

/// The means of the next (h, c) of one unit.
#[inline(never)]
fn deterministic_unit_step(gates: [f32; 4], cell: f32) -> (f32, f32) {
    let [input, forget, candidate, output] = gates;
    let sigmoid = |a| deterministic_activation(Activation::Sigmoid, a);
    let tanh = |a| deterministic_activation(Activation::Tanh, a);
    let cell = limited_mean(sigmoid(forget) * cell + sigmoid(input) * tanh(candidate));
    (sigmoid(output) * tanh(cell), cell)
}
