//! Sequences with a class each.
//!
//! A file becomes [`recording::Recording`]s with a label per row or per sequence ([`read`]); [`cut`] turns
//! recordings into sequences of one class, whole, in windows or in runs; [`classes`] numbers the labels; and
//! [`load`] assembles the splits of a config. In a [`Dataset`](crate::data::Dataset), the target of every row
//! of a labelled sequence is one number, the index of its class, or NaN if it belongs to none; the names of
//! the targets are those of the classes.

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

/// Sequences of one class each, in raw units.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelledSequences {
    /// The sequences. The only target of every row is the index of the class.
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

/// The class of a labelled sequence, which all its rows have.
pub fn class_of(sequence: &Sequence) -> Option<usize> {
    sequence.targets.values.first().filter(|class| !class.is_nan()).map(|class| *class as usize)
}

/// Rows with a class as a sequence.
fn sequence(inputs: Rows, class: Option<usize>) -> Sequence {
    let target = class.map_or(f32::NAN, |class| class as f32);
    let targets = Rows { channels: 1, values: vec![target; inputs.len()] };
    Sequence::columns(inputs, targets)
}
