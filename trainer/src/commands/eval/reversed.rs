//! Scores of recordings played backwards.

use anyhow::{Result, ensure};

use super::Arguments;
use crate::commands::evaluated_model::EvaluatedModel;
use crate::commands::print::{print_json, print_text};
use crate::commands::text_table;
use crate::data::Sequence;
use crate::evaluate::{DirectionScores, ReversedScores, reversed_scores};

/// Feeds the sequences as they are and backwards, and prints entropies and NLLs of both.
pub(super) fn run(arguments: &Arguments, evaluated: &EvaluatedModel, sequences: &[Sequence]) -> Result<()> {
    let backwards: Vec<Sequence> = sequences.iter().map(Sequence::reversed).collect();
    let predictions = [evaluated.prediction(sequences)?, evaluated.prediction(&backwards)?];
    let both = [(sequences, &predictions[0][..]), (&backwards[..], &predictions[1][..])];
    let found = reversed_scores(evaluated.spec().likelihood, both, arguments.reversed_window as usize);
    ensure!(found.regular.n > 0, "every target of these data is missing");
    if arguments.json { print_json(&found) } else { print_text(&render("recordings", "time step", &found)) }
}

/// The scores of both directions of what was read, step by step.
pub(super) fn render(read: &str, step: &str, found: &ReversedScores) -> String {
    let row = |name: &str, scores: &DirectionScores| {
        vec![
            name.to_string(),
            format!("{:.4}", scores.entropy),
            format!("{:.4}", scores.nll),
            scores.n.to_string(),
        ]
    };
    let rows = [
        [read, "entropy", "NLL", "n"].map(String::from).to_vec(),
        row("as they are", &found.regular),
        row("backwards", &found.reversed),
    ];
    let ReversedScores { entropy_gap, window, windows, .. } = found;
    let area = |area: Option<f64>| area.map_or("-".into(), |area| format!("{area:.3}"));
    let mut text = text_table::render(&rows);
    text += &format!(
        "\nentropy of the predictive distribution and NLL of what followed, in nats per {step}{}\n",
        if step == "token" { "" } else { ", summed over outputs, densities in raw units" }
    );
    text += &format!("entropy gap: {entropy_gap:.4} nats per {step}\n");
    text += &format!(
        "windows of {window} steps, {windows} in each direction; AUROC of backwards against as they are: entropy {}, NLL {}\n",
        area(found.auroc_entropy),
        area(found.auroc_nll)
    );
    text
}
