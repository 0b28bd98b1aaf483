//! Classifiers without a network, fitted on the training data and scored on the same samples as a model: the
//! field's baselines for labelled sequences.

mod dtw;
mod frequencies;
mod lda;
mod nearest;
mod prepared;
#[cfg(test)]
mod tests;
mod time_domain;
mod warping_window;

use serde::Serialize;

use super::classification::{ClassificationScores, Classified, known_scores};
use crate::data::Rows;
use frequencies::ClassFrequencies;
use lda::Lda;
use nearest::NearestNeighbour;
use prepared::Preparation;
use time_domain::TimeDomain;

/// Labelled sequences in raw units; NaN is a missing value.
#[derive(Clone, Copy, Debug)]
pub struct LabelledRows<'a> {
    /// The sequences.
    pub sequences: &'a [&'a Rows],
    /// The class of each, as an index.
    pub labels: &'a [usize],
}

/// Class probabilities of linear discriminant analysis by Mahalanobis distances, for tests.
#[cfg(test)]
pub(super) fn lda_probabilities(
    classes: usize,
    train: &[Vec<f64>],
    labels: &[usize],
    test: &[Vec<f64>],
) -> Option<Rows> {
    Lda::fit(classes, train, labels)?.classify(test).probabilities
}

/// What a classifier predicts for some sequences.
#[derive(Clone, Debug, Default)]
pub struct Classification {
    /// The class of each.
    pub classes: Vec<usize>,
    /// A row of class probabilities for each, if the classifier has them.
    pub probabilities: Option<Rows>,
    /// Distance of each from what the classifier knows: the larger, the less like any class.
    pub distances: Vec<f32>,
}

/// A baseline with its scores.
#[derive(Clone, Debug, Serialize)]
pub struct ClassifierBaseline {
    /// Its name.
    pub name: String,
    /// How it classifies, and what was chosen on the training data.
    pub detail: String,
    /// Its scores on sequences of known classes.
    #[serde(flatten)]
    pub scores: ClassificationScores,
    /// What it predicts.
    #[serde(skip)]
    pub found: Classification,
    /// Distances of sequences of unknown classes.
    #[serde(skip)]
    pub unknown: Vec<f32>,
}

impl ClassifierBaseline {
    /// How well its distances tell unknown sequences from known ones; nothing without unknown ones.
    pub fn unknown_auroc(&self) -> Option<f64> {
        known_scores(&self.found.distances, &self.unknown, None).map(|scores| scores.auroc)
    }
}

/// Settings of the baselines.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassifierOptions {
    /// Changes of sign and slope smaller than this are noise (time-domain features), in raw units.
    pub emg_threshold: f32,
    /// Omit nearest neighbours under dynamic time warping, which take longest.
    pub without_dtw: bool,
}

/// All baselines, fitted on `train` and scored on `test`; `unknown` are sequences of other classes, whose
/// distances are kept. `progress` is called with the name of each that takes time, before it begins.
pub fn classifier_baselines(
    classes: &[String],
    train: LabelledRows<'_>,
    test: LabelledRows<'_>,
    unknown: &[&Rows],
    options: ClassifierOptions,
    progress: &mut dyn FnMut(&str),
) -> Vec<ClassifierBaseline> {
    let mut baselines = Vec::new();
    let mut add = |name: &str, detail: String, mut found: Classification| {
        let unknown = found.split_off(test.sequences.len());
        let (predicted, probabilities) = (&found.classes[..], found.probabilities.as_ref());
        let scores = Classified { classes, labels: test.labels, predicted, probabilities }.scores();
        baselines.push(ClassifierBaseline { name: name.into(), detail, scores, found, unknown });
    };
    let queries: Vec<&Rows> = test.sequences.iter().chain(unknown).copied().collect();
    let frequencies = ClassFrequencies::fit(classes.len(), train.labels);
    add("class frequencies", ClassFrequencies::DETAIL.into(), frequencies.classify(queries.len()));
    let preparation = Preparation::fit(train.sequences);
    let stored = nearest::stored(&preparation, train);
    progress("1-NN Euclid");
    let prepared = preparation.all(&queries);
    let euclid = NearestNeighbour::new(&stored, 0);
    add("1-NN Euclid", stored.detail("Euclidean distance"), euclid.classify(&prepared));
    if !options.without_dtw {
        progress("1-NN DTW");
        let window = warping_window::choose(&stored);
        let found = NearestNeighbour::new(&stored, window.rows).classify(&prepared);
        add("1-NN DTW", stored.detail(&window.detail()), found);
    }
    let features = TimeDomain::new(&preparation, options.emg_threshold);
    if let Some(lda) = Lda::fit(classes.len(), &features.all(train.sequences), train.labels) {
        add("time domain + LDA", features.detail(), lda.classify(&features.all(&queries)));
    }
    baselines
}

impl Classification {
    /// Removes all but the first `count` sequences, and returns the distances of the others.
    fn split_off(&mut self, count: usize) -> Vec<f32> {
        self.classes.truncate(count);
        if let Some(probabilities) = &mut self.probabilities {
            probabilities.values.truncate(count * probabilities.channels);
        }
        self.distances.split_off(count)
    }
}
