//! Text in CSV files that spreadsheets do not run.
//!
//! A cell that begins with `=`, `+`, `-`, `@`, a tab or a carriage return is a formula to a spreadsheet, also
//! in quotes, and a formula can start programs or send data away (OWASP, *CSV injection*). Text that begins
//! so is written with an apostrophe before it, which makes it text to a spreadsheet; numbers stay numbers.
//! Names of columns are read without that apostrophe, so that files which Quaver wrote keep their names.

use std::borrow::Cow;

/// Whether a spreadsheet would take text for a formula, apostrophes before it aside.
fn is_formula(text: &str) -> bool {
    text.trim_start_matches('\'').starts_with(['=', '+', '-', '@', '\t', '\r'])
}

/// Text that a spreadsheet shows and does not run. One more apostrophe goes before any that are there, so
/// that `unguarded` always returns the original.
pub fn guarded(text: &str) -> Cow<'_, str> {
    let is_number = text.parse::<f64>().is_ok();
    if is_formula(text) && !is_number { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// The text that [`guarded`] was given.
pub(super) fn unguarded(text: &str) -> &str {
    text.strip_prefix('\'').filter(|text| is_formula(text)).unwrap_or(text)
}

/// A cell of text: guarded, and quoted if necessary.
pub fn cell(text: &str) -> String {
    let text = guarded(text);
    if matches!(text, Cow::Owned(_)) || text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_become_text_and_numbers_stay_numbers() {
        assert_eq!(cell("=HYPERLINK(\"http://x\",\"y\")"), "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"");
        for text in ["=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "'=1"] {
            assert_eq!(cell(text), format!("\"'{text}\""));
            assert_eq!(unguarded(&guarded(text)), text);
        }
        for text in ["emg1", "-1.5", "+2", "-1e-7", "'quoted", "", "a=b"] {
            assert_eq!((cell(text).as_str(), unguarded(text)), (text, text));
        }
        assert_eq!(cell("a,b"), "\"a,b\"");
    }
}
