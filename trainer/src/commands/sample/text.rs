//! Text sampled from a model of it.

use anyhow::{Result, bail};
use quaver::{Model, State};
use rand_core::Rng;
use serde::Serialize;

use super::{Arguments, FeedModeName};
use crate::commands::print::{print_json, print_text};
use crate::commands::row_io::write;
use crate::commands::text_model::TextModel;
use crate::config::TokenKind;
use crate::data::text::{END_OF_LINE, Vocabulary, unescape};
use crate::random::{Purpose, stream};
use crate::text::TokenStream;

/// Value of `--temperature`.
pub(super) fn parse_temperature(text: &str) -> Result<f32, String> {
    let temperature = text.parse().ok().filter(|value: &f32| value.is_finite() && *value >= 0.0);
    temperature.ok_or_else(|| "give a number of 0 or above, such as 0.8".into())
}

/// What was drawn.
#[derive(Debug, Serialize)]
struct SampledText {
    prefix: String,
    temperature: f32,
    seed: u64,
    draws: Vec<String>,
}

/// Refuses options of models of text for other models.
pub(super) fn refuse_options(arguments: &Arguments) -> Result<()> {
    if arguments.temperature.is_some() || arguments.json {
        bail!("--temperature and --json are for models of text, and {} is none", arguments.model.display());
    }
    Ok(())
}

fn refuse_row_options(arguments: &Arguments) -> Result<()> {
    let options = [
        ("--no-header", arguments.no_header),
        ("--feed-mode mean", arguments.feed_mode == FeedModeName::Mean),
        ("--summary", arguments.summary),
        ("--truth", arguments.truth.is_some()),
        ("--plot", arguments.plot.is_some()),
    ];
    match options.into_iter().find(|(_, set)| *set) {
        Some((option, _)) => bail!("{option} is not available for models of text; leave it out"),
        None => Ok(()),
    }
}

pub(super) fn run(arguments: &Arguments, model: &TextModel) -> Result<()> {
    refuse_row_options(arguments)?;
    let vocabulary = model.vocabulary()?;
    let prefix =
        arguments.prefix.as_ref().map_or(String::new(), |prefix| prefix.to_string_lossy().into_owned());
    let prefix = unescape(&prefix).map_err(|problem| anyhow::anyhow!("--prefix: {problem}"))?;
    let mut read = encode_prefix(&vocabulary, &prefix)?;
    let temperature = arguments.temperature.unwrap_or(1.0);
    let mut draws = Vec::new();
    for draw in 0..u64::from(arguments.draws) {
        // Every sample has its own random stream, so that more samples leave the first ones unchanged.
        let mut rng = stream(arguments.seed, Purpose::Draws { epoch: 0, batch: draw });
        let drawn = sample(model, &read, arguments.steps as usize, temperature, &mut rng)?;
        draws.push(join(&vocabulary, &drawn, !prefix.is_empty()));
    }
    read.clear();
    let found = SampledText { prefix, temperature, seed: arguments.seed, draws };
    if arguments.json {
        return print_json(&found);
    }
    let texts: Vec<String> = found.draws.iter().map(|text| format!("{}{text}\n", found.prefix)).collect();
    match &arguments.output {
        Some(path) => write(Some(path), |out| Ok(out.write_all(texts.join("\n").as_bytes())?)),
        None => print_text(&texts.join("\n")),
    }
}

/// The tokens of a prefix, which does not end a line.
fn encode_prefix(vocabulary: &Vocabulary, prefix: &str) -> Result<Vec<usize>> {
    let kind = vocabulary.kind();
    let mut tokens: Vec<usize> =
        vocabulary.encode(prefix, kind, "--prefix")?.values.into_iter().map(|token| token as usize).collect();
    if kind == TokenKind::Words && !prefix.ends_with('\n') {
        tokens.pop();
    }
    Ok(tokens)
}

/// Tokens as text; words are separated by spaces, also from those before them if there are any.
fn join(vocabulary: &Vocabulary, tokens: &[usize], goes_on: bool) -> String {
    let tokens = tokens.iter().map(|token| vocabulary.tokens()[*token].as_str());
    if vocabulary.kind() == TokenKind::Characters {
        return tokens.collect();
    }
    let (mut text, mut inside) = (String::new(), goes_on);
    for token in tokens {
        if token == END_OF_LINE {
            text.push('\n');
            inside = false;
            continue;
        }
        if inside {
            text.push(' ');
        }
        text += token;
        inside = true;
    }
    text
}

/// Reads a prefix, then draws tokens and reads each.
fn sample(
    model: &TextModel,
    prefix: &[usize],
    steps: usize,
    temperature: f32,
    rng: &mut impl Rng,
) -> Result<Vec<usize>> {
    match model {
        TextModel::Run(state) => {
            let mut stream = TokenStream::new(&state.spec, &state.parameters);
            prefix.iter().for_each(|token| stream.step(*token));
            let mut draw = || {
                let token = stream.draw(temperature, rng);
                stream.step(token);
                token
            };
            Ok((0..steps).map(|_| draw()).collect())
        }
        TextModel::Checkpoint(bytes) => {
            let model = Model::load(bytes)?;
            let mut words = vec![0.0; model.spec().arena_words()];
            let mut state = model.start_in(&mut words)?;
            for token in prefix {
                model.step_token(&mut state, *token);
            }
            let mut draw = |state: &mut State<'_>| {
                let token = model.prediction(state).draw_class_at(temperature, rng);
                model.step_token(state, token);
                token
            };
            Ok((0..steps).map(|_| draw(&mut state)).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_become_text_again() {
        let words = Vocabulary::read(b"the\ncat\n<eos>\n", "v").unwrap();
        assert_eq!(join(&words, &[0, 1, 2, 0], false), "the cat\nthe");
        assert_eq!(join(&words, &[1, 2], true), " cat\n");
        assert_eq!(encode_prefix(&words, "the cat").unwrap(), [0, 1]);
        assert_eq!(encode_prefix(&words, "the\n").unwrap(), [0, 2]);
        let characters = Vocabulary::read(b"a\n\\s\n\\n\n", "v").unwrap();
        assert_eq!(join(&characters, &[0, 1, 0, 2], true), "a a\n");
        assert_eq!(encode_prefix(&characters, "a ").unwrap(), [0, 1]);
        assert!(
            encode_prefix(&characters, "ab").unwrap_err().to_string().starts_with("--prefix:1:2: `b` is not")
        );
    }

    #[test]
    fn temperatures_are_numbers_from_zero_on() {
        assert_eq!((parse_temperature("0"), parse_temperature("0.8")), (Ok(0.0), Ok(0.8)));
        assert!(["-1", "inf", "nan", "warm"].iter().all(|text| parse_temperature(text).is_err()));
    }
}
