//! Scores of models of text.

use anyhow::{Context, Result, bail};
use serde::Serialize;

use super::tokens_drawn::{TextMonteCarlo, TextSharpened};
use super::{Arguments, tokens_drawn, tokens_dynamic};
use crate::commands::print::{print_json, print_note, print_text};
use crate::commands::text_model::TextModel;
use crate::commands::text_table;
use crate::config::TokenKind;
use crate::data::{Dataset, Sequence};

const CONVENTION: &str = "NLL in nats per token, averaged over all tokens of the split, which is read as one stream with carried \
                          state; the first token is predicted from nothing. Perplexity is e to the NLL, bits the NLL divided by ln 2";

/// The result of an evaluation.
#[derive(Debug, Serialize)]
struct TextEvaluation {
    convention: &'static str,
    /// "words" or "characters".
    tokens: &'static str,
    /// Size of the vocabulary.
    vocabulary: usize,
    /// Tokens scored.
    n: usize,
    #[serde(flatten)]
    scores: TextScores,
    /// Monte Carlo over weights, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    monte_carlo: Option<TextMonteCarlo>,
    /// The bound of a sharpened posterior, if it was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    sharpened: Option<TextSharpened>,
    baselines: Vec<TextBaseline>,
}

/// Three forms of one number.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct TextScores {
    /// Nats per token.
    nll: f64,
    /// e to the NLL.
    perplexity: f64,
    /// Bits per token.
    bits: f64,
}

#[derive(Debug, Serialize)]
struct TextBaseline {
    name: &'static str,
    #[serde(flatten)]
    scores: TextScores,
}

impl TextScores {
    pub(super) fn new(nll: f64) -> Self {
        TextScores { nll, perplexity: nll.exp(), bits: nll / std::f64::consts::LN_2 }
    }

    pub(super) fn heading() -> Vec<String> {
        ["model", "NLL", "perplexity", "bits per token"].map(String::from).to_vec()
    }

    pub(super) fn row(&self, name: &str) -> Vec<String> {
        let TextScores { nll, perplexity, bits } = self;
        vec![name.to_string(), format!("{nll:.4}"), format!("{perplexity:.2}"), format!("{bits:.4}")]
    }
}

pub(super) fn run(
    arguments: &Arguments,
    kind: TokenKind,
    data: &Dataset,
    streams: &[Sequence],
) -> Result<()> {
    refuse_options(arguments)?;
    let shown = arguments.evaluated.display();
    let model = TextModel::load(&arguments.evaluated)?.with_context(|| {
        format!("{shown} is no model of text, but the data are text: name other data with --data")
    })?;
    model.check_names(&data.target_names)?;
    if let Some(option) = needs_run(arguments) {
        let TextModel::Run(state) = &model else {
            bail!("{option} needs the trained network: give the run folder instead of its checkpoint")
        };
        if let Some(rate) = arguments.dynamic {
            return tokens_dynamic::run(arguments, rate, state, streams);
        }
        if arguments.reversed {
            return tokens_drawn::run_reversed(arguments, state, streams);
        }
    }
    let (monte_carlo, sharpened) = match &model {
        TextModel::Run(state) => (
            tokens_drawn::monte_carlo(arguments, state, streams)?,
            tokens_drawn::sharpened(arguments, state, streams)?,
        ),
        TextModel::Checkpoint(_) => (None, None),
    };
    let found = TextEvaluation {
        convention: CONVENTION,
        tokens: match kind {
            TokenKind::Words => "words",
            TokenKind::Characters => "characters",
        },
        vocabulary: data.target_names.len(),
        n: streams.iter().map(Sequence::len).sum(),
        scores: TextScores::new(model.mean_nll(streams)?),
        monte_carlo,
        sharpened,
        baselines: if arguments.no_baselines { Vec::new() } else { vec![frequencies(data, streams)] },
    };
    if arguments.json { print_json(&found) } else { print_text(&render(&found)) }
}

/// Options that have no meaning for text are not ignored.
fn refuse_options(arguments: &Arguments) -> Result<()> {
    let options = [
        ("--gap", arguments.gap.is_some()),
        ("--missing", !arguments.missing.is_empty()),
        ("--missing-lengths", !arguments.missing_lengths.is_empty()),
        ("--faults", arguments.faults),
        ("--observe", arguments.observe.is_some()),
        ("--plot", arguments.plot.is_some()),
        ("--roll", arguments.roll.is_some()),
    ];
    match options.into_iter().find(|(_, set)| *set) {
        Some((option, _)) => bail!("{option} is not available for models of text; leave it out"),
        None => Ok(()),
    }
}

/// The first option that needs the trained network.
fn needs_run(arguments: &Arguments) -> Option<&'static str> {
    let options = [
        ("--reversed", arguments.reversed),
        ("--dynamic", arguments.dynamic.is_some()),
        ("--mc-draws", arguments.mc_draws.is_some()),
        ("--sharpened", arguments.sharpened),
    ];
    options.into_iter().find(|(_, set)| *set).map(|(option, _)| option)
}

/// Notes for every tenth of the tokens.
pub(super) fn token_progress(what: &'static str, total: usize) -> impl FnMut(usize) {
    let mut reported = 0;
    move |done| {
        if 10 * done / total.max(1) > reported {
            reported = 10 * done / total.max(1);
            print_note(&format!("{what}: {done} of {total} tokens"));
        }
    }
}

/// Frequencies of the training tokens, each counted once more than it occurs.
fn frequencies(data: &Dataset, streams: &[Sequence]) -> TextBaseline {
    let tokens = |streams: &[Sequence]| -> Vec<usize> {
        streams.iter().flat_map(|stream| stream.targets.values.iter().map(|token| *token as usize)).collect()
    };
    let mut counts = vec![1.0_f64; data.target_names.len()];
    tokens(&data.train).into_iter().for_each(|token| counts[token] += 1.0);
    let total: f64 = counts.iter().sum();
    let scored = tokens(streams);
    let nll = scored.iter().map(|token| -(counts[*token] / total).ln()).sum::<f64>() / scored.len() as f64;
    TextBaseline { name: "frequencies", scores: TextScores::new(nll) }
}

fn render(found: &TextEvaluation) -> String {
    let mut rows = vec![TextScores::heading(), found.scores.row("this model")];
    let drawn = found.monte_carlo.iter();
    rows.extend(drawn.map(|found| found.scores.row(&format!("Monte Carlo, {} draws", found.draws))));
    rows.extend(found.baselines.iter().map(|baseline| baseline.scores.row(baseline.name)));
    format!(
        "{} {}, vocabulary of {}\n{}\n{}\n{}",
        found.n,
        found.tokens,
        found.vocabulary,
        text_table::render(&rows),
        found.convention,
        found.sharpened.as_ref().map_or(String::new(), TextSharpened::render)
    )
}
