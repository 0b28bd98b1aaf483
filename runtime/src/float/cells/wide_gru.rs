//! The gated recurrent unit on sixteen units at a time; see `wide` for how this becomes vectors.

#![allow(clippy::needless_range_loop)]

use super::super::format::{LANES, Weights};
use super::lanes::{Lanes, WideMoments, zip};
use super::units::{self, Accurate, deterministic_gru, scaled};
use super::wide::{Rows, lanes_at};
use super::wide_sums::{Column, Stored, add_both, add_mean, groups};
use super::{Layer, Units};

/// Rows of a unit in a column: reset gate, update gate, candidate.
const GATES: usize = 3;

/// Pre-activations of a unit: reset gate, update gate, candidate from the input, candidate from the state.
const PARTS: usize = 4;

/// Advances the groups of sixteen units, and returns their number of units.
#[inline(always)]
pub(super) fn gru(layer: &Layer<'_>, deterministic: bool, h: &mut Units<'_>) -> usize {
    let wide = layer.affine.wide();
    match wide.weights {
        Weights::F32 { mean, .. } => {
            let rows = Rows { scale: None, bias: wide.bias };
            gru_groups(layer, deterministic, mean.words(), rows, h);
        }
        Weights::Int8 { codes, scale, .. } => {
            let rows = Rows { scale: Some(scale), bias: wide.bias };
            gru_groups(layer, deterministic, codes, rows, h);
        }
    }
    wide.lanes
}

#[inline(always)]
fn gru_groups<W: Stored>(
    layer: &Layer<'_>,
    deterministic: bool,
    weights: &[W],
    rows: Rows<'_>,
    h: &mut Units<'_>,
) {
    let places = h.mean.as_chunks_mut().0.iter_mut().zip(h.var.as_chunks_mut().0);
    for ((index, columns), (mean, var)) in groups(weights, layer.affine.cols()).enumerate().zip(places) {
        if deterministic {
            let mut parts = mean_sums(layer, columns);
            finish_means(rows, index, &mut parts);
            *mean = deterministic_gru(&parts, *mean);
            *var = [0.0; LANES];
        } else {
            let mut parts = both_sums(layer, columns);
            finish(rows, index, &mut parts);
            let h = WideMoments { mean: *mean, var: *var };
            let unit = units::gru::<Accurate>(&parts, h);
            let unit = scaled(unit, layer.variance_scale);
            (*mean, *var) = (unit.mean, unit.var);
        }
    }
}

/// Σ μ m̃ of all parts of a group: the candidate's sum starts again where the columns of the state begin.
#[inline(always)]
fn mean_sums<W: Stored>(layer: &Layer<'_>, columns: &[Column<W, GATES>]) -> [Lanes; PARTS] {
    let inputs = layer.affine.inputs();
    let mut sums = [[0.0; LANES]; GATES];
    let mut from_input = [0.0; LANES];
    for (index, (column, x)) in columns.iter().zip(layer.input.mean).enumerate() {
        if index == inputs {
            (from_input, sums[2]) = (sums[2], [0.0; LANES]);
        }
        add_mean(column, *x, &mut sums);
    }
    [sums[0], sums[1], from_input, sums[2]]
}

/// [`mean_sums`], and Σ μ² ṽ.
#[inline(always)]
fn both_sums<W: Stored>(layer: &Layer<'_>, columns: &[Column<W, GATES>]) -> [WideMoments; PARTS] {
    let inputs = layer.affine.inputs();
    let (mut means, mut vars) = ([[0.0; LANES]; GATES], [[0.0; LANES]; GATES]);
    let mut from_input = WideMoments::ZERO;
    let moments = layer.input.mean.iter().zip(layer.input.var);
    for (index, (column, (mean, var))) in columns.iter().zip(moments).enumerate() {
        if index == inputs {
            from_input = WideMoments { mean: means[2], var: vars[2] };
            (means[2], vars[2]) = ([0.0; LANES], [0.0; LANES]);
        }
        add_both::<W, GATES, GATES>(0, column, (*mean, *var), &mut means, &mut vars);
    }
    let gate = |gate: usize| WideMoments { mean: means[gate], var: vars[gate] };
    [gate(0), gate(1), from_input, gate(2)]
}

/// From sums to pre-activations, for group `index`: both parts of the candidate share the scale of its row.
#[inline(always)]
fn finish_means(rows: Rows<'_>, index: usize, parts: &mut [Lanes; PARTS]) {
    for part in 0..PARTS {
        if let Some(scale) = rows.scale {
            let scale = lanes_at(scale, index * GATES + part.min(2));
            parts[part] = zip(parts[part], scale, |sum, scale| sum * scale);
        }
        parts[part] = zip(parts[part], lanes_at(rows.bias, index * PARTS + part), |sum, bias| sum + bias);
    }
}

/// [`finish_means`] for both moments.
#[inline(always)]
fn finish(rows: Rows<'_>, index: usize, parts: &mut [WideMoments; PARTS]) {
    for part in 0..PARTS {
        let WideMoments { mean, var } = &mut parts[part];
        if let Some(scale) = rows.scale {
            let scale = lanes_at(scale, index * GATES + part.min(2));
            *mean = zip(*mean, scale, |sum, scale| sum * scale);
            *var = zip(*var, scale, |sum, scale| sum * (scale * scale));
        }
        *mean = zip(*mean, lanes_at(rows.bias, index * PARTS + part), |sum, bias| sum + bias);
    }
}
