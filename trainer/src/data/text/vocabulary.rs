//! The tokens that a model of text can tell apart.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::convert::Infallible;

use anyhow::{Result, anyhow, bail, ensure};

use super::escape::{escape, unescape};
use super::tokens::{decode, for_each_token, place};
use crate::config::TokenKind;
use crate::data::rows::Rows;

/// The token in place of one that is not in the vocabulary.
pub const UNKNOWN: &str = "<unk>";

/// The most tokens of a vocabulary: widths of networks have 16 bits.
const MAX_TOKENS: usize = u16::MAX as usize;

/// Tokens by their index.
#[derive(Clone, Debug, PartialEq)]
pub struct Vocabulary {
    tokens: Vec<String>,
    index: HashMap<String, usize>,
}

impl Vocabulary {
    /// The tokens of texts, the most frequent first, those of the same frequency in the order of their bytes.
    ///
    /// # Errors
    /// When there are fewer than two tokens, or too many.
    pub fn of_texts(texts: &[&str], kind: TokenKind) -> Result<Self> {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for text in texts {
            let Ok(()) = for_each_token::<Infallible>(text, kind, |token, _| {
                *counts.entry(token).or_default() += 1;
                Ok(())
            });
        }
        let mut order: Vec<(&str, u64)> = counts.into_iter().collect();
        order.sort_unstable_by_key(|&(token, count)| (Reverse(count), token));
        Self::new(order.into_iter().map(|(token, _)| token.to_string()).collect())
    }

    /// The tokens in the given order.
    fn new(tokens: Vec<String>) -> Result<Self> {
        ensure!(tokens.len() >= 2, "{} different tokens; a model of text needs two", tokens.len());
        ensure!(
            tokens.len() <= MAX_TOKENS,
            "{} different tokens; a vocabulary has at most {MAX_TOKENS}: list the most frequent ones and `{UNKNOWN}` \
             in a file, and name it in `data.vocabulary`",
            tokens.len()
        );
        let index = tokens.iter().cloned().enumerate().map(|(index, token)| (token, index)).collect();
        Ok(Vocabulary { tokens, index })
    }

    /// Reads a file with the name of a token on every line, as [`escape`] writes it.
    ///
    /// # Errors
    /// Names the line at fault.
    pub fn read(bytes: &[u8], file: &str) -> Result<Self> {
        let text = decode(bytes, file)?;
        let mut lines = HashMap::new();
        let mut tokens = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            ensure!(
                !line.is_empty(),
                "{file}:{number}: no token; remove the empty line, or write \\n for a newline"
            );
            let token = unescape(line).map_err(|problem| anyhow!("{file}:{number}: {problem}"))?;
            if let Some(before) = lines.insert(token.clone(), number) {
                bail!("{file}:{number}: `{line}` is in line {before} already; remove one of them");
            }
            tokens.push(token);
        }
        Self::new(tokens).map_err(|error| anyhow!("{file}: {error}"))
    }

    /// The vocabulary whose tokens have these names.
    ///
    /// # Errors
    /// When a name is not one that [`escape`] makes.
    pub fn from_names(names: &[String]) -> Result<Self> {
        let token =
            |name: &String| unescape(name).map_err(|problem| anyhow!("the token `{name}`: {problem}"));
        let vocabulary = Self::new(names.iter().map(token).collect::<Result<_>>()?)?;
        ensure!(vocabulary.index.len() == names.len(), "two tokens of the vocabulary are the same");
        Ok(vocabulary)
    }

    /// Names of the tokens, in their order.
    pub fn names(&self) -> Vec<String> {
        self.tokens.iter().map(|token| escape(token)).collect()
    }

    /// The tokens, in their order.
    pub fn tokens(&self) -> &[String] {
        &self.tokens
    }

    /// Whether its tokens are characters, as far as they show it: each is a single one, or stands for unknown
    /// ones.
    pub fn kind(&self) -> TokenKind {
        let single = |token: &String| token.chars().count() == 1 || token == UNKNOWN;
        if self.tokens.iter().all(single) { TokenKind::Characters } else { TokenKind::Words }
    }

    /// The tokens of a text as rows of one number each, their index.
    ///
    /// # Errors
    /// Names line and column of a token that is not in the vocabulary, if [`UNKNOWN`] is not either.
    pub fn encode(&self, text: &str, kind: TokenKind, file: &str) -> Result<Rows> {
        let unknown = self.index.get(UNKNOWN);
        let mut rows = Rows::new(1);
        for_each_token(text, kind, |token, at| {
            let index = self.index.get(token).or(unknown).ok_or_else(|| {
                anyhow!(
                    "{}: `{}` is not in the vocabulary of {} tokens, nor is `{UNKNOWN}`, which would replace it: correct the \
                     text, or add a token in a file named by `data.vocabulary`",
                    place(file, text, at),
                    escape(token),
                    self.tokens.len()
                )
            })?;
            rows.values.push(*index as f32);
            Ok::<(), anyhow::Error>(())
        })?;
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frequent_tokens_come_first_and_equals_by_their_text() {
        let vocabulary = Vocabulary::of_texts(&["b a\nc b", "a d"], TokenKind::Words).unwrap();
        assert_eq!(vocabulary.tokens(), ["<eos>", "a", "b", "c", "d"]);
        let rows = vocabulary.encode("d a\n", TokenKind::Words, "f").unwrap();
        assert_eq!((rows.channels, rows.values), (1, vec![4.0, 1.0, 0.0]));
    }

    #[test]
    fn a_vocabulary_survives_a_file_and_names() {
        let vocabulary = Vocabulary::of_texts(&["a \\ \u{1b}\"\t\nü\n"], TokenKind::Characters).unwrap();
        let file = vocabulary.names().join("\n") + "\n";
        assert_eq!(Vocabulary::read(file.as_bytes(), "v.txt").unwrap(), vocabulary);
        assert_eq!(Vocabulary::from_names(&vocabulary.names()).unwrap(), vocabulary);
        assert_eq!(vocabulary.kind(), TokenKind::Characters);
        assert!(Vocabulary::from_names(&["a".into(), "a".into()]).is_err());
    }

    #[test]
    fn malformed_vocabularies_are_refused_with_their_line() {
        let error = |text: &str| Vocabulary::read(text.as_bytes(), "v.txt").unwrap_err().to_string();
        assert!(error("a\n\nb\n").starts_with("v.txt:2: no token"));
        assert_eq!(error("a\nb\na\n"), "v.txt:3: `a` is in line 1 already; remove one of them");
        assert!(error("a\n\\q\n").starts_with("v.txt:2: `\\q` is not an escape"));
        assert_eq!(error("a\n"), "v.txt: 1 different tokens; a model of text needs two");
        let many: String = (0..70_000).map(|n| format!("{n}\n")).collect();
        assert!(error(&many).contains("70000 different tokens; a vocabulary has at most 65535"));
    }

    #[test]
    fn unknown_tokens_are_located_or_replaced() {
        let vocabulary = Vocabulary::read(b"a\nb\n<eos>", "v.txt").unwrap();
        let error = vocabulary.encode("a b\nb  x", TokenKind::Words, "t.txt").unwrap_err().to_string();
        assert!(error.starts_with("t.txt:2:4: `x` is not in the vocabulary of 3 tokens"), "{error}");
        let vocabulary = Vocabulary::read(b"a\n<unk>\n<eos>", "v.txt").unwrap();
        assert_eq!(vocabulary.encode("x a", TokenKind::Words, "t.txt").unwrap().values, [1.0, 0.0, 2.0]);
    }
}
