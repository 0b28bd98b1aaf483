//! The linear part of a model, and the last rows of a stream that it reads.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::input::RawRow;
use super::input_density::ImputedRow;
use super::model::Model;
use super::state::moment_limits;
use crate::arena::{ArenaSplitter, copy};
use crate::format::F32s;
use crate::linear;
use crate::moments::Moments;
use crate::spec::{LinearSpec, ModelSpec};

/// The linear part of a checkpoint.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinearPart<'m> {
    rows: usize,
    inputs: usize,
    /// Bias and weights, output after output.
    numbers: F32s<'m>,
}

/// The last rows of a stream in standardised units, missing channels imputed; no words for a model without a
/// linear part.
///
/// Rows lie one after the other, each older than the one before, from the newest to the end and then from the
/// start. The next row takes the place before the newest, which is that of the oldest.
#[derive(Debug)]
pub(super) struct RowRing<'a> {
    mean: &'a mut [f32],
    var: &'a mut [f32],
    /// Place of the newest row, counted in rows; negative before the first one. One word, or none.
    newest: &'a mut [f32],
    /// Rows until none has a variance: nearly always 0, and variances need not be summed. One word, or none.
    uncertain: &'a mut [f32],
}

/// Place of the newest row where there is none yet.
const NONE: f32 = -1.0;

impl<'m> LinearPart<'m> {
    pub(super) fn new(LinearSpec { rows }: LinearSpec, spec: &ModelSpec, numbers: F32s<'m>) -> Self {
        LinearPart { rows: rows.into(), inputs: spec.inputs.into(), numbers }
    }

    /// Moments of an output.
    #[inline(never)] // its loops want the registers for themselves
    pub(super) fn moments(&self, ring: &RowRing<'_>, output: usize) -> Moments {
        let count = linear::numbers(self.rows, self.inputs);
        let numbers = self.numbers.part(output * count, count).words();
        let start = ring.start(self.inputs);
        let vars = ring.is_uncertain().then(|| from(ring.var, start));
        linear::moments(numbers, f32::from_le_bytes, from(ring.mean, start), vars)
    }

    /// Takes in the row that the network reads as well. `predicted` is what the model expected.
    #[inline(never)]
    pub(super) fn read(
        &self,
        model: &Model<'_>,
        row: &RawRow<'_>,
        imputed: ImputedRow<'_>,
        predicted: [&[f32]; 3],
        ring: &mut RowRing<'_>,
    ) {
        let first = ring.newest() < 0.0;
        let mut exact = true;
        let [means, vars] = ring.advance(self.rows, self.inputs);
        for (channel, (mean, var)) in means.iter_mut().zip(vars).enumerate() {
            let moments = model.input(Some(row), channel, imputed, predicted).limited();
            exact &= moments.var == 0.0;
            (*mean, *var) = (moments.mean, moments.var);
        }
        if first {
            ring.repeat(self.inputs);
        }
        ring.count_uncertain(exact, self.rows, first);
    }
}

impl<'a> RowRing<'a> {
    /// Takes `count` words: [`linear::ring_words`], or none.
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, count: usize) -> Option<Self> {
        let (values, place) = (count.saturating_sub(2) / 2, count.min(1));
        Some(RowRing {
            mean: words.carve(values)?,
            var: words.carve(values)?,
            newest: words.carve(place)?,
            uncertain: words.carve(place)?,
        })
    }

    /// Forgets all rows: each has the moments of the training data.
    pub(super) fn reset(&mut self, rows: usize) {
        self.mean.fill(0.0);
        self.var.fill(1.0);
        self.newest.fill(NONE);
        self.uncertain.fill(rows as f32);
    }

    fn newest(&self) -> f32 {
        self.newest.first().copied().unwrap_or(NONE)
    }

    fn is_uncertain(&self) -> bool {
        self.uncertain.first().is_some_and(|rows| *rows > 0.0)
    }

    /// First value of the newest row. A place before the first row is 0: the cast saturates.
    fn start(&self, inputs: usize) -> usize {
        (self.newest() as usize).saturating_mul(inputs)
    }

    /// Moves the newest row to the place before it, or to the first one; means and variances of that place.
    fn advance(&mut self, rows: usize, inputs: usize) -> [&mut [f32]; 2] {
        let newest = self.newest();
        let next = if newest > 0.0 { newest - 1.0 } else { rows.saturating_sub(1) as f32 };
        self.newest.fill(if newest < 0.0 { 0.0 } else { next });
        let start = self.start(inputs);
        [&mut *self.mean, self.var].map(|list| {
            let rest = list.get_mut(start..).unwrap_or_default();
            rest.get_mut(..inputs).unwrap_or_default()
        })
    }

    /// Copies the row in the first place to all others.
    fn repeat(&mut self, inputs: usize) {
        for list in [&mut *self.mean, self.var] {
            let (first, rest) = list.split_at_mut_checked(inputs).unwrap_or_default();
            rest.chunks_exact_mut(inputs.max(1)).for_each(|row| copy(row, first));
        }
    }

    fn count_uncertain(&mut self, exact: bool, rows: usize, first: bool) {
        if let [left] = self.uncertain {
            *left = match (exact, first) {
                (false, _) => rows as f32,
                (true, true) => 0.0,
                (true, false) if *left > 0.0 => *left - 1.0,
                (true, false) => 0.0,
            };
        }
    }

    /// The numbers that are saved: whether a row was read, means and then variances, the newest row first.
    pub(super) fn saved(&self, inputs: u16) -> impl Iterator<Item = f32> + '_ {
        let start = self.start(inputs.into());
        let flag = self.newest.iter().map(|newest| if *newest < 0.0 { 0.0 } else { 1.0 });
        let lists = [from(self.mean, start), from(self.var, start)];
        flag.chain(lists.into_iter().flatten().flatten().copied())
    }

    /// Takes over saved numbers that are within their limits.
    pub(super) fn restore(&mut self, inputs: u16, saved: &[f32]) {
        let Some((flag, rest)) = saved.split_first() else { return };
        let (means, vars) = rest.split_at_checked(self.mean.len()).unwrap_or_default();
        copy(self.mean, means);
        copy(self.var, vars);
        self.newest.fill(if *flag > 0.5 { 0.0 } else { NONE });
        // The newest row with a variance leaves the ring last.
        let rows = self.var.chunks_exact(usize::from(inputs).max(1));
        let left = rows.len();
        let place = rows.into_iter().position(|row| row.iter().any(|var| *var > 0.0));
        self.uncertain.fill(place.map_or(0.0, |place| left.saturating_sub(place) as f32));
    }

    /// The numbers in memory, with their limits, for a check of it.
    pub(super) fn check<'s>(
        &'s self,
        spec: &'s ModelSpec,
    ) -> impl Iterator<Item = (f32, RangeInclusive<f32>)> + 's {
        let rows = spec.extensions.linear.map_or(0.0, |linear| f32::from(linear.rows));
        let lists = [&*self.mean, self.var, self.newest, self.uncertain];
        let limits = moment_limits(self.mean.len()).chain([NONE..=rows - 1.0, 0.0..=rows]);
        lists.into_iter().flatten().copied().zip(limits)
    }
}

/// Limits of the numbers of a saved ring.
pub(super) fn ring_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> + use<> {
    let flags = repeat_n(0.0..=1.0, spec.extensions.linear.map_or(0, |_| 1));
    flags.chain(moment_limits(spec.linear_values()))
}

/// A list from `start` on, and then what is before it.
fn from(list: &[f32], start: usize) -> [&[f32]; 2] {
    let (before, after) = list.split_at_checked(start).unwrap_or((&[], list));
    [after, before]
}
