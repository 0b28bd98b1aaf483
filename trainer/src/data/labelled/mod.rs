//! Sequences with a class each.
//!
//! A file becomes `Recording`s with a label per row or per sequence (`read`); `cut` turns
//! recordings into sequences of one class, whole, in windows or in runs; `classes` numbers the labels; and
//! `load` assembles the splits of a config. In a [`Dataset`](crate::data::Dataset), the target of every row
//! of a labelled sequence is one number, the index of its class, or −1 if it belongs to none, or NaN for rows
//! before the sequence that warm the network up; the names of the targets are those of the classes.

mod classes;
mod cut;
mod load;
mod read;
mod recording;
mod split;

#[cfg(test)]
mod tests;

use anyhow::Result;

use super::rows::{Rows, Sequence};
use crate::config::{DataConfig, DataSource};
pub(super) use classes::{check_class_names, class_name, in_class_order};
pub(super) use recording::numeric_label;

/// Sequences of one class each, in raw units.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledSequences {
    /// The sequences. The only target of every row is the index of the class, see [`class_of`].
    pub sequences: Vec<Sequence>,
    /// Index of the class of every sequence; nothing if it belongs to none of them.
    pub labels: Vec<Option<usize>>,
    /// Names of the classes.
    pub classes: Vec<String>,
}

impl LabelledSequences {
    /// Sequences of a [`Dataset`](crate::data::Dataset) with labels, whose target names are the classes.
    pub fn of(sequences: &[Sequence], classes: &[String]) -> Self {
        let labels = sequences.iter().map(class_of).collect();
        LabelledSequences { sequences: sequences.to_vec(), labels, classes: classes.to_vec() }
    }

    /// Reads files as the `[data]` section of a config describes them, with the classes of a trained model.
    /// Labels that are none of them become sequences without a class.
    ///
    /// # Errors
    /// When a file cannot be read, or has no labels.
    pub fn read(data: &DataConfig, sources: &[DataSource], classes: &[String]) -> Result<Self> {
        data.read_labelled(sources, classes)
    }

    /// Number of sequences of every class.
    pub fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.classes.len()];
        self.labels.iter().flatten().for_each(|class| counts[*class] += 1);
        counts
    }
}

/// Target of a sequence that belongs to none of the classes.
const NO_CLASS: f32 = -1.0;

/// The class of a labelled sequence, that of its last row.
pub fn class_of(sequence: &Sequence) -> Option<usize> {
    sequence.targets.values.last().and_then(|target| class_of_target(*target))
}

/// The class that a target stands for.
pub fn class_of_target(target: f32) -> Option<usize> {
    (target >= 0.0).then_some(target as usize)
}

/// Number of first rows of a labelled sequence that only warm the network up.
pub fn warm_up(sequence: &Sequence) -> usize {
    sequence.targets.values.iter().take_while(|target| target.is_nan()).count()
}

/// Rows with a class as a sequence; the first `warm_up` of them have no target.
fn sequence(inputs: Rows, warm_up: usize, class: Option<usize>) -> Sequence {
    let target = class.map_or(NO_CLASS, |class| class as f32);
    let mut values = vec![f32::NAN; warm_up];
    values.resize(inputs.len(), target);
    Sequence::columns(inputs, Rows { channels: 1, values })
}
