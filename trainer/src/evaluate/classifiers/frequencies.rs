//! The frequencies of the classes in the training data, for every sample.

use super::Classification;
use crate::data::Rows;

pub(super) struct ClassFrequencies(Vec<f32>);

impl ClassFrequencies {
    pub(super) const DETAIL: &'static str =
        "predicts the frequencies of the classes in the training data, whatever the sequence";

    pub(super) fn fit(classes: usize, labels: &[usize]) -> Self {
        let mut frequencies = vec![0.0; classes];
        labels.iter().for_each(|label| frequencies[*label] += 1.0 / labels.len() as f32);
        Self(frequencies)
    }

    pub(super) fn classify(&self, samples: usize) -> Classification {
        let probabilities = Rows { channels: self.0.len(), values: self.0.repeat(samples) };
        let classes = crate::evaluate::classification::most_probable(&probabilities);
        Classification { classes, probabilities: Some(probabilities), distances: vec![0.0; samples] }
    }
}
