//! Tokens as names: one line each, without spaces and control characters.

use std::fmt::Write;

use crate::printable::is_unprintable;

/// The name of a token: `\n`, `\r`, `\t` and `\s` for a newline, a carriage return, a tab and a space, `\\`
/// for a backslash, and `\u{1b}` for any other character that acts on a terminal or is white space.
pub fn escape(token: &str) -> String {
    let mut name = String::with_capacity(token.len());
    for character in token.chars() {
        match character {
            '\n' => name += "\\n",
            '\r' => name += "\\r",
            '\t' => name += "\\t",
            ' ' => name += "\\s",
            '\\' => name += "\\\\",
            // A byte-order mark would be lost at the start of a file.
            other if is_unprintable(other) || other.is_whitespace() || other == '\u{feff}' => {
                write!(name, "\\u{{{:x}}}", u32::from(other)).expect("a string takes any text");
            }
            other => name.push(other),
        }
    }
    name
}

/// The token with a name that [`escape`] gives it.
///
/// # Errors
/// Names the escape that has no meaning.
pub fn unescape(name: &str) -> Result<String, String> {
    let mut token = String::with_capacity(name.len());
    let mut rest = name;
    while let Some(place) = rest.find('\\') {
        token += &rest[..place];
        let (character, after) = escaped_character(&rest[place..])?;
        token.push(character);
        rest = after;
    }
    Ok(token + rest)
}

/// The character of the escape that `text` starts with, and the text after it.
fn escaped_character(text: &str) -> Result<(char, &str), String> {
    let wrong = || {
        let shown: String = text.chars().take(10).collect();
        format!("`{shown}` is not an escape; write \\n, \\r, \\t, \\s, \\\\ or \\u{{1b}}")
    };
    let mut characters = text[1..].chars();
    let character = match characters.next().ok_or_else(wrong)? {
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        's' => ' ',
        '\\' => '\\',
        'u' => {
            let (code, after) =
                text[2..].strip_prefix('{').and_then(|code| code.split_once('}')).ok_or_else(wrong)?;
            let code = u32::from_str_radix(code, 16).ok().and_then(char::from_u32).ok_or_else(wrong)?;
            return Ok((code, after));
        }
        _ => return Err(wrong()),
    };
    Ok((character, characters.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printable::unprintable_in;

    #[test]
    fn every_token_survives_its_name() {
        let tokens = [
            "word",
            " ",
            "\n",
            "\r\n",
            "\t",
            "\\n",
            "\"'",
            "\u{1b}[2J",
            "\u{a0}",
            "\u{202e}",
            "\u{feff}",
            "größe",
            "<eos>",
        ];
        for token in tokens {
            let name = escape(token);
            assert!(unprintable_in(&name).is_none() && !name.contains(char::is_whitespace), "{name}");
            assert_eq!(unescape(&name).unwrap(), token);
        }
        assert_eq!((escape(" ").as_str(), escape("\u{1b}").as_str()), ("\\s", "\\u{1b}"));
    }

    #[test]
    fn escapes_without_meaning_are_named() {
        for name in ["\\", "a\\x", "\\u1b", "\\u{}", "\\u{d800}", "\\u{1b"] {
            assert!(unescape(name).unwrap_err().contains("is not an escape"), "{name}");
        }
    }
}
