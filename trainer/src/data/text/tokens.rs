//! Tokens of a text, and places in it.

use anyhow::{Result, anyhow};

use crate::config::TokenKind;

/// The token at the end of every line of words.
pub const END_OF_LINE: &str = "<eos>";

/// The bytes of a file as text, without a byte-order mark.
///
/// # Errors
/// Names line and column of the first byte that is not UTF-8.
pub fn decode<'t>(bytes: &'t [u8], file: &str) -> Result<&'t str> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| {
        let (before, after) = bytes.split_at(error.valid_up_to());
        let before = std::str::from_utf8(before).unwrap_or_default();
        let byte = after.first().copied().unwrap_or_default();
        anyhow!(
            "{}: not UTF-8 text: byte 0x{byte:02x}; save the file as UTF-8",
            place(file, before, before.len())
        )
    })
}

/// File, line and column of a byte of a text, in the form that editors and terminals recognise. Columns count
/// characters.
pub(super) fn place(file: &str, text: &str, at: usize) -> String {
    let before = &text[..at];
    let line = 1 + before.bytes().filter(|byte| *byte == b'\n').count();
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    format!("{file}:{line}:{}", 1 + before[start..].chars().count())
}

/// Calls `each` with every token of a text and the place of its first byte.
///
/// # Errors
/// The first one of `each`.
pub fn for_each_token<'t, E>(
    text: &'t str,
    kind: TokenKind,
    each: impl FnMut(&'t str, usize) -> Result<(), E>,
) -> Result<(), E> {
    match kind {
        TokenKind::Words => for_each_word(text, each),
        TokenKind::Characters => for_each_character(text, each),
    }
}

fn for_each_word<'t, E>(
    text: &'t str,
    mut each: impl FnMut(&'t str, usize) -> Result<(), E>,
) -> Result<(), E> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let mut at = start;
        for piece in line.split_inclusive(char::is_whitespace) {
            let word = piece.trim_end();
            if !word.is_empty() {
                each(word, at)?;
            }
            at += piece.len();
        }
        start += line.len();
        each(END_OF_LINE, start - line.len() + line.trim_end().len())?;
    }
    Ok(())
}

fn for_each_character<'t, E>(
    text: &'t str,
    mut each: impl FnMut(&'t str, usize) -> Result<(), E>,
) -> Result<(), E> {
    for (at, character) in text.char_indices() {
        // The two characters that end a line on some systems are one here.
        if character == '\r' && text[at + 1..].starts_with('\n') {
            continue;
        }
        each(&text[at..at + character.len_utf8()], at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;

    fn tokens(text: &str, kind: TokenKind) -> Vec<(&str, usize)> {
        let mut found = Vec::new();
        let Ok(()) = for_each_token::<Infallible>(text, kind, |token, at| {
            found.push((token, at));
            Ok(())
        });
        found
    }

    #[test]
    fn words_end_at_white_space_and_lines_at_their_ends() {
        let found = tokens(" the  cat\r\n\nsat", TokenKind::Words);
        let expected = [("the", 1), ("cat", 6), ("<eos>", 9), ("<eos>", 11), ("sat", 12), ("<eos>", 15)];
        assert_eq!(found, expected);
        assert_eq!(tokens("", TokenKind::Words), []);
    }

    #[test]
    fn characters_are_whatever_a_text_holds() {
        let found = tokens("a ü\r\n\r", TokenKind::Characters);
        assert_eq!(found, [("a", 0), (" ", 1), ("ü", 2), ("\n", 5), ("\r", 6)]);
    }

    #[test]
    fn bytes_that_are_not_text_are_located() {
        assert_eq!(decode("\u{feff}ab".as_bytes(), "f").unwrap(), "ab");
        let error = decode(b"ok\n\xc3\xbc \xff\n", "f.txt").unwrap_err().to_string();
        assert_eq!(error, "f.txt:2:3: not UTF-8 text: byte 0xff; save the file as UTF-8");
        assert!(decode(b"\xc3", "f").unwrap_err().to_string().starts_with("f:1:1: not UTF-8"));
    }
}
