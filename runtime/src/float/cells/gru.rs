//! Gated recurrent unit on moments (Cho et al. 2014), with the reset gate after the recurrent product as in
//! PyTorch and cuDNN.
//!
//! r, z = σ(affine), n = tanh(a_x + r ⊙ a_h) with a_x = W_nx x_t + b_nx and a_h = W_nh h_{t−1} + b_nh, and
//! h_t = (1 − z) ⊙ n + z ⊙ h_{t−1}; r, z, a_x, a_h and h_{t−1} are taken as independent (Bayer 2015, thesis,
//! eqs. 14 and 15, and [`interpolate`](crate::moments::interpolate)).

use super::super::format::Group;
use super::super::kernels;
use super::activation::{deterministic_activation, sigmoid, tanh};
use super::vectors;
use super::{Layer, Units};
use crate::moments::{Moments, interpolate_of_sanitized, limited_mean, product_of_sanitized};
use crate::spec::{Activation, MomentForm};

/// Gates of a unit in the order of a checkpoint's rows.
const RESET: usize = 0;
const UPDATE: usize = 1;
const CANDIDATE: usize = 2;

/// Replaces the units `h` by their next state.
pub(in crate::float) fn gru_step(layer: &Layer<'_>, h: &mut Units<'_>) {
    let deterministic = layer.is_deterministic() && vectors::all_zero(h.var);
    let done = vectors::gru(layer, deterministic, h);
    portable_gru(layer, deterministic, done, h);
}

/// Advances the units from `first` on: the definition that vector code must equal bit for bit.
pub(super) fn portable_gru(layer: &Layer<'_>, deterministic: bool, first: usize, h: &mut Units<'_>) {
    for group in layer.affine.groups_from(first) {
        match (deterministic, group.lanes) {
            (true, 1) => deterministic_group::<1>(layer, &group, h),
            (true, _) => deterministic_group::<4>(layer, &group, h),
            (false, 1) => noisy_group::<1>(layer, &group, h),
            (false, _) => noisy_group::<4>(layer, &group, h),
        }
    }
}

/// The candidate's two halves: columns of the input with their biases, and columns of the state with theirs.
fn candidate_halves<'g>(layer: &Layer<'_>, group: &Group<'g>) -> [Group<'g>; 2] {
    let inputs = layer.affine.inputs();
    [group.first_columns(inputs), group.last_columns(inputs)]
}

/// One group, `ROWS` units at a time.
fn noisy_group<const ROWS: usize>(layer: &Layer<'_>, group: &Group<'_>, h: &mut Units<'_>) {
    let [input_half, state_half] = candidate_halves(layer, group);
    let state = layer.input.columns_from(layer.affine.inputs());
    for first in (0..group.lanes).step_by(ROWS) {
        let row = |gate: usize| gate * group.lanes + first;
        let reset = kernels::moments::<ROWS>(group, row(RESET), layer.input);
        let update = kernels::moments::<ROWS>(group, row(UPDATE), layer.input);
        let from_input = kernels::moments::<ROWS>(&input_half, row(CANDIDATE), layer.input);
        let from_state = kernels::moments::<ROWS>(&state_half, row(CANDIDATE), state);
        let rows = reset.iter().zip(&update).zip(from_input.iter().zip(&from_state));
        for ((mean, var), ((r, z), (x, h))) in h.units_from(group.unit + first).zip(rows) {
            let rows = [*r, *z, *x, *h];
            let unit = unit_step(layer.form, rows, Moments { mean: *mean, var: *var });
            let unit = Moments { var: layer.variance_scale * unit.var, ..unit }.limited();
            (*mean, *var) = (unit.mean, unit.var);
        }
    }
}

/// The next state of one unit.
#[inline(never)] // two loops call it, and it is large
fn unit_step(form: MomentForm, rows: [Moments; 4], h: Moments) -> Moments {
    let [reset, update, from_input, from_state] = rows;
    let gated = product_of_sanitized(sigmoid(form, reset), from_state);
    let a = Moments { mean: from_input.mean + gated.mean, var: from_input.var + gated.var };
    interpolate_of_sanitized(sigmoid(form, update), tanh(form, a), h)
}

/// [`noisy_group`] for a deterministic layer.
fn deterministic_group<const ROWS: usize>(layer: &Layer<'_>, group: &Group<'_>, h: &mut Units<'_>) {
    let [input_half, state_half] = candidate_halves(layer, group);
    let (input, state) = (layer.input.mean, layer.input.columns_from(layer.affine.inputs()).mean);
    for first in (0..group.lanes).step_by(ROWS) {
        let row = |gate: usize| gate * group.lanes + first;
        let reset = kernels::means::<ROWS>(group, row(RESET), input);
        let update = kernels::means::<ROWS>(group, row(UPDATE), input);
        let from_input = kernels::means::<ROWS>(&input_half, row(CANDIDATE), input);
        let from_state = kernels::means::<ROWS>(&state_half, row(CANDIDATE), state);
        let rows = reset.iter().zip(&update).zip(from_input.iter().zip(&from_state));
        for ((mean, var), ((r, z), (x, h))) in h.units_from(group.unit + first).zip(rows) {
            let rows = [*r, *z, *x, *h];
            (*mean, *var) = (deterministic_unit_step(rows, *mean), 0.0);
        }
    }
}

/// The mean of the next state of one unit.
#[inline(never)]
fn deterministic_unit_step(rows: [f32; 4], h: f32) -> f32 {
    let [reset, update, from_input, from_state] = rows;
    let gated = deterministic_activation(Activation::Sigmoid, reset) * from_state;
    let n = deterministic_activation(Activation::Tanh, from_input + gated);
    let z = deterministic_activation(Activation::Sigmoid, update);
    limited_mean((1.0 - z) * n + z * h)
}
