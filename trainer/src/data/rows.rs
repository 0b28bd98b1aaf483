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

    /// A copy of some of the columns, in the order given.
    pub fn columns(&self, indices: &[usize]) -> Rows {
        let values = self.iter().flat_map(|row| indices.iter().map(|&i| row[i])).collect();
        Rows { channels: indices.len(), values }
    }
}

/// One recording in raw units: the inputs and targets of every step.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequence {
    /// The input columns at every step.
    pub inputs: Arc<Rows>,
    /// The target values at every step. For [`Target::Next`] these are the same rows as `inputs`.
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
    /// clean rows are kept for scoring only.
    ///
    /// # Panics
    /// If the number of rows differs.
    pub fn with_noisy_inputs(&self, noisy: Rows) -> Self {
        assert_eq!(noisy.len(), self.len(), "noise neither adds nor removes rows");
        let noisy = match self.target {
            Target::Next | Target::ResidualNext => Sequence::next(noisy),
            Target::Columns | Target::ResidualSame => Sequence { inputs: Arc::new(noisy), ..self.clone() },
        };
        Sequence { truth: Some(Arc::clone(self.truth.as_ref().unwrap_or(&self.inputs))), ..noisy }
    }

    /// The sequence with transformed inputs, clean inputs and targets.
    pub(super) fn map(&self, inputs: impl Fn(&Rows) -> Rows, targets: impl Fn(&Rows) -> Rows) -> Self {
        let truth = self.truth.as_ref().map(|truth| Arc::new(inputs(truth)));
        let changed = match self.target {
            Target::Columns | Target::ResidualSame => {
                Sequence::columns(inputs(&self.inputs), targets(&self.targets))
            }
            Target::Next | Target::ResidualNext => Sequence::next(inputs(&self.inputs)),
        };
        Sequence { truth, ..changed }
    }

    /// Combines two sequences of equal length and kind.
    pub(super) fn with(
        &self,
        other: &Sequence,
        inputs: impl Fn(&Rows, &Rows) -> Rows,
        targets: impl Fn(&Rows, &Rows) -> Rows,
    ) -> Self {
        let truths = self.truth.as_ref().zip(other.truth.as_ref());
        let truth = truths.map(|(one, other)| Arc::new(inputs(one, other)));
        let (one, other) = (self, other);
        let mixed = match self.target {
            Target::Columns | Target::ResidualSame => {
                Sequence::columns(inputs(&one.inputs, &other.inputs), targets(&one.targets, &other.targets))
            }
            Target::Next | Target::ResidualNext => Sequence::next(inputs(&one.inputs, &other.inputs)),
        };
        Sequence { truth, ..mixed }
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

    /// A copy of some of the steps, as a sequence of its own.
    pub fn slice(&self, range: Range<usize>) -> Sequence {
        let inputs = self.inputs.slice(range.clone());
        let truth = self.truth.as_ref().map(|truth| Arc::new(truth.slice(range.clone())));
        let slice = match self.target {
            Target::Columns | Target::ResidualSame => Sequence::columns(inputs, self.targets.slice(range)),
            Target::Next | Target::ResidualNext => Sequence::next(inputs),
        };
        Sequence { truth, ..slice }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(rows: usize) -> Rows {
        Rows { channels: 2, values: (0..2 * rows).map(|v| v as f32).collect() }
    }

    #[test]
    fn rows_are_row_major() {
        let rows = counting(3);
        assert_eq!(rows.len(), 3);
        assert_eq!(rows.row(1), [2.0, 3.0]);
        assert_eq!(rows.slice(1..3).values, [2.0, 3.0, 4.0, 5.0]);
        assert_eq!(rows.columns(&[1]).values, [1.0, 3.0, 5.0]);
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
    fn a_sequence_with_target_columns_is_fed_its_own_row() {
        let sequence = Sequence::columns(counting(3).columns(&[0]), counting(3).columns(&[1]));
        assert_eq!(sequence.input(0), Some([0.0].as_slice()));
        assert_eq!(sequence.slice(2..3).targets.values, [5.0]);
    }
}
