//! Models of text whose weights are drawn from their posterior: Monte Carlo, text read backwards, and the
//! bound of a sharpened posterior.

use anyhow::{Context, Result, ensure};
use serde::Serialize;

use super::Arguments;
use super::reversed;
use super::run_counter::RunCounter;
use super::tokens::{TextScores, token_progress};
use crate::commands::print::{print_json, print_text};
use crate::config::Config;
use crate::data::Sequence;
use crate::evaluate::{ReversedScores, compare_directions};
use crate::fit::{RunFolder, RunState, SharpenedBound};
use crate::nn::Parameters;
use crate::prediction::StepScore;
use crate::text::{TokenModel, drawn_networks, sharpened_token_bound, token_scores};

/// The mixture of several draws of the weights.
#[derive(Debug, Serialize)]
pub(super) struct TextMonteCarlo {
    /// Number of draws.
    pub(super) draws: u32,
    /// Their seed.
    seed: u64,
    #[serde(flatten)]
    pub(super) scores: TextScores,
}

/// The bound of a sharpened posterior, in nats per token.
#[derive(Debug, Serialize)]
pub(super) struct TextSharpened {
    /// Upper bound on the expected NLL.
    bound: f64,
    /// e to the bound.
    perplexity: f64,
    /// NLL of the sharpened weights, a part of the bound.
    nll: f64,
    /// Divergence of the sharpened posterior, the other part.
    divergence: f64,
    /// Draws that are averaged.
    draws: u32,
}

/// Text as it is and backwards, by moments and by draws.
#[derive(Debug, Serialize)]
struct TextReversed {
    /// One network with the moments of its weights.
    moments: ReversedScores,
    /// The mixture of draws, if they were requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    monte_carlo: Option<ReversedScores>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draws: Option<u32>,
}

/// The networks that `--mc-draws` wants.
fn networks(arguments: &Arguments, state: &RunState<TokenModel>) -> Result<Option<Vec<Parameters>>> {
    let Some(draws) = arguments.mc_draws else { return Ok(None) };
    let drawn = drawn_networks(&state.parameters, arguments.mc_seed, draws as usize);
    let message = "--mc-draws draws weights from their posterior, and this model of text has none: train it with weights.posterior \
                   (noise on the units of a model of text is propagated, not drawn)";
    drawn.context(message).map(Some)
}

/// Scores of the draws, if they were requested.
pub(super) fn monte_carlo(
    arguments: &Arguments,
    state: &RunState<TokenModel>,
    streams: &[Sequence],
) -> Result<Option<TextMonteCarlo>> {
    let Some(networks) = networks(arguments, state)? else { return Ok(None) };
    let n = streams.iter().map(Sequence::len).sum();
    let scores = token_scores(&state.spec, &networks, streams, token_progress("Monte Carlo", n));
    let StepScore { nll, .. } = scores.iter().flatten().sum();
    let draws = networks.len() as u32;
    Ok(Some(TextMonteCarlo { draws, seed: arguments.mc_seed, scores: TextScores::new(nll / n as f64) }))
}

/// The bound of a sharpened posterior, if it was requested.
pub(super) fn sharpened(
    arguments: &Arguments,
    state: &RunState<TokenModel>,
    streams: &[Sequence],
) -> Result<Option<TextSharpened>> {
    if !arguments.sharpened {
        return Ok(None);
    }
    ensure!(
        state.parameters.method.posterior.sharpening().is_some(),
        "--sharpened needs a model trained with weights.sharpen = true"
    );
    let training = Config::load(&RunFolder::new(&arguments.evaluated).config(), &[])?.training;
    let draws = arguments.mc_draws.unwrap_or(1);
    let mut counter = RunCounter::new("sharpened posterior", draws as usize);
    let options = (arguments.mc_seed, draws as usize);
    let found = sharpened_token_bound(state, &training, streams, options, || counter.count());
    let SharpenedBound { nll, divergence, .. } = found.context("there are no tokens")?;
    let bound = nll + divergence;
    Ok(Some(TextSharpened { bound, perplexity: bound.exp(), nll, divergence, draws }))
}

impl TextSharpened {
    pub(super) fn render(&self) -> String {
        let TextSharpened { bound, perplexity, nll, divergence, draws } = self;
        format!(
            "sharpened posterior: NLL ≤ {bound:.4} nats per token, perplexity ≤ {perplexity:.2}, an upper bound ({nll:.4} + KL \
             {divergence:.4}; {draws} draws). Each window is sharpened by its own tokens: no figure for predictions; exported models \
             use the posterior that is not sharpened\n"
        )
    }
}

/// Feeds the text as it is and backwards, and prints entropies and NLLs of both.
pub(super) fn run_reversed(
    arguments: &Arguments,
    state: &RunState<TokenModel>,
    streams: &[Sequence],
) -> Result<()> {
    let backwards: Vec<Sequence> = streams.iter().map(Sequence::reversed).collect();
    let n = streams.iter().map(Sequence::len).sum();
    let window = arguments.reversed_window as usize;
    let compared = |networks: &[Parameters]| {
        let directions = [("as it is", streams), ("backwards", &backwards[..])];
        let [regular, reversed] = directions
            .map(|(name, streams)| token_scores(&state.spec, networks, streams, token_progress(name, n)));
        compare_directions([&regular, &reversed], window)
    };
    let drawn = networks(arguments, state)?;
    let found = TextReversed {
        moments: compared(std::slice::from_ref(&state.parameters)),
        monte_carlo: drawn.as_deref().map(compared),
        draws: arguments.mc_draws,
    };
    if arguments.json { print_json(&found) } else { print_text(&render(&found)) }
}

fn render(found: &TextReversed) -> String {
    let mut text = reversed::render("text", "token", &found.moments);
    if let (Some(scores), Some(draws)) = (&found.monte_carlo, found.draws) {
        text += &format!("\nthe same by the mixture of {draws} draws of the weights\n");
        text += &reversed::render("text", "token", scores);
    }
    text
}
