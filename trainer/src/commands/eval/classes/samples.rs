//! Labelled sequences with the classes of a model.

use crate::data::labelled::{class_of, warm_up};
use crate::data::{Rows, Sequence};

/// Sequences, and the class of each as the model counts them.
pub(super) struct LabelledSamples<'a> {
    /// With the rows that warm the network up.
    pub(super) rows: Vec<&'a Rows>,
    /// How many of them do.
    warm_up: Vec<usize>,
    /// None if the sequence belongs to no class of the model.
    pub(super) labels: Vec<Option<usize>>,
}

impl<'a> LabelledSamples<'a> {
    /// Sequences whose targets are indices into `names`, with indices into `classes`.
    pub(super) fn new(sequences: &'a [Sequence], names: &[String], classes: &[String]) -> Self {
        let index = |name: &String| classes.iter().position(|class| class == name);
        let indices: Vec<Option<usize>> = names.iter().map(index).collect();
        let label = |sequence: &Sequence| class_of(sequence).and_then(|class| indices[class]);
        Self {
            rows: sequences.iter().map(|sequence| sequence.inputs.as_ref()).collect(),
            warm_up: sequences.iter().map(warm_up).collect(),
            labels: sequences.iter().map(label).collect(),
        }
    }

    /// Indices and classes of the sequences that have one.
    pub(super) fn of_known_classes(&self) -> (Vec<usize>, Vec<usize>) {
        self.of_classes_below(usize::MAX)
    }

    /// Indices and classes of the sequences of the first classes.
    pub(super) fn of_classes_below(&self, count: usize) -> (Vec<usize>, Vec<usize>) {
        let known = self.labels.iter().enumerate().filter_map(|(index, label)| Some((index, (*label)?)));
        known.filter(|(_, class)| *class < count).unzip()
    }

    /// Some of the sequences, without the rows that only warm a network up.
    pub(super) fn windows(&self, indices: &[usize]) -> Vec<Rows> {
        let window = |index: &usize| self.rows[*index].slice(self.warm_up[*index]..self.rows[*index].len());
        indices.iter().map(window).collect()
    }

    /// Indices of the sequences of one class.
    pub(super) fn of_class(&self, class: usize) -> Vec<usize> {
        (0..self.labels.len()).filter(|index| self.labels[*index] == Some(class)).collect()
    }
}

/// Some of the rows, in this order.
pub(super) fn select(rows: &Rows, indices: &[usize]) -> Rows {
    let values = indices.iter().flat_map(|index| rows.row(*index).iter().copied()).collect();
    Rows { channels: rows.channels, values }
}
