//! How much noise a model takes off its inputs, beside filters, as a plain table.

use anyhow::Result;

use crate::commands::subject::Subject;
use crate::commands::table;
use crate::data::{Dataset, Sequence};
use crate::evaluate::{Denoising, denoising};

/// Scores of the model and of filters tuned on the training data; none if the truth is not known or the model does not denoise.
pub(super) fn judge(subject: &Subject, data: &Dataset, sequences: &[Sequence]) -> Result<Vec<Denoising>> {
    if sequences.iter().any(|sequence| sequence.truth.is_none()) {
        return Ok(Vec::new());
    }
    let estimates = subject.denoise(sequences)?;
    Ok(estimates.map_or_else(Vec::new, |estimates| denoising(data, sequences, &estimates)))
}

/// One row per estimate below a heading; the first estimate is the noisy rows themselves.
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

/// All estimates and how to read them; nothing if there are none.
pub(super) fn render(found: &[Denoising]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let mut text = format!("\n{}\n", table::render(&rows(found)));
    text += "SNR: variance of the truth over mean squared error in decibels, mean over channels\n";
    for entry in &found[1..] {
        text += &format!("{}: {}\n", entry.name, entry.detail);
    }
    text
}
