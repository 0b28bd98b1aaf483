//! A trained network with its fitted classifier.

use anyhow::{Context, Result};

use super::classifier::{Calibration, Classification, Classifier};
use super::embed::{Embeddings, embed};
use super::model::ReduceModel;
use crate::config::{Config, ReduceConfig};
use crate::data::{Dataset, Scaling, Sequence};
use crate::fit::RunState;
use crate::nn::Parameters;

/// Correlations of noise between times that are tried, where there is noise.
const CORRELATIONS: [f32; 4] = [0.0, 0.1, 0.3, 1.0];

/// A trained reducer: network, pooling, and a classifier that is fitted to training data and calibrated on
/// validation data.
#[derive(Clone, Debug)]
pub struct FittedReducer {
    /// The architecture.
    pub model: ReduceModel,
    /// Its settings.
    pub reduce: ReduceConfig,
    /// The trained parameters.
    pub parameters: Parameters,
    /// Standardisation of the inputs.
    pub scaling: Scaling,
    /// Names of the classes.
    pub classes: Vec<String>,
    /// Correlation ρ of the noise of one component at different times.
    pub correlation: f32,
    /// The classifier.
    pub classifier: Classifier,
    /// Its threshold, and its error and likelihood on validation data.
    pub calibration: Calibration,
}

impl FittedReducer {
    /// The embeddings of sequences.
    pub fn embed(&self, sequences: &[Sequence]) -> Embeddings {
        embed(&self.model, &self.parameters, &self.scaling, sequences, self.correlation)
    }

    /// Classifies an embedding.
    pub fn classify(&self, point: [&[f32]; 2]) -> Classification {
        self.classifier.classify(point, false)
    }

    /// Whether a sequence belongs to one of the classes, by the threshold; all do without one.
    pub fn is_known(&self, classification: &Classification) -> bool {
        let score = classification.score(self.reduce.novelty);
        self.calibration.threshold.is_none_or(|threshold| score <= threshold)
    }
}

/// Fits the classifier of a trained network to the training data of its config, and its temperature,
/// threshold and correlation of noise to the validation data. The result depends only on the state and the
/// data.
///
/// # Errors
/// When no validation sequence has a class.
pub fn fit(state: &RunState<ReduceModel>, config: &Config, data: &Dataset) -> Result<FittedReducer> {
    let reduce = config.reduce.clone().unwrap_or_default();
    let (model, parameters) = (&state.spec, &state.parameters);
    let mut best: Option<FittedReducer> = None;
    for correlation in CORRELATIONS {
        let embedded =
            |sequences: &[Sequence]| embed(model, parameters, &state.scaling, sequences, correlation);
        let (train, valid) = (embedded(&data.train), embedded(&data.valid));
        let mut classifier = Classifier::fit(model, parameters, &reduce, &train);
        let calibration = Calibration::fit(&mut classifier, &reduce, &valid)
            .context("data.valid: no sequence has a class, so the classifier cannot be calibrated")?;
        if best.as_ref().is_none_or(|best| calibration.nll < best.calibration.nll) {
            best = Some(FittedReducer {
                model: model.clone(),
                reduce: reduce.clone(),
                parameters: parameters.clone(),
                scaling: state.scaling.clone(),
                classes: state.target_names.clone(),
                correlation,
                classifier,
                calibration,
            });
        }
        if valid.is_certain() && train.is_certain() {
            break;
        }
    }
    best.context("no correlation was tried")
}
