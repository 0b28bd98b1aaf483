//! Temperature of a classifier and threshold for "none of these", fitted to validation embeddings.

use super::{Classification, Classifier};
use crate::config::ReduceConfig;
use crate::golden_section::minimise;
use crate::reduce::embed::Embeddings;

/// Smallest probability in a log-likelihood: that of a class the classifier has excluded.
const LEAST: f64 = 1e-12;

/// Logarithms of the factors on the temperature that are tried.
const RANGE: [f64; 2] = [-6.0, 6.0];

/// Steps of the search for the temperature: the interval shrinks to 2 % of a unit.
const STEPS: usize = 14;

/// What was found on validation data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Calibration {
    /// Share of the sequences that are classified wrongly.
    pub error: f64,
    /// Negative log-likelihood in nats per sequence.
    pub nll: f64,
    /// Largest score of a known sequence.
    pub threshold: Option<f64>,
    /// Number of sequences.
    pub count: usize,
}

impl Calibration {
    /// Sets the temperature of a classifier to the one that makes the classes of `valid` most likely, and
    /// evaluates it there; nothing if no sequence has a class.
    pub fn fit(classifier: &mut Classifier, reduce: &ReduceConfig, valid: &Embeddings) -> Option<Self> {
        valid.labels.iter().flatten().next()?;
        let start = classifier.log_temperature();
        let nll = |log_factor: f64| {
            let mut tried = classifier.clone();
            tried.set_log_temperature(start + log_factor);
            Self::evaluate(&tried, reduce, valid).map_or(f64::INFINITY, |found| found.nll)
        };
        let best = minimise(RANGE, STEPS, nll);
        classifier.set_log_temperature(start + best);
        Self::evaluate(classifier, reduce, valid)
    }

    /// Evaluates a classifier as it is; nothing if no sequence has a class.
    pub fn evaluate(classifier: &Classifier, reduce: &ReduceConfig, valid: &Embeddings) -> Option<Self> {
        let (mut wrong, mut nll, mut scores) = (0, 0.0, Vec::new());
        for (index, label) in valid.labels.iter().enumerate() {
            let Some(label) = *label else { continue };
            let found: Classification = classifier.classify(valid.point(index), true);
            wrong += usize::from(found.class != label);
            nll -= found.probabilities[label].max(LEAST).ln();
            scores.push(found.score(reduce.novelty));
        }
        let count = scores.len();
        let of_all = |sum: f64| sum / count as f64;
        (count > 0).then(|| Calibration {
            error: of_all(wrong as f64),
            nll: of_all(nll),
            threshold: threshold(scores, reduce.rejected),
            count,
        })
    }
}

/// The score that a fraction of the scores exceeds.
pub(crate) fn threshold(mut scores: Vec<f64>, rejected: f64) -> Option<f64> {
    if rejected == 0.0 {
        return None;
    }
    scores.sort_by(f64::total_cmp);
    let kept = ((1.0 - rejected) * scores.len() as f64).ceil() as usize;
    scores.get(kept.clamp(1, scores.len()) - 1).copied()
}

impl Classifier {
    /// Logarithm of the temperature: of 1/β, or of the divisor of the logits.
    fn log_temperature(&self) -> f64 {
        match self {
            Classifier::Nearest(nearest) => -nearest.beta.ln(),
            Classifier::Linear(linear) => linear.temperature.ln(),
        }
    }

    fn set_log_temperature(&mut self, log_temperature: f64) {
        match self {
            Classifier::Nearest(nearest) => nearest.beta = (-log_temperature).exp(),
            Classifier::Linear(linear) => linear.temperature = log_temperature.exp(),
        }
    }
}
