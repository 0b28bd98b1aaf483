//! Sums over columns for sixteen rows of each gate at a time, as plain loops for the compiler to turn into
//! vectors ([`wide`](super::wide)).

#![allow(clippy::needless_range_loop)]

use super::super::format::LANES;
use super::super::kernels::NoisyInput;
use super::lanes::{Lanes, WideMoments};

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
pub(super) fn mean_sums<W: Stored, const GATES: usize>(
    columns: &[Column<W, GATES>],
    input: &[f32],
) -> [Lanes; GATES] {
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

/// [`mean_sums`] of two groups, which share the broadcast of each input.
#[inline(always)]
pub(super) fn mean_sums_of_two<W: Stored, const GATES: usize>(
    columns: &[Column<W, GATES>],
    others: &[Column<W, GATES>],
    input: &[f32],
) -> [[Lanes; GATES]; 2] {
    let [mut sums, mut other_sums] = [[[0.0; LANES]; GATES]; 2];
    let (columns, last_columns) = columns.as_chunks::<4>();
    let (others, last_others) = others.as_chunks::<4>();
    let (xs, last_xs) = input.as_chunks::<4>();
    for ((columns, others), xs) in columns.iter().zip(others).zip(xs) {
        for turn in 0..4 {
            add_mean(&columns[turn], xs[turn], &mut sums);
            add_mean(&others[turn], xs[turn], &mut other_sums);
        }
    }
    for ((column, other), x) in last_columns.iter().zip(last_others).zip(last_xs) {
        add_mean(column, *x, &mut sums);
        add_mean(other, *x, &mut other_sums);
    }
    [sums, other_sums]
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
pub(super) fn both_sums<W: Stored, const GATES: usize, const PASS: usize>(
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

/// [`both_sums`] of two groups, which share the broadcasts of each input.
#[inline(always)]
pub(super) fn both_sums_of_two<W: Stored, const GATES: usize>(
    columns: &[Column<W, GATES>],
    others: &[Column<W, GATES>],
    input: NoisyInput<'_>,
) -> [[WideMoments; GATES]; 2] {
    let [mut means, mut vars, mut other_means, mut other_vars] = [[[0.0; LANES]; GATES]; 4];
    let (columns, last_columns) = columns.as_chunks::<2>();
    let (others, last_others) = others.as_chunks::<2>();
    let ((ms, last_ms), (vs, last_vs)) = (input.mean.as_chunks::<2>(), input.var.as_chunks::<2>());
    for ((columns, others), (ms, vs)) in columns.iter().zip(others).zip(ms.iter().zip(vs)) {
        for turn in 0..2 {
            add_both(0, &columns[turn], (ms[turn], vs[turn]), &mut means, &mut vars);
            add_both(0, &others[turn], (ms[turn], vs[turn]), &mut other_means, &mut other_vars);
        }
    }
    for ((column, other), (m, v)) in last_columns.iter().zip(last_others).zip(last_ms.iter().zip(last_vs)) {
        add_both(0, column, (*m, *v), &mut means, &mut vars);
        add_both(0, other, (*m, *v), &mut other_means, &mut other_vars);
    }
    let mut sums = [[WideMoments::ZERO; GATES]; 2];
    for gate in 0..GATES {
        sums[0][gate] = WideMoments { mean: means[gate], var: vars[gate] };
        sums[1][gate] = WideMoments { mean: other_means[gate], var: other_vars[gate] };
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
