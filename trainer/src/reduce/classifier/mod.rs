//! From embeddings to classes: what is fitted to training embeddings and calibrated on validation embeddings.
//!
//! `nearest` compares with prototypes, all training embeddings or a few of them (`thinning`); `linear`
//! is multinomial logistic regression, fitted by `lbfgs`. Probabilities, distances and scores are those of
//! the runtime ([`quaver::classifier`]), evaluated in f64.

mod calibrate;
mod lbfgs;
mod linear;
mod nearest;
mod thinning;

#[cfg(test)]
mod tests;

pub use calibrate::Calibration;
pub(crate) use calibrate::threshold;
pub use linear::LinearClassifier;
pub use nearest::NearestClassifier;

use super::embed::Embeddings;
use super::model::ReduceModel;
use crate::config::{ClassifierName, NoveltyName, ObjectiveName, ReduceConfig, SelectName};
use crate::nn::Parameters;

/// What makes an embedding a class.
#[derive(Clone, Debug, PartialEq)]
pub enum Classifier {
    /// Prototypes and their kernels.
    Nearest(NearestClassifier),
    /// Logistic regression.
    Linear(LinearClassifier),
}

/// What a classifier says about an embedding.
#[derive(Clone, Debug, PartialEq)]
pub struct Classification {
    /// The class.
    pub class: usize,
    /// Probability of each class.
    pub probabilities: Vec<f64>,
    /// Expected squared distance to the nearest prototype or class centre.
    pub distance: f64,
    /// −ln of the sum of kernels, or −ln Σ exp(logit).
    pub energy: f64,
}

impl Classification {
    /// The score by which a sequence is none of the classes.
    pub fn score(&self, novelty: NoveltyName) -> f64 {
        match novelty {
            NoveltyName::Distance => self.distance,
            NoveltyName::Energy => self.energy,
        }
    }
}

impl Classifier {
    /// Fits a classifier to training embeddings; its temperature is 1. After cross entropy, logistic
    /// regression is the trained softmax layer.
    pub fn fit(
        model: &ReduceModel,
        parameters: &Parameters,
        reduce: &ReduceConfig,
        train: &Embeddings,
    ) -> Self {
        let classes = usize::from(model.classes);
        match reduce.classifier {
            ClassifierName::Nearest => Classifier::Nearest(NearestClassifier::fit(train, classes, reduce)),
            ClassifierName::Logistic => {
                let head = |name: &str| parameters.get(name).map(|named| named.values.clone());
                let trained = (model.objective == ObjectiveName::CrossEntropy)
                    .then(|| head("head.map").zip(head("head.offset")))
                    .flatten();
                let (weight, bias) =
                    trained.unwrap_or_else(|| linear::logistic_regression(train, classes, reduce.ridge));
                Classifier::Linear(LinearClassifier::new(weight, bias, train, classes))
            }
        }
    }

    /// Classifies an embedding. With `apart`, prototypes in the very same place are left out: they are the
    /// point itself, where validation data are part of the training data (p_aa = 0).
    pub fn classify(&self, [mean, var]: [&[f32]; 2], apart: bool) -> Classification {
        match self {
            Classifier::Nearest(nearest) => nearest.classify([mean, var], apart),
            Classifier::Linear(linear) => linear.classify([mean, var]),
        }
    }
}

/// The validation loss of a classifier that is fitted to training embeddings; nothing if no validation
/// sequence has a class.
pub(super) fn validation_loss(
    model: &ReduceModel,
    parameters: &Parameters,
    reduce: &ReduceConfig,
    train: &Embeddings,
    valid: &Embeddings,
) -> Option<f64> {
    // Not finite embeddings are reported as a loss that is not finite.
    if !train.mean.iter().chain(&valid.mean).all(|value| value.is_finite()) {
        return Some(f64::NAN);
    }
    let mut classifier = Classifier::fit(model, parameters, reduce, train);
    let found = Calibration::fit(&mut classifier, reduce, valid)?;
    Some(match reduce.select {
        SelectName::Error => found.error + 1e-3 * found.nll,
        SelectName::Nll => found.nll,
    })
}
