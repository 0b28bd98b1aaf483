//! A picture of denoised notes.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use quaver::checkpoint::Likelihood;

use super::denoising::estimates;
use crate::commands::evaluated_model::EvaluatedModel;
use crate::data::{Rows, Sequence};
use crate::report::plot::{Roll, Rolls, rolls, standalone};

/// Maximum number of steps; more would be illegible.
const MOST_STEPS: usize = 64;

/// The MIDI number of the lowest key of a piano roll.
const FIRST_KEY: usize = 21;

/// Draws the start of the first sequence: clean, noisy and denoised notes.
pub(super) fn draw(path: &Path, evaluated: &EvaluatedModel, sequences: &[Sequence]) -> Result<()> {
    ensure!(
        evaluated.spec().likelihood == Likelihood::Bernoulli,
        "--roll draws zeros and ones; train a model with model.likelihood = \"bernoulli\", or use --plot"
    );
    let estimates = estimates(evaluated, sequences)?;
    let denoised = estimates.context(
        "--roll needs noisy rows with known clean versions (data.noise) and a model that denoises: a VOSP, or a predictor \
         trained with data.targets = \"clean\"",
    )?;
    let sequence = &sequences[0];
    let truth = sequence.truth.as_deref().context("--roll needs rows with known clean versions")?;
    let first = |rows: &Rows| rows.slice(0..rows.len().min(MOST_STEPS));
    let [played, observed, primary] = [truth, &sequence.inputs, &denoised[0]].map(first);
    let parts = [
        Roll { label: "truth: what was played", notes: &played, colour: "ink" },
        Roll { label: "noisy: what the model reads", notes: &observed, colour: "vermillion" },
        Roll {
            label: "denoised: probability of each note, darker for higher",
            notes: &primary,
            colour: "blue",
        },
    ];
    let figure =
        rolls(&Rolls { rolls: &parts, first_key: FIRST_KEY, x_label: "time step", y_label: "key (MIDI)" });
    standalone(path, &figure)
}
