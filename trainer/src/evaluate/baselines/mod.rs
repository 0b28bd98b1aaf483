//! Baselines: predictions without a network, fitted on the training data and scored on the same rows as a
//! network.

mod constant;
mod discriminant;
mod markov;
mod memory;
mod persistence;
mod ridge;

use std::sync::Arc;

use quaver::checkpoint::{Likelihood, Target};
use serde::Serialize;

use super::classification::{ClassificationScores, row_class_scores};
use super::{Scores, scores};
use crate::data::{Dataset, Rows, Scaling, Sequence};
use crate::prediction::SequencePrediction;
use constant::Constant;
use discriminant::Discriminant;
use markov::Markov;
use memory::Memory;
use persistence::Persistence;
use ridge::Ridge;

/// A baseline and its scores.
#[derive(Clone, Debug, Serialize)]
pub struct Baseline {
    /// Its name.
    pub name: String,
    /// How it predicts, and what it was fitted on.
    pub detail: String,
    /// Whether it uses past targets, which the network does not get.
    pub sees_targets: bool,
    /// Its scores.
    #[serde(flatten)]
    pub scores: Scores,
    /// Scores of the most probable class of every row, of a categorical likelihood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classification: Option<ClassificationScores>,
}

/// A baseline and its predictions.
#[derive(Clone, Debug)]
pub struct BaselinePrediction {
    /// Its name.
    pub name: String,
    /// How it predicts, and what it was fitted on.
    pub detail: String,
    /// Whether it uses past targets, which the network does not get.
    pub sees_targets: bool,
    /// Its predictions of every sequence.
    pub predictions: Vec<SequencePrediction>,
}

impl BaselinePrediction {
    /// Whether it is ridge regression, of targets in other columns or of rows that predict themselves.
    pub fn is_ridge(&self) -> bool {
        Ridge::NAMES.contains(&self.name.as_str())
    }
}

/// All baselines for the likelihood, fitted on the training data and scored on `sequences`.
pub fn baselines(likelihood: Likelihood, data: &Dataset, sequences: &[Sequence]) -> Vec<Baseline> {
    let std_devs = Scaling::fit(&data.train).targets.std_dev;
    let scored = |found: BaselinePrediction| {
        let BaselinePrediction { name, detail, sees_targets, predictions } = found;
        let scores = scores(likelihood, &data.target_names, sequences, &predictions).in_units_of(&std_devs);
        let is_class = likelihood == Likelihood::Categorical;
        let classification =
            is_class.then(|| row_class_scores(&data.target_names, sequences, &predictions)).flatten();
        Baseline { name, detail, sees_targets, scores, classification }
    };
    baseline_predictions(likelihood, data, sequences).into_iter().map(scored).collect()
}

/// The predictions of all baselines for the likelihood, fitted on the training data.
pub fn baseline_predictions(
    likelihood: Likelihood,
    data: &Dataset,
    sequences: &[Sequence],
) -> Vec<BaselinePrediction> {
    let baseline = |name: &str,
                    detail: String,
                    sees_targets: bool,
                    prediction: &dyn Fn(&Sequence) -> SequencePrediction| {
        let predictions = sequences.iter().map(prediction).collect();
        BaselinePrediction { name: name.into(), detail, sees_targets, predictions }
    };
    let memory = Memory { look_ahead: &data.look_ahead };
    // Where targets are other columns, a network does not read them.
    let unfair = data.target == Target::Columns && memory.sees_targets();
    let constant = Constant::fit(&data.train);
    if likelihood.is_normal() {
        let mean = baseline("training mean", Constant::GAUSSIAN.into(), false, &|s| constant.prediction(s));
        let persistence = Persistence::fit(&data.train, &constant, memory);
        let last =
            baseline("persistence", Persistence::DETAIL.into(), unfair, &|s| persistence.prediction(s));
        let ridge = Ridge::fit(&data.train, &data.valid);
        let ridge =
            ridge.map(|ridge| baseline(ridge.name(data), ridge.detail(), false, &|s| ridge.prediction(s)));
        return [mean, last].into_iter().chain(ridge).collect();
    }
    let mut found =
        vec![baseline("frequency", Constant::BERNOULLI.into(), false, &|s| constant.prediction(s))];
    // Independent chains of mutually exclusive outputs would not add up to 1.
    if likelihood == Likelihood::Bernoulli {
        let markov = Markov::fit(&data.train, &constant, memory);
        found.push(baseline("persistence", Markov::DETAIL.into(), unfair, &|s| markov.prediction(s)));
    }
    if likelihood == Likelihood::Categorical && data.target == Target::Columns {
        let lda = Discriminant::fit(&data.train, &data.valid);
        found.extend(lda.map(|lda| baseline("LDA", lda.detail(), false, &|s| lda.prediction(s))));
    }
    found
}

/// Gaps filled by a linear autoregression that continues the rows before them, and its description; nothing
/// if there are too many channels.
pub(super) fn filled_forward(data: &Dataset, gappy: &[Rows]) -> Option<(String, Vec<Rows>)> {
    let ridge = Ridge::fit(&data.train, &data.valid)?;
    Some((ridge.detail(), gappy.iter().map(|rows| ridge.fill(rows)).collect()))
}

/// Clean rows by linear regression on the last noisy rows of all channels, and its description; nothing if
/// clean rows are not known, or there are too many channels.
pub(super) fn linear_estimate(data: &Dataset, sequences: &[Sequence]) -> Option<(String, Vec<Rows>)> {
    let from_noisy = |sequence: &Sequence| {
        let truth = sequence.truth.as_ref()?;
        Some(Sequence { targets: Arc::clone(truth), target: Target::Columns, ..sequence.clone() })
    };
    let all = |sequences: &[Sequence]| sequences.iter().map(from_noisy).collect::<Option<Vec<_>>>();
    let ridge = Ridge::fit(&all(&data.train)?, &all(&data.valid)?)?;
    let estimates = all(sequences)?.iter().map(|sequence| ridge.prediction(sequence).mean).collect();
    Some((format!("{}; learned from the truth of the training data", ridge.detail()), estimates))
}

#[cfg(test)]
mod tests;
