//! Scores of a network that goes on learning from what it has been scored on.

use std::time::Duration;

use anyhow::{Result, bail};
use serde::Serialize;

use super::{Arguments, CONVENTION, text};
use crate::commands::evaluated_model::EvaluatedModel;
use crate::commands::print::{print_json, print_note, print_text};
use crate::commands::text_table;
use crate::config::Config;
use crate::data::{Dataset, Scaling, Sequence};
use crate::evaluate::{Scores, scores};
use crate::fit::{DynamicOptions, RunFolder, RunState, predict_dynamically};
use crate::prediction::SequencePrediction;

/// Window if the network was trained on whole sequences.
const USUAL_WINDOW: usize = 20;

/// The result of a dynamic evaluation.
#[derive(Debug, Serialize)]
struct DynamicEvaluation {
    convention: &'static str,
    /// Learning rate of gradient descent on the mean NLL of a window.
    rate: f32,
    /// Time steps between updates.
    window: usize,
    updates: usize,
    /// The network as it was trained.
    as_trained: Scores,
    /// The network that learns.
    dynamic: Scores,
    /// Time of a prediction per time step, with states carried from window to window.
    predicting_microseconds: f64,
    /// Time of learning per time step, on top of that.
    learning_microseconds: f64,
}

/// Evaluates with updates after every window and prints both scores.
pub(super) fn run(
    arguments: &Arguments,
    rate: f32,
    evaluated: &EvaluatedModel,
    data: &Dataset,
    sequences: &[Sequence],
) -> Result<()> {
    let EvaluatedModel::Run(state) = evaluated else {
        bail!(
            "--dynamic trains the network, so it needs the run folder of a predictor; on a device, the output layer alone learns: \
             see `quaver adapt`"
        )
    };
    let options = options(arguments, rate)?;
    let found = score(state, options, data, sequences, &evaluated.prediction(sequences)?);
    if arguments.json { print_json(&found) } else { print_text(&render(&found)) }
}

pub(super) fn options(arguments: &Arguments, rate: f32) -> Result<DynamicOptions> {
    let training = Config::load(&RunFolder::new(&arguments.evaluated).config(), &[])?.training;
    let usual = if training.chunk > 0 { training.chunk } else { USUAL_WINDOW };
    Ok(DynamicOptions {
        rate,
        window: arguments.dynamic_window.map_or(usual, |window| window as usize),
        clip_norm: if training.clip_norm > 0.0 { training.clip_norm } else { f32::INFINITY },
    })
}

fn score(
    state: &RunState,
    options: DynamicOptions,
    data: &Dataset,
    sequences: &[Sequence],
    as_trained: &[SequencePrediction],
) -> DynamicEvaluation {
    let steps: usize = sequences.iter().map(Sequence::len).sum();
    let mut reported = 0;
    let found = predict_dynamically(state, sequences, options, |done| {
        // A line for every tenth of the way.
        if 10 * done / steps.max(1) > reported {
            reported = 10 * done / steps.max(1);
            print_note(&format!("dynamic evaluation: {done} of {steps} steps"));
        }
    });
    let std_devs = Scaling::fit(&data.train).targets.std_dev;
    let scored = |predictions: &[SequencePrediction]| {
        scores(state.spec.likelihood, &data.target_names, sequences, predictions).in_units_of(&std_devs)
    };
    let microseconds = |time: Duration| 1e6 * time.as_secs_f64() / steps.max(1) as f64;
    DynamicEvaluation {
        convention: CONVENTION,
        rate: options.rate,
        window: options.window,
        updates: found.updates,
        as_trained: scored(as_trained),
        dynamic: scored(&found.predictions),
        predicting_microseconds: microseconds(found.predicting),
        learning_microseconds: microseconds(found.learning),
    }
}

fn render(found: &DynamicEvaluation) -> String {
    let rows = [
        text::comparison_heading(),
        text::comparison_row("as trained", &found.as_trained),
        text::comparison_row("dynamic evaluation", &found.dynamic),
    ];
    let DynamicEvaluation { rate, window, updates, predicting_microseconds, learning_microseconds, .. } =
        found;
    let mut text = text_table::render(&rows);
    text += &format!("\n{}\n", found.convention);
    text += &format!(
        "dynamic evaluation: gradient descent with rate {rate} after every {window} steps on these steps, {updates} updates; every \
         prediction is made before its target is learned from\n"
    );
    text += &format!(
        "cost: {predicting_microseconds:.1} µs per step to predict, {learning_microseconds:.1} µs more to learn ({:.1} times as much \
         in all)\n",
        1.0 + learning_microseconds / predicting_microseconds
    );
    text
}

/// A learning rate above 0.
pub(super) fn parse_learning_rate(text: &str) -> Result<f32, String> {
    let rate = text.parse().ok().filter(|rate: &f32| rate.is_finite() && *rate > 0.0);
    rate.ok_or_else(|| "give a learning rate above 0, such as 0.1".into())
}
