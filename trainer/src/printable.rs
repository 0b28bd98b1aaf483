//! Characters that must not reach a terminal: they move the cursor, change colours, or show text in another
//! order than it is read.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character acts on a terminal instead of being shown: control characters (C0, DEL, C1),
/// separators of lines and paragraphs, and the marks, embeddings, overrides and isolates of bidirectional
/// text (Unicode Standard Annex 9, section 2).
pub(crate) fn is_unprintable(character: char) -> bool {
    let bidirectional = matches!(character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    character.is_control() || bidirectional || matches!(character, '\u{2028}' | '\u{2029}')
}

/// Text for a terminal: every unprintable character but the newline as an escape such as `\u{1b}`.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    replaced(text, |character, shown| shown.extend(character.escape_default()))
}

/// JSON for a terminal. Its unprintable characters are all within strings, where `\u001b` means the same.
pub(crate) fn escaped_json(text: &str) -> Cow<'_, str> {
    replaced(text, |character, shown| {
        write!(shown, "\\u{:04x}", u32::from(character)).expect("a string takes any text");
    })
}

fn replaced(text: &str, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let acts = |character: char| character != '\n' && is_unprintable(character);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if acts(character) { escape(character, &mut shown) } else { shown.push(character) }
    }
    Cow::Owned(shown)
}

/// The first unprintable character of a name, newlines included, as its code point for a message.
pub(crate) fn unprintable_in(name: &str) -> Option<String> {
    name.chars()
        .find(|character| is_unprintable(*character))
        .map(|found| format!("U+{:04X}", u32::from(found)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_is_escaped_and_nothing_else() {
        assert!(matches!(escaped("Ü ± σ² 力\nnext"), Cow::Borrowed(_)));
        assert_eq!(escaped("\u{1b}[2J\u{7f}\u{9b}1m\r\t\0"), "\\u{1b}[2J\\u{7f}\\u{9b}1m\\r\\t\\u{0}");
        assert_eq!(escaped("a\u{202e}b\u{2066}c\u{2028}"), "a\\u{202e}b\\u{2066}c\\u{2028}");
        for code in (0..0x20).chain(0x7f..0xa0).filter(|code| *code != u32::from('\n')) {
            let text = char::from_u32(code).unwrap().to_string();
            assert!(!escaped(&text).contains(&text), "U+{code:04X}");
        }
    }

    #[test]
    fn json_stays_the_same_json() {
        let value = serde_json::json!({ "na\u{9b}me": "\u{202e}\u{1b}" });
        let text = serde_json::to_string_pretty(&value).unwrap();
        let shown = escaped_json(&text);
        assert!(!shown.contains(|character| character != '\n' && is_unprintable(character)), "{shown:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }

    #[test]
    fn the_first_one_in_a_name_is_found() {
        assert_eq!(unprintable_in("emg 1"), None);
        assert_eq!(unprintable_in("emg\n\u{1b}").as_deref(), Some("U+000A"));
    }
}
