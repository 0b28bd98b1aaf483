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
use super::super::kernels::NoisyInput;
use super::lanes::{Lanes, WideMoments, map, zip};
use super::units::{self, Accurate, activation, deterministic_elman, deterministic_lstm, scaled};
use super::{Layer, Units};
use crate::format::F32s;
use crate::spec::{Activation, MomentForm};

/// Whether [`elman`] and [`lstm`] can run a layer: accurate moments, weights without variances.
pub(super) fn suits(layer: &Layer<'_>) -> bool {
    layer.form == MomentForm::Accurate && !layer.affine.has_variances()
}

/// Advances the groups of sixteen units of an LSTM, and returns their number of units.
///
/// Both moments of `PASS` gates are summed at a time: as many as the machine has registers for.
#[inline(always)]
pub(super) fn lstm<const PASS: usize>(
    layer: &Layer<'_>,
    deterministic: bool,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) -> usize {
    let groups = layer.affine.wide();
    match groups.weights {
        Weights::F32 { mean, .. } => {
            let rows = Rows { scale: None, bias: groups.bias };
            lstm_groups::<_, PASS>(layer, deterministic, mean.words(), rows, h, c);
        }
        Weights::Int8 { codes, scale, .. } => {
            let rows = Rows { scale: Some(scale), bias: groups.bias };
            lstm_groups::<_, PASS>(layer, deterministic, codes, rows, h, c);
        }
    }
    groups.lanes
}

#[inline(always)]
fn lstm_groups<W: Stored, const PASS: usize>(
    layer: &Layer<'_>,
    deterministic: bool,
    weights: &[W],
    rows: Rows<'_>,
    h: &mut Units<'_>,
    c: &mut Units<'_>,
) {
    let h_places = h.mean.as_chunks_mut().0.iter_mut().zip(h.var.as_chunks_mut().0);
    let c_places = c.mean.as_chunks_mut().0.iter_mut().zip(c.var.as_chunks_mut().0);
    let groups = groups(weights, layer.affine.cols()).enumerate();
    for ((index, columns), ((h_mean, h_var), (c_mean, c_var))) in groups.zip(h_places.zip(c_places)) {
        if deterministic {
            let mut gates = mean_sums(columns, layer.input.mean);
            rows.finish_means(index, &mut gates);
            (*h_mean, *c_mean) = deterministic_lstm(&gates, *c_mean);
            *h_var = [0.0; LANES];
        } else {
            let mut gates = both_sums::<W, 4, PASS>(columns, layer.input);
            rows.finish(index, &mut gates);
            let cell = WideMoments { mean: *c_mean, var: *c_var };
            let (unit, cell) = units::lstm::<Accurate>(&gates, cell);
            (*c_mean, *c_var) = (cell.mean, cell.var);
            (*h_mean, *h_var) = (unit.mean, map(unit.var, |var| layer.variance_scale * var));
        }
    }
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

/// A weight as it is stored.
pub(super) trait Stored: Copy {
    fn value(self) -> f32;
}

impl Stored for [u8; 4] {
    #[inline(always)]
    fn value(self) -> f32 {
        f32::from_le_bytes(self)
    }
}

/// A signed code.
impl Stored for u8 {
    #[inline(always)]
    fn value(self) -> f32 {
        f32::from(self as i8)
    }
}

/// Sixteen rows of each gate, in one column.
pub(super) type Column<W, const GATES: usize> = [[W; LANES]; GATES];

/// The columns of each group.
#[inline(always)]
pub(super) fn groups<W, const GATES: usize>(
    weights: &[W],
    cols: usize,
) -> impl Iterator<Item = &[Column<W, GATES>]> {
    weights.as_chunks().0.as_chunks().0.chunks_exact(cols.max(1))
}

/// Σ μ m̃ for all rows of a group.
#[inline(always)]
fn mean_sums<W: Stored, const GATES: usize>(columns: &[Column<W, GATES>], input: &[f32]) -> [Lanes; GATES] {
    let mut sums = [[0.0; LANES]; GATES];
    // Four columns to a turn: a quarter of the counting.
    let (columns, last_columns) = columns.as_chunks::<4>();
    let (xs, last_xs) = input.as_chunks::<4>();
    for (columns, xs) in columns.iter().zip(xs) {
        add_mean(&columns[0], xs[0], &mut sums);
        add_mean(&columns[1], xs[1], &mut sums);
        add_mean(&columns[2], xs[2], &mut sums);
        add_mean(&columns[3], xs[3], &mut sums);
    }
    for (column, x) in last_columns.iter().zip(last_xs) {
        add_mean(column, *x, &mut sums);
    }
    sums
}

/// Adds what one column brings to the means.
#[inline(always)]
pub(super) fn add_mean<W: Stored, const GATES: usize>(
    column: &Column<W, GATES>,
    x: f32,
    sums: &mut [Lanes; GATES],
) {
    for gate in 0..GATES {
        for lane in 0..LANES {
            sums[gate][lane] += column[gate][lane].value() * x;
        }
    }
}

/// Σ μ m̃ and Σ μ² ṽ for all rows of a group, `PASS` gates at a time.
#[inline(always)]
fn both_sums<W: Stored, const GATES: usize, const PASS: usize>(
    columns: &[Column<W, GATES>],
    input: NoisyInput<'_>,
) -> [WideMoments; GATES] {
    let mut sums = [WideMoments::ZERO; GATES];
    for (pass, sums) in sums.as_chunks_mut::<PASS>().0.iter_mut().enumerate() {
        let (mut means, mut vars) = ([[0.0; LANES]; PASS], [[0.0; LANES]; PASS]);
        // Four columns to a turn: a quarter of the counting.
        let (columns, last_columns) = columns.as_chunks::<4>();
        let ((ms, last_ms), (vs, last_vs)) = (input.mean.as_chunks::<4>(), input.var.as_chunks::<4>());
        for (columns, (ms, vs)) in columns.iter().zip(ms.iter().zip(vs)) {
            add_both(pass, &columns[0], (ms[0], vs[0]), &mut means, &mut vars);
            add_both(pass, &columns[1], (ms[1], vs[1]), &mut means, &mut vars);
            add_both(pass, &columns[2], (ms[2], vs[2]), &mut means, &mut vars);
            add_both(pass, &columns[3], (ms[3], vs[3]), &mut means, &mut vars);
        }
        for (column, (mean, var)) in last_columns.iter().zip(last_ms.iter().zip(last_vs)) {
            add_both(pass, column, (*mean, *var), &mut means, &mut vars);
        }
        for gate in 0..PASS {
            sums[gate] = WideMoments { mean: means[gate], var: vars[gate] };
        }
    }
    sums
}

/// Adds what one column brings to both moments of the gates of a pass.
#[inline(always)]
pub(super) fn add_both<W: Stored, const GATES: usize, const PASS: usize>(
    pass: usize,
    column: &Column<W, GATES>,
    (mean, var): (f32, f32),
    means: &mut [Lanes; PASS],
    vars: &mut [Lanes; PASS],
) {
    let Some(column) = column.as_chunks::<PASS>().0.get(pass) else { return };
    for gate in 0..PASS {
        for lane in 0..LANES {
            let weight = column[gate][lane].value();
            means[gate][lane] += weight * mean;
            vars[gate][lane] += weight * weight * var;
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
