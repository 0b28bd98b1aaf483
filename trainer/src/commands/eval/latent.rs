//! The evaluation of a latent model as plain tables.

use serde::Serialize;

use super::denoising::DenoisingScores;
use super::text::{comparison_row, remark};
use crate::commands::text_table;
use crate::evaluate::{Baseline, FeedScores, LatentScores, Nats};

/// The result of an evaluation.
#[derive(Debug, Serialize)]
pub(super) struct LatentEvaluation {
    /// How to read the scores.
    pub(super) convention: &'static str,
    /// Scores of the model.
    #[serde(flatten)]
    pub(super) scores: LatentScores,
    /// Baselines on the same rows.
    pub(super) baselines: Vec<Baseline>,
    /// Denoising scores, where clean inputs are known.
    #[serde(skip_serializing_if = "DenoisingScores::is_empty")]
    pub(super) denoising: DenoisingScores,
}

pub(super) const CONVENTION: &str = "nats per time step, summed over channels and averaged over time steps, the first of \
    every sequence included; densities in raw units (standardised: in units of the training standard deviation)";

/// Bound and likelihood, then one-step-ahead predictions and baselines, with explanations.
pub(super) fn render(found: &LatentEvaluation) -> String {
    let LatentScores { bound, reconstruction, divergence, importance, .. } = &found.scores;
    let row = |name: &str, nats: &Nats| -> Vec<String> {
        vec![name.into(), format!("{:.4}", nats.raw), format!("{:.4}", nats.standardised)]
    };
    let divergence = Nats { raw: *divergence, standardised: *divergence };
    let heading = ["", "nats per step", "standardised"].map(String::from).to_vec();
    let mut text = text_table::render(&[
        heading,
        row("bound on the NLL", bound),
        row("  reconstruction", reconstruction),
        row("  divergence from the prior", &divergence),
        row("NLL, importance-sampled", importance),
    ]);
    text += &format!(
        "\n{}\nimportance sampling: {} draws of every whole sequence, effective sample size {:.1} on average; standard error {:.4}; {} steps\n",
        found.convention,
        found.scores.draws,
        found.scores.effective_draws,
        found.scores.standard_error,
        found.scores.n
    );
    if found.scores.estimates.is_empty() {
        return text + &one_step(found);
    }
    text += "both are of clean rows, each before it is observed; the reconstruction alone bounds the NLL of denoised rows\n";
    text + &compared("clean rows", &found.scores.estimates, &found.baselines)
}

fn one_step(found: &LatentEvaluation) -> String {
    if found.scores.one_step.is_empty() {
        return "one step ahead: not available, because a network reads the whole sequence\n".into();
    }
    compared("one step ahead", &found.scores.one_step, &found.baselines)
}

/// The scores for each feed, and baselines.
fn compared(what: &str, ways: &[FeedScores], baselines: &[Baseline]) -> String {
    let heading = [what, "NLL", "standardised", "MSE", "squares per step", "R²", "CRPS", "90 %"];
    let mut rows = vec![heading.map(String::from).to_vec()];
    rows.extend(ways.iter().map(|way| comparison_row(&format!("latents by {}", way.latents), &way.scores)));
    rows.extend(baselines.iter().map(|baseline| {
        let mark = if baseline.sees_targets { " *" } else { "" };
        comparison_row(&format!("{}{mark}", baseline.name), &baseline.scores)
    }));
    let mut text = format!("\n{}", text_table::render(&rows));
    for baseline in baselines {
        text += &format!("{}: {}{}\n", baseline.name, baseline.detail, remark(baseline));
    }
    text
}
