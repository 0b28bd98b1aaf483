//! The recurrences on sixteen units at a time, for cores with vectors.
//!
//! Plain loops over arrays, which the compiler turns into vectors where it may: `vectors` calls them from
//! functions that may. The arithmetic of a lane is that of the other files of this folder, hence the same
//! bits.
//!
//! Loops are written out, because a closure inside a method of the standard library may be compiled without
//! the caller's target features.

#![allow(clippy::needless_range_loop)]

use super::super::format::{LANES, Weights};
use super::lanes::{Lanes, WideMoments, map, zip};
use super::units::{self, Accurate, activation, deterministic_elman, deterministic_lstm, scaled};
use super::wide_sums::{Stored, both_sums, both_sums_of_two, groups, mean_sums, mean_sums_of_two};
use super::{Layer, Units};
use crate::format::F32s;
use crate::spec::{Activation, MomentForm};

/// Whether [`elman`] and [`lstm`] can run a layer: accurate moments, weights without variances.
pub(super) fn suits(layer: &Layer<'_>) -> bool {
    layer.form == MomentForm::Accurate && !layer.affine.has_variances()
}

/// Advances the groups of sixteen units of an LSTM, and returns their number of units.
///
/// `PASS` gates are summed at a time, or all gates of two groups if `IN_PAIRS`: as many as the machine has
/// registers for.
#[inline(always)]
pub(super) fn lstm<const PASS: usize, const IN_PAIRS: bool>(
    layer: &Layer<'_>,
    deterministic: bool,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) -> usize {
    let groups = layer.affine.wide();
    match groups.weights {
        Weights::F32 { mean, .. } => {
            let rows = Rows { scale: None, bias: groups.bias };
            lstm_groups::<_, PASS, IN_PAIRS>(layer, deterministic, mean.words(), rows, h, c);
        }
        Weights::Int8 { codes, scale, .. } => {
            let rows = Rows { scale: Some(scale), bias: groups.bias };
            lstm_groups::<_, PASS, IN_PAIRS>(layer, deterministic, codes, rows, h, c);
        }
    }
    groups.lanes
}

#[inline(always)]
fn lstm_groups<W: Stored, const PASS: usize, const IN_PAIRS: bool>(
    layer: &Layer<'_>,
    deterministic: bool,
    weights: &[W],
    rows: Rows<'_>,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) {
    let h_places = h.mean.as_chunks_mut().0.iter_mut().zip(h.var.as_chunks_mut().0);
    let c_places = c.mean.as_chunks_mut().0.iter_mut().zip(c.var.as_chunks_mut().0);
    let mut places = h_places.zip(c_places).enumerate();
    let (mut groups, input) = (groups(weights, layer.affine.cols()), layer.input);
    while let (Some(columns), Some(place)) = (groups.next(), places.next()) {
        let second = if IN_PAIRS { groups.next().zip(places.next()) } else { None };
        match (deterministic, second) {
            (true, None) => finish_lstm_means(rows, mean_sums(columns, input.mean), place),
            (true, Some((others, other_place))) => {
                let [sums, other_sums] = mean_sums_of_two(columns, others, input.mean);
                finish_lstm_means(rows, sums, place);
                finish_lstm_means(rows, other_sums, other_place);
            }
            (false, None) => finish_lstm(layer, rows, both_sums::<W, 4, PASS>(columns, input), place),
            (false, Some((others, other_place))) => {
                let [sums, other_sums] = both_sums_of_two(columns, others, input);
                finish_lstm(layer, rows, sums, place);
                finish_lstm(layer, rows, other_sums, other_place);
            }
        }
    }
}

/// Where a group has its state: its index, means and variances of h, and those of c.
type Place<'p> = (usize, ((&'p mut Lanes, &'p mut Lanes), (&'p mut Lanes, &'p mut Lanes)));

/// From sums over columns to the next state of a group.
#[inline(always)]
fn finish_lstm(
    layer: &Layer<'_>,
    rows: Rows<'_>,
    mut gates: [WideMoments; 4],
    (index, ((h_mean, h_var), (c_mean, c_var))): Place<'_>,
) {
    rows.finish(index, &mut gates);
    let cell = WideMoments { mean: *c_mean, var: *c_var };
    let (unit, cell) = units::lstm::<Accurate>(&gates, cell);
    (*c_mean, *c_var) = (cell.mean, cell.var);
    (*h_mean, *h_var) = (unit.mean, map(unit.var, |var| layer.variance_scale * var));
}

/// [`finish_lstm`] of a deterministic layer.
#[inline(always)]
fn finish_lstm_means(
    rows: Rows<'_>,
    mut gates: [Lanes; 4],
    (index, ((h_mean, h_var), (c_mean, _))): Place<'_>,
) {
    rows.finish_means(index, &mut gates);
    (*h_mean, *c_mean) = deterministic_lstm(&gates, *c_mean);
    *h_var = [0.0; LANES];
}

/// Advances the groups of sixteen units of an Elman or dense layer, and returns their number of units.
#[inline(always)]
pub(super) fn elman(
    layer: &Layer<'_>,
    deterministic: bool,
    function: Activation,
    h: &mut Units<'_>,
) -> usize {
    let groups = layer.affine.wide();
    match groups.weights {
        Weights::F32 { mean, .. } => {
            let rows = Rows { scale: None, bias: groups.bias };
            elman_groups(layer, deterministic, function, mean.words(), rows, h);
        }
        Weights::Int8 { codes, scale, .. } => {
            let rows = Rows { scale: Some(scale), bias: groups.bias };
            elman_groups(layer, deterministic, function, codes, rows, h);
        }
    }
    groups.lanes
}

#[inline(always)]
fn elman_groups<W: Stored>(
    layer: &Layer<'_>,
    deterministic: bool,
    function: Activation,
    weights: &[W],
    rows: Rows<'_>,
    h: &mut Units<'_>,
) {
    let places = h.mean.as_chunks_mut().0.iter_mut().zip(h.var.as_chunks_mut().0);
    for ((index, columns), (mean, var)) in groups(weights, layer.affine.cols()).enumerate().zip(places) {
        if deterministic {
            let mut gates = mean_sums(columns, layer.input.mean);
            rows.finish_means(index, &mut gates);
            let [a] = gates;
            (*mean, *var) = (deterministic_elman(function, a), [0.0; LANES]);
        } else {
            let mut gates = both_sums::<W, 1, 1>(columns, layer.input);
            rows.finish(index, &mut gates);
            let [a] = gates;
            let unit = scaled(activation::<Accurate>(function, a), layer.variance_scale);
            (*mean, *var) = (unit.mean, unit.var);
        }
    }
}

/// Scale and bias of each row.
#[derive(Clone, Copy)]
pub(super) struct Rows<'m> {
    /// The scale of int8 codes.
    pub(super) scale: Option<F32s<'m>>,
    pub(super) bias: F32s<'m>,
}

impl Rows<'_> {
    /// From sums over columns to pre-activations, for group `index`.
    #[inline(always)]
    fn finish_means<const GATES: usize>(self, index: usize, sums: &mut [Lanes; GATES]) {
        for gate in 0..GATES {
            let bias = lanes_at(self.bias, index * GATES + gate);
            if let Some(scale) = self.scale {
                let scale = lanes_at(scale, index * GATES + gate);
                sums[gate] = zip(sums[gate], scale, |sum, scale| sum * scale);
            }
            sums[gate] = zip(sums[gate], bias, |sum, bias| sum + bias);
        }
    }

    /// [`finish_means`](Self::finish_means) for both moments.
    #[inline(always)]
    fn finish<const GATES: usize>(self, index: usize, sums: &mut [WideMoments; GATES]) {
        for gate in 0..GATES {
            let WideMoments { mean, var } = &mut sums[gate];
            if let Some(scale) = self.scale {
                let scale = lanes_at(scale, index * GATES + gate);
                *mean = zip(*mean, scale, |sum, scale| sum * scale);
                *var = zip(*var, scale, |sum, scale| sum * (scale * scale));
            }
            *mean = zip(*mean, lanes_at(self.bias, index * GATES + gate), |sum, bias| sum + bias);
        }
    }
}

/// The numbers of sixteen rows.
#[inline(always)]
pub(super) fn lanes_at(numbers: F32s<'_>, index: usize) -> Lanes {
    let mut lanes = [0.0; LANES];
    if let Some(words) = numbers.words().as_chunks::<LANES>().0.get(index) {
        for lane in 0..LANES {
            lanes[lane] = f32::from_le_bytes(words[lane]);
        }
    }
    lanes
}
