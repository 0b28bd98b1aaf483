//! Moments of the rows of an affine map for sixteen streams; see `kernels` for the formulas and the order.
//!
//! Weights that are no numbers yet, squares among them, become numbers once for all streams.

#![allow(clippy::needless_range_loop)] // see `cells::wide`

use super::super::cells::lanes::{map, zip};
use super::super::format::{Group, LANES, Weights};
use super::memory::Work;
use crate::lanes::Lanes;

/// The input of an affine map after noise, of all streams.
#[derive(Clone, Copy)]
pub(super) struct LaneInput<'a> {
    pub(super) mean: &'a [Lanes],
    pub(super) var: &'a [Lanes],
}

impl<'a> LaneInput<'a> {
    /// The first `len` columns.
    pub(super) fn new(input: &'a [&mut [Lanes]; 2], len: usize) -> Self {
        let [mean, var] = input.each_ref().map(|list| list.get(..len).unwrap_or_default());
        LaneInput { mean, var }
    }

    /// The columns from `start` on, at most `len`.
    pub(super) fn part(self, start: usize, len: usize) -> Self {
        LaneInput { mean: columns(self.mean, start, len), var: columns(self.var, start, len) }
    }
}

fn columns(list: &[Lanes], start: usize, len: usize) -> &[Lanes] {
    let tail = list.get(start..).unwrap_or_default();
    tail.get(..len).unwrap_or(tail)
}

/// Sums over columns that make up the moments of a row, in the order in which they are computed.
#[derive(Clone, Copy, PartialEq)]
enum Term {
    /// Σ μ m̃
    Mean,
    /// Σ μ² ṽ
    UnitVar,
    /// Σ τ m̃²
    WeightVarByMean,
    /// Σ τ ṽ
    WeightVarByVar,
}

const TERMS: [Term; 4] = [Term::Mean, Term::UnitVar, Term::WeightVarByMean, Term::WeightVarByVar];

/// The rows of a group that are one part of all its units, and the columns of the input that they read.
pub(super) struct PartRows<'g> {
    pub(super) group: Group<'g>,
    /// The first of the rows.
    pub(super) first: usize,
    /// First column, and number of columns.
    pub(super) columns: (usize, usize),
}

/// Writes the moments of part `part`, `ROWS` rows at a time; only means if everything is `deterministic`.
#[inline(always)]
pub(super) fn part_moments<const ROWS: usize>(
    rows: &PartRows<'_>,
    part: usize,
    input: LaneInput<'_>,
    deterministic: bool,
    work: &mut Work<'_>,
) {
    let PartRows { group, first, columns: (start, len) } = rows;
    let count = match (deterministic, group.weights.has_variances()) {
        (true, _) => 1,
        (false, false) => 2,
        (false, true) => 4,
    };
    let (input, squares) = (input.part(*start, *len), columns(work.squares, *start, *len));
    let tile: &mut [[f32; ROWS]] = work.weights.as_chunks_mut().0;
    let tile = tile.get_mut(..input.mean.len()).unwrap_or_default();
    for offset in (0..group.lanes).step_by(ROWS) {
        let (first, at) = (first + offset, part * group.lanes + offset);
        let mut by_mean = [[0.0; LANES]; ROWS];
        for term in TERMS.into_iter().take(count) {
            let x = match term {
                Term::Mean => input.mean,
                Term::UnitVar | Term::WeightVarByVar => input.var,
                Term::WeightVarByMean => squares,
            };
            let sums = match (term, group.weights) {
                (Term::Mean, Weights::F32 { mean, .. }) => {
                    sums(mean.words(), (group.rows, first), x, f32::from_le_bytes)
                }
                _ => {
                    convert(group, first, term, tile);
                    sums(tile.as_flattened(), (ROWS, 0), x, |weight| weight)
                }
            };
            let [means, vars] = &mut work.parts;
            let list = if term == Term::Mean { means } else { vars };
            let Some(places) = list.get_mut(at..).and_then(|list| list.first_chunk_mut()) else { return };
            match term {
                Term::WeightVarByMean => by_mean = sums,
                _ => finish(group, first, term, &by_mean, &sums, places),
            }
        }
        if count > 2 {
            let Some(places) = work.parts[1].get_mut(at..) else { return };
            for (row, place) in places.iter_mut().take(ROWS).enumerate() {
                let bias_var = group.bias_var.at(first + row);
                *place = map(*place, |sum| sum + bias_var);
            }
        }
    }
}

/// From sums of a term to moments of `ROWS` rows.
#[inline(always)]
fn finish<const ROWS: usize>(
    group: &Group<'_>,
    first: usize,
    term: Term,
    by_mean: &[Lanes; ROWS],
    sums: &[Lanes; ROWS],
    places: &mut [Lanes; ROWS],
) {
    for row in 0..ROWS {
        let (scale, std_dev_scale) = group.weights.scales(first + row);
        match term {
            Term::Mean => {
                let bias = group.bias.at(first + row);
                places[row] = match scale {
                    Some(scale) => map(sums[row], |sum| sum * scale + bias),
                    None => map(sums[row], |sum| sum + bias),
                };
            }
            Term::UnitVar => {
                places[row] = match scale {
                    Some(scale) => map(sums[row], |sum| sum * (scale * scale)),
                    None => sums[row],
                };
            }
            Term::WeightVarByMean | Term::WeightVarByVar => {
                let factor = std_dev_scale.map_or(1.0, |scale| scale * scale);
                let both = zip(by_mean[row], sums[row], |by_mean, by_var| (by_mean + by_var) * factor);
                places[row] = zip(places[row], both, |by_units, by_weights| by_units + by_weights);
            }
        }
    }
}

/// Sums weight times x over the columns, for every lane and `ROWS` adjacent rows from `first` on; a column
/// has `rows` of them.
#[inline(always)]
fn sums<W: Copy, const ROWS: usize>(
    weights: &[W],
    (rows, first): (usize, usize),
    input: &[Lanes],
    value: impl Fn(W) -> f32,
) -> [Lanes; ROWS] {
    let mut sums = [[0.0; LANES]; ROWS];
    let mut start = first;
    if ROWS != 16 {
        for x in input {
            let Some(column) = column::<_, ROWS>(weights, start) else { break };
            for row in 0..ROWS {
                add(value(column[row]), x, &mut sums[row]);
            }
            start += rows;
        }
        return sums;
    }
    // By name: sixteen sums in a list would not become registers.
    let [mut a, mut b, mut c, mut d, mut e, mut f, mut g, mut h] = [[0.0; LANES]; 8];
    let [mut i, mut j, mut k, mut l, mut m, mut n, mut o, mut p] = [[0.0; LANES]; 8];
    for x in input {
        let Some(column) = column::<_, 16>(weights, start) else { break };
        add(value(column[0]), x, &mut a);
        add(value(column[1]), x, &mut b);
        add(value(column[2]), x, &mut c);
        add(value(column[3]), x, &mut d);
        add(value(column[4]), x, &mut e);
        add(value(column[5]), x, &mut f);
        add(value(column[6]), x, &mut g);
        add(value(column[7]), x, &mut h);
        add(value(column[8]), x, &mut i);
        add(value(column[9]), x, &mut j);
        add(value(column[10]), x, &mut k);
        add(value(column[11]), x, &mut l);
        add(value(column[12]), x, &mut m);
        add(value(column[13]), x, &mut n);
        add(value(column[14]), x, &mut o);
        add(value(column[15]), x, &mut p);
        start += rows;
    }
    for (place, sum) in sums.iter_mut().zip([a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p]) {
        *place = sum;
    }
    sums
}

/// `ROWS` weights from `start` on.
#[inline(always)]
fn column<W, const ROWS: usize>(weights: &[W], start: usize) -> Option<&[W; ROWS]> {
    weights.get(start..)?.first_chunk()
}

/// Adds a weight times x in every lane.
#[inline(always)]
fn add(weight: f32, x: &Lanes, sum: &mut Lanes) {
    for lane in 0..LANES {
        sum[lane] += weight * x[lane];
    }
}

/// Converts the weights of `ROWS` rows from row `first` on to the numbers of a term, once for all streams.
#[inline(always)]
fn convert<const ROWS: usize>(group: &Group<'_>, first: usize, term: Term, tile: &mut [[f32; ROWS]]) {
    let at = (group.rows, first);
    match (group.weights, term) {
        (_, Term::WeightVarByVar) => {}         // the numbers of the term before
        (Weights::F32 { .. }, Term::Mean) => {} // summed where they are
        (Weights::F32 { mean, .. }, Term::UnitVar) => {
            each(mean.words(), at, tile, |weight| square(f32::from_le_bytes(weight)));
        }
        (Weights::F32 { var, .. }, Term::WeightVarByMean) => {
            each(var.words(), at, tile, f32::from_le_bytes);
        }
        (Weights::Int8 { codes, .. }, Term::Mean) => each(codes, at, tile, |code| f32::from(code as i8)),
        (Weights::Int8 { codes, .. }, Term::UnitVar) => {
            each(codes, at, tile, |code| square(f32::from(code as i8)));
        }
        (Weights::Int8 { std_devs, .. }, Term::WeightVarByMean) => {
            each(std_devs, at, tile, |code| square(f32::from(code)));
        }
    }
}

#[inline(always)]
fn each<W: Copy, const ROWS: usize>(
    weights: &[W],
    (rows, first): (usize, usize),
    tile: &mut [[f32; ROWS]],
    value: impl Fn(W) -> f32,
) {
    let mut start = first;
    for target in tile {
        let Some(column) = column::<_, ROWS>(weights, start) else { break };
        for row in 0..ROWS {
            target[row] = value(column[row]);
        }
        start += rows;
    }
}

#[inline(always)]
fn square(x: f32) -> f32 {
    x * x
}
