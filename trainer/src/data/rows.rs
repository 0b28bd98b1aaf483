//! Rows of numbers in time order, and the sequences a network is trained on.

use std::ops::Range;
use std::sync::Arc;

use quaver::checkpoint::Target;

/// Rows of equal width in time order. `NaN` marks a missing value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Values per row.
    pub channels: usize,
    /// All rows, concatenated.
    pub values: Vec<f32>,
}

impl Rows {
    /// No rows yet, of `channels` values each.
    pub fn new(channels: usize) -> Self {
        Rows { channels, values: Vec::new() }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.channels).unwrap_or(0)
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `t`, counted from 0.
    pub fn row(&self, t: usize) -> &[f32] {
        &self.values[t * self.channels..][..self.channels]
    }

    /// The rows in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f32]> + Clone {
        (0..self.len()).map(|t| self.row(t))
    }

    /// A copy of some of the rows.
    pub fn slice(&self, range: Range<usize>) -> Rows {
        let values = self.values[range.start * self.channels..range.end * self.channels].to_vec();
        Rows { channels: self.channels, values }
    }

    /// The rows in the opposite order.
    pub fn reversed(&self) -> Rows {
        let backwards = self.values.rchunks_exact(self.channels.max(1));
        Rows { channels: self.channels, values: backwards.flatten().copied().collect() }
    }

    /// A copy of some of the columns, in the order given.
    pub fn columns(&self, indices: &[usize]) -> Rows {
        let mut values = Vec::with_capacity(self.len() * indices.len());
        self.iter().for_each(|row| values.extend(indices.iter().map(|&index| row[index])));
        Rows { channels: indices.len(), values }
    }

    /// Some of the columns, in the order given; in the memory of the rows if the order is theirs.
    pub(super) fn into_columns(mut self, indices: &[usize]) -> Rows {
        if !indices.is_sorted_by(|one, other| one < other) {
            return self.columns(indices);
        }
        let (rows, width) = (self.len(), indices.len());
        if width < self.channels {
            for row in 0..rows {
                for (place, index) in indices.iter().enumerate() {
                    self.values[row * width + place] = self.values[row * self.channels + index];
                }
            }
            self.values.truncate(rows * width);
            // To shrink is to copy, which is worth it for a small part only.
            if 2 * width <= self.channels {
                self.values.shrink_to_fit();
            }
        }
        Rows { channels: width, values: self.values }
    }

    /// The rows before `at`, and those from there on; the former in the memory of all.
    fn split_at(mut self, at: usize) -> [Rows; 2] {
        let after = self.values.split_off(at * self.channels);
        let channels = self.channels;
        [self.values, after].map(|values| Rows { channels, values })
    }
}

/// One recording in raw units: the inputs and targets of every step.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// The input columns at every step.
    pub inputs: Arc<Rows>,
    /// The target values at every step. For [`Target::Next`] these are the same rows as `inputs`, which may
    /// have more gaps.
    pub targets: Arc<Rows>,
    /// Whether a step predicts other columns of its own row, or the next input row.
    pub target: Target,
    /// The inputs before noise was added, where they are known. No model reads them.
    pub truth: Option<Arc<Rows>>,
    /// Number of first rows that a model reads without being scored on them.
    pub burn_in: usize,
}

impl Sequence {
    /// A sequence in which every row is predicted from the rows before it, the first one from nothing.
    pub fn next(rows: Rows) -> Self {
        let rows = Arc::new(rows);
        Sequence { inputs: Arc::clone(&rows), targets: rows, target: Target::Next, truth: None, burn_in: 0 }
    }

    /// A sequence whose targets are other columns of the same rows.
    ///
    /// # Panics
    /// If the two differ in length.
    pub fn columns(inputs: Rows, targets: Rows) -> Self {
        assert_eq!(inputs.len(), targets.len(), "inputs and targets differ in length");
        let (inputs, targets) = (Arc::new(inputs), Arc::new(targets));
        Sequence { inputs, targets, target: Target::Columns, truth: None, burn_in: 0 }
    }

    /// The same sequence with noisy inputs. If it predicts itself, its targets are the noisy rows too; the
    /// clean rows are kept for scoring only. Targets that are whole where the inputs have gaps stay as they
    /// are.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn with_noisy_inputs(&self, noisy: Rows) -> Self {
        assert_eq!(noisy.len(), self.len(), "noise neither adds nor removes rows");
        let truth = Arc::clone(self.truth.as_ref().unwrap_or(&self.inputs));
        let inputs = Arc::new(noisy);
        let targets = match self.target {
            Target::Next | Target::ResidualNext if self.shares_rows() => Arc::clone(&inputs),
            _ => Arc::clone(&self.targets),
        };
        Sequence { inputs, targets, truth: Some(truth), ..self.clone() }
    }

    /// The same sequence with other inputs, from which values have been removed. Targets are kept, also where
    /// the sequence predicts itself.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn with_gaps(&self, inputs: Rows) -> Self {
        assert_eq!(inputs.len(), self.len(), "gaps neither add nor remove rows");
        Sequence { inputs: Arc::new(inputs), ..self.clone() }
    }

    /// Whether inputs and targets are the same rows, stored once.
    fn shares_rows(&self) -> bool {
        Arc::ptr_eq(&self.inputs, &self.targets)
    }

    /// A sequence of the same kind with other rows, scored from its first row on.
    fn rebuilt(&self, inputs: Rows, targets: impl FnOnce() -> Rows, truth: Option<Rows>) -> Self {
        let inputs = Arc::new(inputs);
        let targets = if self.shares_rows() { Arc::clone(&inputs) } else { Arc::new(targets()) };
        assert_eq!(inputs.len(), targets.len(), "inputs and targets differ in length");
        Sequence { inputs, targets, target: self.target, truth: truth.map(Arc::new), burn_in: 0 }
    }

    /// The sequence with transformed inputs, clean inputs and targets.
    pub(super) fn map(&self, inputs: impl Fn(&Rows) -> Rows, targets: impl Fn(&Rows) -> Rows) -> Self {
        let truth = self.truth.as_deref().map(&inputs);
        self.rebuilt(inputs(&self.inputs), || targets(&self.targets), truth)
    }

    /// The sequence with some of its input columns; `targets_follow` if its targets are the same columns.
    pub(super) fn with_inputs_of(self, columns: &[usize], targets_follow: bool) -> Self {
        let (target, burn_in, shares_rows) = (self.target, self.burn_in, self.shares_rows());
        let Sequence { inputs, targets, truth, .. } = self;
        // Dropped before the rows are taken, where they are the inputs.
        let targets = (!shares_rows).then_some(targets);
        let kept = |rows: Arc<Rows>| Arc::new(Arc::unwrap_or_clone(rows).into_columns(columns));
        let targets = targets.map(|targets| if targets_follow { kept(targets) } else { targets });
        let inputs = kept(inputs);
        let targets = targets.unwrap_or_else(|| Arc::clone(&inputs));
        Sequence { inputs, targets, target, truth: truth.map(kept), burn_in }
    }

    /// The recording played backwards. Again its first rows are read without being scored.
    pub fn reversed(&self) -> Self {
        Sequence { burn_in: self.burn_in, ..self.map(Rows::reversed, Rows::reversed) }
    }

    /// Combines two sequences of equal length and kind.
    pub(super) fn with(
        &self,
        other: &Sequence,
        inputs: impl Fn(&Rows, &Rows) -> Rows,
        targets: impl Fn(&Rows, &Rows) -> Rows,
    ) -> Self {
        let truths = self.truth.as_deref().zip(other.truth.as_deref());
        let truth = truths.map(|(one, other)| inputs(one, other));
        let targets = || targets(&self.targets, &other.targets);
        // Rows that two sequences share with their targets stay shared; with gaps in one of them they part.
        if self.shares_rows() && !other.shares_rows() {
            let apart = Sequence { targets: Arc::new(self.targets.as_ref().clone()), ..self.clone() };
            return apart.rebuilt(inputs(&self.inputs, &other.inputs), targets, truth);
        }
        self.rebuilt(inputs(&self.inputs, &other.inputs), targets, truth)
    }

    /// Number of steps, hence of predictions.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The input of step `t`: the row itself or, for [`Target::Next`], the row before it.
    ///
    /// `None` is the start row, which precedes the first sample of a sequence that predicts itself: the
    /// training mean with variance 0. Its raw values depend on the scaler of the model; standardised, it is
    /// mean 0, variance 0 in every channel.
    pub fn input(&self, t: usize) -> Option<&[f32]> {
        match self.target {
            Target::Columns | Target::ResidualSame => Some(self.inputs.row(t)),
            Target::Next | Target::ResidualNext => t.checked_sub(1).map(|before| self.inputs.row(before)),
        }
    }

    /// The first `at` steps and the others, as by [`slice`](Self::slice), the first in the memory of all
    /// where nobody else holds the rows.
    pub(super) fn split_at(self, at: usize) -> [Sequence; 2] {
        let (target, shares_rows) = (self.target, self.shares_rows());
        let Sequence { inputs, targets, truth, .. } = self;
        // Dropped before the rows are taken, where they are the inputs.
        let targets = (!shares_rows).then_some(targets);
        let split = |rows: Arc<Rows>| Arc::unwrap_or_clone(rows).split_at(at).map(Arc::new);
        let halves = |rows: Option<Arc<Rows>>| rows.map(split).map_or([None, None], |parts| parts.map(Some));
        let ([targets, later_targets], [truth, later_truth]) = (halves(targets), halves(truth));
        let [inputs, later] = split(inputs);
        let part = |inputs: Arc<Rows>, targets: Option<Arc<Rows>>, truth| {
            let targets = targets.unwrap_or_else(|| Arc::clone(&inputs));
            Sequence { inputs, targets, target, truth, burn_in: 0 }
        };
        [part(inputs, targets, truth), part(later, later_targets, later_truth)]
    }

    /// A copy of some of the steps, as a sequence of its own.
    pub fn slice(&self, range: Range<usize>) -> Sequence {
        let truth = self.truth.as_ref().map(|truth| truth.slice(range.clone()));
        self.rebuilt(self.inputs.slice(range.clone()), || self.targets.slice(range), truth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(rows: usize) -> Rows {
        Rows { channels: 2, values: (0..2 * rows).map(|v| v as f32).collect() }
    }

    #[test]
    fn columns_are_taken_in_place_or_copied() {
        let rows = || Rows { channels: 3, values: (0..12).map(|v| v as f32).collect() };
        for indices in [&[0, 1, 2][..], &[0, 2], &[1], &[2, 0], &[1, 1], &[]] {
            assert_eq!(rows().into_columns(indices), rows().columns(indices), "{indices:?}");
        }
        let before = rows();
        let place = before.values.as_ptr();
        assert_eq!(before.into_columns(&[0, 1, 2]).values.as_ptr(), place);
    }

    #[test]
    fn a_sequence_is_split_as_by_two_slices() {
        let itself = Sequence::next(counting(5));
        let other = Sequence::columns(counting(5), counting(5).columns(&[1]));
        let clean = Sequence { truth: Some(Arc::new(counting(5))), ..other.clone() };
        for sequence in [itself, other, clean] {
            for at in 0..=5 {
                let [first, last] = sequence.clone().split_at(at);
                assert_eq!([&first, &last], [&sequence.slice(0..at), &sequence.slice(at..5)]);
                assert_eq!(first.shares_rows(), sequence.shares_rows());
                assert_eq!(last.shares_rows(), sequence.shares_rows());
            }
        }
    }

    #[test]
    fn inputs_are_left_out_of_sequences() {
        let itself = Sequence { burn_in: 2, ..Sequence::next(counting(4)) }.with_inputs_of(&[1], true);
        assert_eq!((itself.inputs.channels, itself.shares_rows(), itself.burn_in), (1, true, 2));
        let other = Sequence::columns(counting(4), counting(4)).with_inputs_of(&[1], false);
        assert_eq!((other.inputs.channels, other.targets.channels), (1, 2));
        let follows = Sequence::columns(counting(4), counting(4)).with_inputs_of(&[1], true);
        assert_eq!(follows.inputs, follows.targets);
    }

    #[test]
    fn rows_are_row_major() {
        let rows = counting(3);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows.row(1), [2.0, 3.0]);
        assert_eq!(rows.slice(1..3).values, [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(rows.columns(&[1]).values, [1.0, 3.0, 5.0]);
        assert_eq!(rows.reversed().values, [4.0, 5.0, 2.0, 3.0, 0.0, 1.0]);
        assert!(Rows::new(0).is_empty());
    }

    #[test]
    fn a_sequence_that_predicts_itself_is_fed_the_row_before() {
        let sequence = Sequence::next(counting(3));
        assert_eq!(sequence.len(), 3);
        assert_eq!(sequence.input(0), None);
        assert_eq!(sequence.input(2), Some([2.0, 3.0].as_slice()));
        assert_eq!(sequence.targets.row(2), [4.0, 5.0]);
        assert_eq!(sequence.slice(1..3).input(0), None);
    }

    #[test]
    fn gaps_in_the_inputs_leave_targets_whole_through_every_transform() {
        let whole = Sequence::next(counting(4));
        let mut blanked = counting(4);
        blanked.values[3] = f32::NAN;
        let gappy = whole.with_gaps(blanked);
        let double = |rows: &Rows| Rows { values: rows.values.iter().map(|v| 2.0 * v).collect(), ..*rows };
        let add = |a: &Rows, b: &Rows| Rows {
            values: a.values.iter().zip(&b.values).map(|(a, b)| a + b).collect(),
            ..*a
        };
        let mapped = gappy.map(double, double);
        for (found, factor) in [
            (gappy.slice(0..4), 1.0),
            (mapped, 2.0),
            (gappy.with(&whole, add, add), 2.0),
            (whole.with(&gappy, add, add), 2.0),
        ] {
            assert_eq!(found.target, Target::Next);
            assert!(found.inputs.row(1)[1].is_nan() && found.inputs.values[2] == factor * 2.0);
            assert_eq!(found.targets.row(1), [factor * 2.0, factor * 3.0]);
        }
        assert!(whole.map(double, double).shares_rows() && whole.slice(1..3).shares_rows());
        let noisy = gappy.with_noisy_inputs(counting(4));
        assert_eq!(noisy.targets, gappy.targets);
    }

    #[test]
    fn a_sequence_with_target_columns_is_fed_its_own_row() {
        let sequence = Sequence::columns(counting(3).columns(&[0]), counting(3).columns(&[1]));
        assert_eq!(sequence.input(0), Some([0.0].as_slice()));
        assert_eq!(sequence.slice(2..3).targets.values, [5.0]);
    }
}
