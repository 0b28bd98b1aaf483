//! Denoising scores as plain tables.

use anyhow::Result;
use quaver::checkpoint::Likelihood;
use serde::Serialize;

use crate::commands::evaluated_model::EvaluatedModel;
use crate::commands::text_table;
use crate::data::{Dataset, Rows, Sequence};
use crate::evaluate::{Denoising, NoteDenoising, NoteEstimates, denoising, note_denoising};

/// Denoising scores; empty if clean rows are not known or the model does not denoise.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(super) enum DenoisingScores {
    /// Of real values.
    Decibels(Vec<Denoising>),
    /// Of zeros and ones.
    Notes(Vec<NoteDenoising>),
}

impl DenoisingScores {
    pub(super) fn is_empty(&self) -> bool {
        match self {
            DenoisingScores::Decibels(found) => found.is_empty(),
            DenoisingScores::Notes(found) => found.is_empty(),
        }
    }
}

/// Scores of the model and, with `baselines`, of filters fitted on the training data.
pub(super) fn score(
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
    baselines: bool,
) -> Result<DenoisingScores> {
    let Some(estimates) = estimates(evaluated, sequences)? else {
        return Ok(DenoisingScores::Decibels(Vec::new()));
    };
    if evaluated.spec().likelihood != Likelihood::Bernoulli {
        return Ok(DenoisingScores::Decibels(denoising(data, sequences, &estimates, baselines)));
    }
    let valid = evaluated.denoise(&data.valid)?.unwrap_or_default();
    Ok(DenoisingScores::Notes(note_denoising(data, sequences, NoteEstimates { scored: estimates, valid })))
}

/// The model's estimates of rows whose clean versions are known, if it denoises.
pub(super) fn estimates(evaluated: &EvaluatedModel, sequences: &[Sequence]) -> Result<Option<Vec<Rows>>> {
    if sequences.iter().any(|sequence| sequence.truth.is_none()) {
        return Ok(None);
    }
    evaluated.denoise(sequences)
}

/// One row per method below a heading; the first method is the noisy rows themselves.
pub(in crate::commands) fn rows(found: &[Denoising]) -> Vec<Vec<String>> {
    let mut rows = vec![["denoising", "SNR (dB)", "gain", "RMSE", "n"].map(String::from).to_vec()];
    let noisy = found.first().map_or(0.0, |noisy| noisy.scores.snr_db);
    rows.extend(found.iter().map(|entry| {
        let scores = &entry.scores;
        let [snr, gain] = [scores.snr_db, scores.snr_db - noisy].map(|value| format!("{value:.2}"));
        vec![entry.name.clone(), snr, gain, format!("{:.4}", scores.rmse), scores.n.to_string()]
    }));
    rows
}

/// The same for notes.
fn note_rows(found: &[NoteDenoising]) -> Vec<Vec<String>> {
    let heading = ["denoising", "NLL of clean rows", "F1", "precision", "recall", "threshold", "n"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(found.iter().map(|entry| {
        let scores = &entry.scores;
        let shares = [scores.f1, scores.precision, scores.recall].map(|share| format!("{share:.4}"));
        let mut row = vec![entry.name.clone(), scores.nll.map_or("-".into(), |nll| format!("{nll:.4}"))];
        row.extend(shares);
        row.extend([format!("{:.2}", scores.threshold), scores.n.to_string()]);
        row
    }));
    rows
}

const DECIBELS: &str = "SNR: variance of the truth over mean squared error in decibels, mean over channels";

const NOTES: &str = "NLL: of the clean rows under the denoised probabilities, in nats per time step; F1, precision and recall of \
                     notes whose probability reaches the threshold, the one with the best F1 on validation data";

/// All methods with explanations; nothing if there are none.
pub(super) fn render(found: &DenoisingScores) -> String {
    if found.is_empty() {
        return String::new();
    }
    let (rows, convention, details): (_, _, Vec<[&str; 2]>) = match found {
        DenoisingScores::Decibels(found) => {
            (rows(found), DECIBELS, found.iter().map(|entry| [&entry.name[..], &entry.detail]).collect())
        }
        DenoisingScores::Notes(found) => {
            (note_rows(found), NOTES, found.iter().map(|entry| [&entry.name[..], &entry.detail]).collect())
        }
    };
    let mut text = format!("\n{}\n{convention}\n", text_table::render(&rows));
    for [name, detail] in &details[1..] {
        text += &format!("{name}: {detail}\n");
    }
    text
}
