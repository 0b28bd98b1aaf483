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
    /// Sets the temperature of a classifier to the one that makes the classes of `valid` most likely, up to a
    /// doubt that depends on their number, and evaluates it there; nothing if no sequence has a class.
    ///
    /// If all N validation sequences are classified correctly, the likelihood only grows with the confidence,
    /// and the next sequence that is not costs any number of nats. The target of the true class is therefore
    /// (N + 1)/(N + 2) instead of 1, by Laplace's rule of succession, as Platt (1999, 2.2) fits a sigmoid to
    /// the scores of two classes; the other classes share the rest.
    pub fn fit(classifier: &mut Classifier, reduce: &ReduceConfig, valid: &Embeddings) -> Option<Self> {
        let count = valid.labels.iter().flatten().count();
        if count == 0 {
            return None;
        }
        let doubt = 1.0 / (count as f64 + 2.0);
        let start = classifier.log_temperature();
        let loss = |log_factor: f64| {
            let mut tried = classifier.clone();
            tried.set_log_temperature(start + log_factor);
            smoothed_nll(&tried, valid, doubt)
        };
        let best = minimise(RANGE, STEPS, loss);
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

/// Summed cross entropy of the classes of `valid`, of which a part `doubt` is shared by the classes that are
/// not true.
fn smoothed_nll(classifier: &Classifier, valid: &Embeddings, doubt: f64) -> f64 {
    let of_one = |(index, label): (usize, usize)| {
        let probabilities = classifier.classify(valid.point(index), true).probabilities;
        let share = doubt / (probabilities.len() - 1).max(1) as f64;
        let target = |class: usize| if class == label { 1.0 - doubt } else { share };
        // No larger bound: where it holds, the loss would be flat and no longer have a single minimum.
        let logs = probabilities.iter().map(|probability| probability.max(f64::MIN_POSITIVE).ln());
        -logs.enumerate().map(|(class, log)| target(class) * log).sum::<f64>()
    };
    let labelled = valid.labels.iter().enumerate().filter_map(|(index, label)| Some((index, (*label)?)));
    labelled.map(of_one).sum()
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
