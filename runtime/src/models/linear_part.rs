//! The linear part of a model, and the last rows of a stream that it reads.

use core::iter::repeat_n;
use core::ops::RangeInclusive;

use super::input::RawRow;
use super::input_density::ImputedRow;
use super::parts::{Known, Network};
use super::state::moment_limits;
use crate::arena::{ArenaSplitter, copy};
use crate::format::F32s;
use crate::linear;
use crate::moments::Moments;
use crate::spec::ModelSpec;

/// The linear part of a checkpoint: bias and weights, output after output.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinearPart<'m>(pub(super) F32s<'m>);

/// The last rows of a stream in standardised units, missing channels imputed; no words for a model without a
/// linear part.
///
/// Two words of its own, then means, then variances. Rows lie one after the other, each older than the one
/// before, from the newest to the end and then from the start. The next row takes the place before the
/// newest, which is that of the oldest.
#[derive(Debug, Default)]
pub(super) struct RowRing<'a>(&'a mut [f32]);

/// What a ring remembers besides its rows.
#[derive(Clone, Copy)]
struct Place {
    /// Place of the newest row, counted in rows; negative before the first one.
    newest: f32,
    /// Rows until none has a variance: nearly always 0, and variances need not be summed.
    uncertain: f32,
}

/// Place of the newest row where there is none yet.
const NONE: f32 = -1.0;

impl LinearPart<'_> {
    /// Moments of an output.
    #[inline(never)] // its loops want the registers for themselves
    pub(super) fn moments(&self, spec: &ModelSpec, ring: &RowRing<'_>, output: usize) -> Moments {
        let count = spec.linear_values().saturating_add(1);
        let numbers = self.0.part(output.saturating_mul(count), count).words();
        let (place, [mean, var]) = ring.parts();
        let start = place.start(spec.inputs);
        let vars = (place.uncertain > 0.0).then(|| from(var, start));
        linear::moments(numbers, f32::from_le_bytes, from(mean, start), vars)
    }
}

impl Place {
    /// First value of the newest row. A place before the first row is 0: the cast saturates.
    fn start(self, inputs: u16) -> usize {
        (self.newest as usize).saturating_mul(inputs.into())
    }

    /// The place of the next row.
    fn next(self, rows: u16) -> f32 {
        match self.newest {
            newest if newest > 0.0 => newest - 1.0,
            newest if newest < 0.0 => 0.0,
            _ => f32::from(rows.saturating_sub(1)),
        }
    }
}

impl<'a> RowRing<'a> {
    /// Takes `count` words: [`linear::ring_words`], or none.
    pub(super) fn carve(words: &mut ArenaSplitter<'a>, count: usize) -> Option<Self> {
        words.carve(count).map(RowRing)
    }

    /// Place, means and variances.
    fn parts(&self) -> (Place, [&[f32]; 2]) {
        match &*self.0 {
            [newest, uncertain, values @ ..] => {
                let (mean, var) = values.split_at_checked(values.len() / 2).unwrap_or_default();
                (Place { newest: *newest, uncertain: *uncertain }, [mean, var])
            }
            _ => (Place { newest: NONE, uncertain: 0.0 }, [&[], &[]]),
        }
    }

    /// Means and variances.
    fn lists(&mut self) -> [&mut [f32]; 2] {
        let values = self.0.get_mut(2..).unwrap_or_default();
        let (mean, var) = values.split_at_mut_checked(values.len() / 2).unwrap_or_default();
        [mean, var]
    }

    fn set_place(&mut self, place: Place) {
        copy(self.0.get_mut(..2).unwrap_or_default(), &[place.newest, place.uncertain]);
    }

    /// Forgets all rows: each has the moments of the training data.
    pub(super) fn reset(&mut self, spec: &ModelSpec) {
        let [mean, var] = self.lists();
        mean.fill(0.0);
        var.fill(1.0);
        self.set_place(Place { newest: NONE, uncertain: rows(spec).into() });
    }

    /// Takes in the row that the network reads as well, if the model has a linear part. `predicted` is what
    /// the model expected. The first row takes all places.
    #[inline(never)]
    pub(super) fn read(
        &mut self,
        model: &impl Known,
        row: &RawRow<'_>,
        imputed: ImputedRow<'_>,
        predicted: [&[f32]; 3],
    ) {
        let (spec, place) = (model.spec(), self.parts().0);
        let (inputs, first, mut exact) = (usize::from(spec.inputs), place.newest < 0.0, true);
        let newest = place.next(rows(spec));
        let start = Place { newest, ..place }.start(spec.inputs);
        let lists = self.lists();
        let [means, vars] = lists.map(|list| {
            let rest = list.get_mut(start..).unwrap_or_default();
            rest.get_mut(..inputs).unwrap_or_default()
        });
        for (channel, (mean, var)) in means.iter_mut().zip(vars).enumerate() {
            let moments = model.input(Some(row), channel, imputed, predicted).limited();
            exact &= moments.var == 0.0;
            (*mean, *var) = (moments.mean, moments.var);
        }
        if first {
            self.repeat(inputs);
        }
        let uncertain = match (exact, first) {
            (false, _) => f32::from(rows(spec)),
            (true, false) if place.uncertain > 0.0 => place.uncertain - 1.0,
            (true, _) => 0.0,
        };
        self.set_place(Place { newest, uncertain });
    }

    /// Copies the row in the first place to all others.
    fn repeat(&mut self, inputs: usize) {
        for list in self.lists() {
            let (first, rest) = list.split_at_mut_checked(inputs).unwrap_or_default();
            rest.chunks_exact_mut(inputs.max(1)).for_each(|row| copy(row, first));
        }
    }

    /// The numbers that are saved: whether a row was read, means and then variances, the newest row first.
    pub(super) fn saved(&self, spec: &ModelSpec) -> impl Iterator<Item = f32> + '_ {
        let (place, lists) = self.parts();
        let flag = if place.newest < 0.0 { 0.0 } else { 1.0 };
        let start = place.start(spec.inputs);
        let values = lists.into_iter().flat_map(move |list| from(list, start)).flatten().copied();
        repeat_n(flag, self.0.len().min(1)).chain(values)
    }

    /// Takes over saved numbers that are within their limits.
    pub(super) fn restore(&mut self, spec: &ModelSpec, saved: &[f32]) {
        let Some((flag, rest)) = saved.split_first() else { return };
        let [mean, var] = self.lists();
        let (means, vars) = rest.split_at_checked(mean.len()).unwrap_or_default();
        copy(mean, means);
        copy(var, vars);
        // The newest row with a variance leaves the ring last.
        let mut of_rows = var.chunks_exact(usize::from(spec.inputs).max(1));
        let left = of_rows.len();
        let place = of_rows.position(|row| row.iter().any(|var| *var > 0.0));
        let uncertain = place.map_or(0.0, |place| left.saturating_sub(place) as f32);
        self.set_place(Place { newest: if *flag > 0.5 { 0.0 } else { NONE }, uncertain });
    }

    /// The numbers in memory, with their limits, for a check of it.
    pub(super) fn check<'s>(
        &'s self,
        spec: &ModelSpec,
    ) -> impl Iterator<Item = (f32, RangeInclusive<f32>)> + use<'s> {
        let rows = f32::from(rows(spec));
        let limits = [NONE..=rows - 1.0, 0.0..=rows].into_iter().chain(moment_limits(spec.linear_values()));
        self.0.iter().copied().zip(limits)
    }
}

/// Limits of the numbers of a saved ring.
pub(super) fn ring_limits(spec: &ModelSpec) -> impl Iterator<Item = RangeInclusive<f32>> + use<> {
    let flags = repeat_n(0.0..=1.0, spec.extensions.linear.map_or(0, |_| 1));
    flags.chain(moment_limits(spec.linear_values()))
}

/// Rows that the linear part reads; 0 without one.
fn rows(spec: &ModelSpec) -> u16 {
    spec.extensions.linear.map_or(0, |linear| linear.rows)
}

/// A list from `start` on, and then what is before it.
fn from(list: &[f32], start: usize) -> [&[f32]; 2] {
    let (before, after) = list.split_at_checked(start).unwrap_or((&[], list));
    [after, before]
}
