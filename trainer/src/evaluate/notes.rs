//! Denoising scores of zeros and ones such as piano rolls (Bayer and Osendorfer 2014, 4.2).

use quaver::checkpoint::Likelihood;
use serde::Serialize;

use crate::data::{Dataset, Rows, Sequence};
use crate::prediction::ScoredValue;

/// Scores of estimated notes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NoteScores {
    /// Negative log-likelihood of the clean row in nats, summed over keys and averaged over time steps;
    /// nothing if the estimates are not probabilities.
    pub nll: Option<f64>,
    /// Harmonic mean of precision and recall: 2 × hits / (notes predicted + notes played).
    pub f1: f64,
    /// Fraction of the predicted notes that were played.
    pub precision: f64,
    /// Fraction of the played notes that were predicted.
    pub recall: f64,
    /// Probability from which on a note is predicted: the one with the best `f1` on validation data.
    pub threshold: f64,
    /// Time steps.
    pub n: usize,
}

/// Estimates of clean notes by one method, and their scores.
#[derive(Clone, Debug, Serialize)]
pub struct NoteDenoising {
    /// The method.
    pub name: String,
    /// How it works, and what it was fitted on.
    pub detail: String,
    /// Its scores.
    #[serde(flatten)]
    pub scores: NoteScores,
}

/// Probabilities of clean notes in the scored sequences, and in the validation data for thresholds.
#[derive(Clone, Debug)]
pub struct NoteEstimates {
    /// Of the scored sequences.
    pub scored: Vec<Rows>,
    /// Of the validation data.
    pub valid: Vec<Rows>,
}

/// Scores of the noisy notes, of a model's estimates, of these where a note was observed, and of each key by
/// itself; empty if the clean rows are not known.
pub fn note_denoising(data: &Dataset, sequences: &[Sequence], model: NoteEstimates) -> Vec<NoteDenoising> {
    let all = [&data.train[..], &data.valid, sequences];
    if all.iter().any(|split| split.iter().any(|sequence| sequence.truth.is_none())) {
        return Vec::new();
    }
    let by_row = |estimate: &dyn Fn(&Sequence) -> Rows| NoteEstimates {
        scored: sequences.iter().map(estimate).collect(),
        valid: data.valid.iter().map(estimate).collect(),
    };
    let noisy = by_row(&|sequence| Rows::clone(&sequence.inputs));
    let bayes = PerKeyBayes::fit(&data.train);
    let alone = by_row(&|sequence| bayes.estimate(&sequence.inputs));
    let observed =
        NoteEstimates { scored: both(sequences, &model.scored), valid: both(&data.valid, &model.valid) };
    let score = |name: &str, detail: &str, estimates: &NoteEstimates, has_probabilities: bool| {
        let threshold = best_threshold(&data.valid, &estimates.valid);
        let mut scores = score(sequences, &estimates.scored, threshold);
        scores.nll = scores.nll.filter(|_| has_probabilities);
        NoteDenoising { name: name.into(), detail: detail.into(), scores }
    };
    vec![
        score("noisy rows", "as they are", &noisy, false),
        score("this model", "past and present rows of all keys", &model, true),
        score(
            "this model, observed notes",
            "the same, and 0 where no note was observed: noise adds notes and removes none",
            &observed,
            true,
        ),
        score(
            "key by key",
            "how often the key was played in training, given whether it is observed now (Bayes)",
            &alone,
            true,
        ),
    ]
}

/// Probabilities where a note was observed, and 0 elsewhere.
fn both(sequences: &[Sequence], estimates: &[Rows]) -> Vec<Rows> {
    let product = |(sequence, estimate): (&Sequence, &Rows)| Rows {
        channels: estimate.channels,
        values: estimate.values.iter().zip(&sequence.inputs.values).map(|(p, noisy)| p * noisy).collect(),
    };
    sequences.iter().zip(estimates).map(product).collect()
}

/// For every key, the probability that it was played given whether it is observed: its frequency in training.
struct PerKeyBayes {
    given_silent: Vec<f32>,
    given_observed: Vec<f32>,
}

impl PerKeyBayes {
    fn fit(train: &[Sequence]) -> Self {
        let channels = train.first().map_or(0, |sequence| sequence.inputs.channels);
        let frequency = |key: usize, observed: f32| {
            let (mut count, mut played) = (0.0, 0.0);
            for (noisy, truth) in train.iter().flat_map(pairs).filter(|(noisy, _)| noisy[key] == observed) {
                (count, played) = (count + f32::from(!noisy[key].is_nan()), played + truth[key]);
            }
            // Jeffreys prior: a key that was never played has a small probability rather than none.
            (played + 0.5) / (count + 1.0)
        };
        PerKeyBayes {
            given_silent: (0..channels).map(|key| frequency(key, 0.0)).collect(),
            given_observed: (0..channels).map(|key| frequency(key, 1.0)).collect(),
        }
    }

    fn estimate(&self, noisy: &Rows) -> Rows {
        let of = |(place, observed): (usize, &f32)| {
            let key = place % noisy.channels;
            if *observed == 1.0 { self.given_observed[key] } else { self.given_silent[key] }
        };
        Rows { channels: noisy.channels, values: noisy.values.iter().enumerate().map(of).collect() }
    }
}

/// Noisy rows with their clean versions.
fn pairs(sequence: &Sequence) -> impl Iterator<Item = (&[f32], &[f32])> {
    sequence.truth.iter().flat_map(|truth| sequence.inputs.iter().zip(truth.iter()))
}

/// Whether each note was played, with its estimated probability; missing values do not count.
fn values<'a>(
    sequences: &'a [Sequence],
    estimates: &'a [Rows],
) -> impl Iterator<Item = (bool, f64)> + Clone + 'a {
    let truths = sequences.iter().filter_map(|sequence| sequence.truth.as_ref());
    let values =
        truths.zip(estimates).flat_map(|(truth, estimate)| truth.values.iter().zip(&estimate.values));
    let known = values.filter(|(truth, estimate)| !truth.is_nan() && !estimate.is_nan());
    known.map(|(truth, estimate)| (*truth == 1.0, f64::from(*estimate)))
}

fn score(sequences: &[Sequence], estimates: &[Rows], threshold: f64) -> NoteScores {
    let (mut nll, mut played, mut predicted, mut hits) = (0.0, 0.0, 0.0, 0.0);
    for (is_played, mean) in values(sequences, estimates) {
        let value = ScoredValue { observed: f64::from(is_played), mean, epistemic: 0.0, aleatoric: 0.0 };
        nll += value.nll(Likelihood::Bernoulli);
        let is_predicted = mean >= threshold;
        played += f64::from(is_played);
        predicted += f64::from(is_predicted);
        hits += f64::from(is_played && is_predicted);
    }
    let n: usize = sequences.iter().map(Sequence::len).sum();
    NoteScores {
        nll: Some(nll / n as f64),
        f1: 2.0 * hits / (predicted + played),
        precision: hits / predicted,
        recall: hits / played,
        threshold,
        n,
    }
}

/// The percentage of probability with the best F1.
fn best_threshold(sequences: &[Sequence], estimates: &[Rows]) -> f64 {
    // Played notes and all notes, by the percentage of their probability.
    let mut counts = [[0.0_f64; 2]; 101];
    for (is_played, mean) in values(sequences, estimates) {
        let [played, all] = &mut counts[(100.0 * mean).clamp(0.0, 100.0) as usize];
        *played += f64::from(is_played);
        *all += 1.0;
    }
    let played: f64 = counts.iter().map(|[played, _]| played).sum();
    let (mut best, mut hits, mut predicted) = ((0.0, 0.5), 0.0, 0.0);
    for per_cent in (1..=100).rev() {
        hits += counts[per_cent][0];
        predicted += counts[per_cent][1];
        let f1 = 2.0 * hits / (predicted + played);
        if f1 > best.0 {
            best = (f1, per_cent as f64 / 100.0);
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::AddedNoiseConfig;
    fn rows(values: &[f32]) -> Rows {
        Rows { channels: 2, values: values.to_vec() }
    }

    /// The first key is played in every other step, the second never.
    fn data() -> Dataset {
        let beat = || vec![Sequence::next(rows(&[1.0, 0.0, 0.0, 0.0].repeat(500)))];
        let (mut train, mut valid, mut test) = (beat(), beat(), beat());
        AddedNoiseConfig { snr_db: None, on: Some(0.2), seed: 3, fresh: None }
            .add([&mut train, &mut valid, &mut test]);
        Dataset::of([train, valid, test], &["c4", "d4"])
    }

    #[test]
    fn by_hand() {
        let sequence = Sequence::next(rows(&[1.0, 0.0, 1.0, 0.0]));
        let sequences = [sequence.with_noisy_inputs(rows(&[1.0, 1.0, 1.0, 0.0]))];
        let found = score(&sequences, &[rows(&[0.8, 0.6, 0.3, 0.1])], 0.5);
        // Said: the first note of each key; played: the first key twice.
        assert_eq!((found.f1, found.precision, found.recall, found.n), (0.5, 0.5, 0.5, 2));
        let expected = -(0.8_f64.ln() + 0.4_f64.ln() + 0.3_f64.ln() + 0.9_f64.ln()) / 2.0;
        assert!((found.nll.unwrap() - expected).abs() < 1e-6, "{found:?}");
        // From 0.3 on all notes that were played are found, with one too many; no other threshold has an F1
        // of 0.8.
        let best = best_threshold(&sequences, &[rows(&[0.8, 0.6, 0.3, 0.1])]);
        assert!(best > 0.1 && best <= 0.3, "{best}");
    }

    #[test]
    fn keys_are_distinguished_and_a_model_is_compared_with_them() {
        let data = data();
        // A model that knows the beat, but not what was observed.
        let beat = || vec![rows(&[0.9, 0.05, 0.05, 0.05].repeat(500))];
        let found = note_denoising(&data, &data.test, NoteEstimates { scored: beat(), valid: beat() });
        let [noisy, model, observed, alone] = &found[..] else { panic!("{found:?}") };
        assert_eq!((noisy.scores.nll, noisy.scores.recall), (None, 1.0));
        // 500 notes, and 0.2 × 1500 more.
        assert!((noisy.scores.precision - 500.0 / 800.0).abs() < 0.04, "{noisy:?}");
        assert_eq!(model.scores.f1, 1.0);
        assert!(observed.scores.nll < model.scores.nll, "{observed:?}");
        // The second key is never played, which is all there is to know key by key; the first is played 500
        // times of 600.
        assert!(
            (alone.scores.precision - 500.0 / 600.0).abs() < 0.04 && alone.scores.recall == 1.0,
            "{alone:?}"
        );
        let unknown = [Sequence { truth: None, ..data.test[0].clone() }];
        assert!(note_denoising(&data, &unknown, NoteEstimates { scored: beat(), valid: beat() }).is_empty());
    }
}
