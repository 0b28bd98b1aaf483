//! Scores of a model of text that goes on learning from what it has been scored on.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use serde::Serialize;

use super::tokens::{TextScores, token_progress};
use super::{Arguments, dynamic};
use crate::commands::print::{print_json, print_text};
use crate::commands::text_table;
use crate::data::Sequence;
use crate::fit::RunState;
use crate::text::{TokenModel, dynamic_nll, token_nlls};

/// The result of a dynamic evaluation.
#[derive(Debug, Serialize)]
struct TextDynamicEvaluation {
    /// Learning rate of gradient descent on the mean NLL of a window.
    rate: f32,
    /// Tokens between updates.
    window: usize,
    updates: usize,
    /// Tokens scored.
    n: usize,
    /// The network as it was trained.
    as_trained: TextScores,
    /// The network that learns.
    dynamic: TextScores,
    /// Time of a prediction per token as trained.
    predicting_microseconds: f64,
    /// Time of prediction and learning per token.
    dynamic_microseconds: f64,
}

/// Evaluates with updates after every window and prints both scores.
pub(super) fn run(
    arguments: &Arguments,
    rate: f32,
    state: &RunState<TokenModel>,
    streams: &[Sequence],
) -> Result<()> {
    let options = dynamic::options(arguments, rate)?;
    let RunState { spec: model, parameters, .. } = state;
    let n: usize = streams.iter().map(Sequence::len).sum();
    let clock = Instant::now();
    let as_trained = token_nlls(model, parameters, streams).context("there are no tokens")?;
    let predicting = clock.elapsed();
    let clock = Instant::now();
    let found = dynamic_nll(model, parameters, streams, options, token_progress("dynamic evaluation", n));
    let (nll, updates) = found.context("there are no tokens")?;
    let microseconds = |time: Duration| 1e6 * time.as_secs_f64() / n as f64;
    let found = TextDynamicEvaluation {
        rate,
        window: options.window,
        updates,
        n,
        as_trained: TextScores::new(as_trained),
        dynamic: TextScores::new(nll),
        predicting_microseconds: microseconds(predicting),
        dynamic_microseconds: microseconds(clock.elapsed()),
    };
    if arguments.json { print_json(&found) } else { print_text(&render(&found)) }
}

fn render(found: &TextDynamicEvaluation) -> String {
    let TextDynamicEvaluation { rate, window, updates, n, as_trained, dynamic, .. } = found;
    let rows = [TextScores::heading(), as_trained.row("as trained"), dynamic.row("dynamic evaluation")];
    format!(
        "{}\ndynamic evaluation: gradient descent with rate {rate} after every {window} of {n} tokens on these tokens, {updates} \
         updates; every prediction is made before its token is learned from\ncost: {:.1} µs per token as trained, {:.1} µs with \
         learning\n",
        text_table::render(&rows),
        found.predicting_microseconds,
        found.dynamic_microseconds
    )
}
