//! Layers and the output map of sixteen streams.

#![allow(clippy::needless_range_loop)] // see `cells::wide`

use super::super::cells::lanes::{WideMoments, map};
use super::super::cells::units::{
    Accurate, Published, activation, deterministic_elman, deterministic_gru, deterministic_lstm, gru, lstm,
    scaled, sigmoid,
};
use super::super::format::{AffineView, Group, LANES};
use super::memory::Work;
use super::sums::{LaneInput, PartRows, part_moments};
use crate::lanes::Lanes;
use crate::moments::{LARGEST, Moments, at_most};
use crate::spec::{CellKind, LayerSpec, Likelihood, ModelSpec, MomentForm, OutputMode};

/// What a layer reads in one step.
pub(super) struct BatchLayer<'a> {
    pub(super) spec: &'a LayerSpec,
    pub(super) form: MomentForm,
    pub(super) affine: AffineView<'a>,
    pub(super) input: LaneInput<'a>,
    /// Whether input, state and weights of all streams have no variance.
    pub(super) deterministic: bool,
}

/// Means and variances of h and of c, one of each per unit; c is empty but for an LSTM.
pub(super) struct LaneState<'a> {
    pub(super) h: [&'a mut [Lanes]; 2],
    pub(super) c: [&'a mut [Lanes]; 2],
}

impl<'a> LaneState<'a> {
    /// The state of `units` units.
    pub(super) fn new(units: usize, words: &'a mut [Lanes]) -> Self {
        let mut rest = words;
        let mut next = || {
            let (part, left) = core::mem::take(&mut rest).split_at_mut_checked(units).unwrap_or_default();
            rest = left;
            part
        };
        LaneState { h: [next(), next()], c: [next(), next()] }
    }
}

/// Replaces a layer's state by the next; `TILE` rows of a group of sixteen are summed at a time.
#[inline(always)]
pub(super) fn layer<const TILE: usize>(
    layer: &BatchLayer<'_>,
    state: &mut LaneState<'_>,
    work: &mut Work<'_>,
) {
    for group in layer.affine.groups_from(0) {
        let parts = match layer.spec.cell {
            CellKind::Gru => 4,
            cell => cell.gates(),
        };
        for part in 0..parts {
            moments::<TILE>(&rows(layer, group, part), part, layer.input, layer.deterministic, work);
        }
        for unit in 0..group.lanes {
            unit_step(layer, (parts, group.lanes), (group.unit + unit, unit), state, work);
        }
    }
}

/// The rows of a part. Those of a GRU are reset and update gate, then both halves of the candidate: columns
/// of the input with their biases, and columns of the state with theirs.
fn rows<'g>(layer: &BatchLayer<'_>, group: Group<'g>, part: usize) -> PartRows<'g> {
    let (inputs, cols) = (layer.affine.inputs(), layer.affine.cols());
    let (gate, group, columns) = match (layer.spec.cell, part) {
        (CellKind::Gru, 2) => (2, group.first_columns(inputs), (0, inputs)),
        (CellKind::Gru, 3) => (2, group.last_columns(inputs), (inputs, cols.saturating_sub(inputs))),
        _ => (part, group, (0, cols)),
    };
    PartRows { first: gate * group.lanes, group, columns }
}

#[inline(always)]
fn moments<const TILE: usize>(
    rows: &PartRows<'_>,
    part: usize,
    input: LaneInput<'_>,
    deterministic: bool,
    work: &mut Work<'_>,
) {
    match rows.group.lanes {
        1 => part_moments::<1>(rows, part, input, deterministic, work),
        4 => part_moments::<4>(rows, part, input, deterministic, work),
        _ => part_moments::<TILE>(rows, part, input, deterministic, work),
    }
}

/// One unit of all streams.
#[inline(always)]
fn unit_step(
    layer: &BatchLayer<'_>,
    (parts, lanes): (usize, usize),
    (unit, row): (usize, usize),
    state: &mut LaneState<'_>,
    work: &Work<'_>,
) {
    let mut gates = [WideMoments::ZERO; 4];
    for part in 0..parts.min(gates.len()) {
        let [mean, var] = work.parts.each_ref().map(|list| list.get(part * lanes + row));
        let (Some(mean), Some(var)) = (mean, var) else { return };
        gates[part] = WideMoments { mean: *mean, var: *var };
    }
    let LaneState { h: [h_mean, h_var], c: [c_mean, c_var] } = state;
    let (Some(h_mean), Some(h_var)) = (h_mean.get_mut(unit), h_var.get_mut(unit)) else { return };
    let scale = layer.spec.variance_scale;
    let means = gates.map(|gate| gate.mean);
    match (layer.spec.cell, layer.deterministic) {
        (CellKind::Elman(function) | CellKind::Dense(function), true) => {
            (*h_mean, *h_var) = (deterministic_elman(function, means[0]), [0.0; LANES]);
        }
        (CellKind::Elman(function) | CellKind::Dense(function), false) => {
            let y = match layer.form {
                MomentForm::Accurate => activation::<Accurate>(function, gates[0]),
                MomentForm::Paper => activation::<Published>(function, gates[0]),
            };
            let y = scaled(y, scale);
            (*h_mean, *h_var) = (y.mean, y.var);
        }
        (CellKind::Lstm, deterministic) => {
            let (Some(c_mean), Some(c_var)) = (c_mean.get_mut(unit), c_var.get_mut(unit)) else { return };
            if deterministic {
                (*h_mean, *c_mean) = deterministic_lstm(&means, *c_mean);
                *h_var = [0.0; LANES];
                return;
            }
            let cell = WideMoments { mean: *c_mean, var: *c_var };
            let (y, cell) = match layer.form {
                MomentForm::Accurate => lstm::<Accurate>(&gates, cell),
                MomentForm::Paper => lstm::<Published>(&gates, cell),
            };
            (*c_mean, *c_var) = (cell.mean, cell.var);
            (*h_mean, *h_var) = (y.mean, map(y.var, |var| scale * var));
        }
        (CellKind::Gru, true) => {
            (*h_mean, *h_var) = (deterministic_gru(&means, *h_mean), [0.0; LANES]);
        }
        (CellKind::Gru, false) => {
            let h = WideMoments { mean: *h_mean, var: *h_var };
            let y = match layer.form {
                MomentForm::Accurate => gru::<Accurate>(&gates, h),
                MomentForm::Paper => gru::<Published>(&gates, h),
            };
            let y = scaled(y, scale);
            (*h_mean, *h_var) = (y.mean, y.var);
        }
    }
}

/// Writes the moments of every row of the output map to `rows`: of the probability for a Bernoulli output, of
/// the pre-activation for others.
#[inline(always)]
pub(super) fn outputs<const TILE: usize>(
    spec: &ModelSpec,
    affine: AffineView<'_>,
    input: LaneInput<'_>,
    rows: &mut [&mut [Lanes]; 2],
    work: &mut Work<'_>,
) {
    let means_only = spec.output.mode == OutputMode::MeanOnly;
    for group in affine.groups_from(0) {
        let part = PartRows { group, first: 0, columns: (0, affine.cols()) };
        moments::<TILE>(&part, 0, input, means_only, work);
        let [means, vars] = rows.each_mut().map(|list| list.get_mut(group.unit..).unwrap_or_default());
        let [part_means, part_vars] = work.parts.each_ref().map(|list| list.get(..group.lanes));
        let parts = part_means.unwrap_or_default().iter().zip(part_vars.unwrap_or_default());
        for ((mean, var), (part_mean, part_var)) in means.iter_mut().zip(vars).zip(parts) {
            let var_of_sums = if means_only { [0.0; LANES] } else { *part_var };
            let a = WideMoments { mean: *part_mean, var: var_of_sums };
            let a = a.map(|a| Moments { var: at_most(spec.output.variance_scale * a.var, LARGEST), ..a });
            let y = match (spec.likelihood, spec.moment_form) {
                (Likelihood::Bernoulli, MomentForm::Accurate) => sigmoid::<Accurate>(a),
                (Likelihood::Bernoulli, MomentForm::Paper) => sigmoid::<Published>(a),
                _ => a,
            };
            (*mean, *var) = (y.mean, y.var);
        }
    }
}
