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

use super::classification::{ClassificationScores, Classified};
use crate::data::Rows;
use frequencies::ClassFrequencies;
use lda::Lda;
use nearest::NearestNeighbour;
use prepared::Preparation;
use time_domain::TimeDomain;

/// Labelled sequences in raw units; NaN is a missing value.
#[derive(Clone, Copy, Debug)]
pub struct LabelledSequences<'a> {
    /// The sequences.
    pub sequences: &'a [&'a Rows],
    /// The class of each, as an index.
    pub labels: &'a [usize],
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
}

/// Settings of the baselines.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClassifierOptions {
    /// Changes of sign and slope smaller than this are noise (time-domain features), in raw units.
    pub emg_threshold: f32,
    /// Omit nearest neighbours under dynamic time warping, which take longest.
    pub without_dtw: bool,
}

/// All baselines, fitted on `train`. `progress` is called with the name of each before it begins.
pub fn classifier_baselines(
    classes: &[String],
    train: LabelledSequences<'_>,
    test: LabelledSequences<'_>,
    options: ClassifierOptions,
    progress: &mut dyn FnMut(&str),
) -> Vec<ClassifierBaseline> {
    let mut baselines = Vec::new();
    let mut add = |name: &str, detail: String, found: Classification| {
        let classified = Classified {
            classes,
            labels: test.labels,
            predicted: &found.classes,
            probabilities: found.probabilities.as_ref(),
        };
        baselines.push(ClassifierBaseline { name: name.into(), detail, scores: classified.scores(), found });
    };
    let frequencies = ClassFrequencies::fit(classes.len(), train.labels);
    add("class frequencies", ClassFrequencies::DETAIL.into(), frequencies.classify(test.sequences.len()));
    let preparation = Preparation::fit(train.sequences);
    let stored = nearest::stored(&preparation, train);
    progress("1-NN Euclid");
    let euclid = NearestNeighbour::new(&stored, 0);
    add(
        "1-NN Euclid",
        stored.detail("Euclidean distance"),
        euclid.classify(&preparation.all(test.sequences)),
    );
    if !options.without_dtw {
        progress("1-NN DTW");
        let window = warping_window::choose(&stored);
        let found = NearestNeighbour::new(&stored, window.rows).classify(&preparation.all(test.sequences));
        add("1-NN DTW", stored.detail(&window.detail()), found);
    }
    let features = TimeDomain::new(&preparation, options.emg_threshold);
    if let Some(lda) = Lda::fit(classes.len(), &features.all(train.sequences), train.labels) {
        progress("time-domain features + LDA");
        add("time domain + LDA", features.detail(), lda.classify(&features.all(test.sequences)));
    }
    baselines
}
