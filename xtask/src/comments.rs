//! Comments keep to the line width of rustfmt.toml, which rustfmt itself enforces for code only.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use toml::Table;

use crate::files;
use crate::shell::root;

/// Folders whose comments must fit.
const CHECKED: &[&str] = &[
    "launcher",
    "xtask",
    "runtime",
    "trainer",
    "tests",
    "streams",
    "telemetry",
    "bench",
    "firmware-examples",
    "fuzz",
    "bindings",
];

/// Finds comments wider than the width.
pub(crate) fn check() -> Result<String> {
    let width = width(&fs::read_to_string(root().join("rustfmt.toml")).context("cannot read rustfmt.toml")?)?;
    let wide = wide_in(CHECKED, width)?;
    ensure!(wide.is_empty(), "comments wider than {width} columns:\n{}", wide.join("\n"));
    Ok(String::new())
}

fn width(settings: &str) -> Result<usize> {
    let settings: Table = settings.parse().context("cannot read rustfmt.toml")?;
    let width = settings.get("max_width").and_then(toml::Value::as_integer).unwrap_or(100);
    Ok(usize::try_from(width)?)
}

/// The places of wide comments, as `file:line: columns`.
fn wide_in(folders: &[&str], width: usize) -> Result<Vec<String>> {
    let mut places = Vec::new();
    for folder in folders {
        for file in files::rust_files(&root().join(folder))? {
            let text =
                fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let shown = file.strip_prefix(root()).unwrap_or(&file);
            places.extend(wide_lines(shown, &text, width));
        }
    }
    Ok(places)
}

fn wide_lines(file: &Path, text: &str, width: usize) -> Vec<String> {
    let columns = |line: &str| line.chars().count();
    let lines = text.lines().enumerate();
    let wide = lines.filter(|(_, line)| columns(line) > width && is_breakable_comment(line));
    wide.map(|(index, line)| format!("{}:{}: {} columns", file.display(), index + 1, columns(line))).collect()
}

/// Whether the line has a comment that could go on in the next line: no row of a table, and no long address.
fn is_breakable_comment(line: &str) -> bool {
    let (code, comment) = match line.trim_start().starts_with("//") {
        true => ("", line.trim_start()),
        false => line.split_once(" // ").unwrap_or_default(),
    };
    let text = comment.trim_start_matches(['/', '!']).trim();
    let is_in_string = code.matches('"').count() % 2 == 1;
    !text.is_empty() && !is_in_string && !text.starts_with('|') && !text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_wide(line: &str) -> bool {
        !wide_lines(Path::new("a.rs"), line, 20).is_empty()
    }

    #[test]
    fn comments_of_every_kind_are_measured() {
        assert!(is_wide("// a comment that goes on and on"));
        assert!(is_wide("    /// documentation that goes on"));
        assert!(is_wide("//! documentation that goes on"));
        assert!(is_wide("let x = 1; // a remark that goes on"));
        assert!(!is_wide("// a short comment"));
        assert!(!is_wide("// ± ° µ ±±±±±±± ±±±"), "columns are characters, not bytes");
    }

    #[test]
    fn code_tables_and_addresses_are_left_alone() {
        assert!(!is_wide("let number = \"a string // and no comment\";"));
        assert!(!is_wide("call_of_a_long_function(with, arguments);"));
        assert!(!is_wide("/// | a row | of a table | that is long |"));
        assert!(!is_wide("/// see https://example.org/a/long/address"));
    }

    #[test]
    fn the_place_is_named() {
        let text = "fn f() {}\n// a comment that goes on and on\n";
        assert_eq!(wide_lines(Path::new("src/a.rs"), text, 20), ["src/a.rs:2: 32 columns"]);
    }

    #[test]
    fn the_width_is_that_of_rustfmt() {
        assert_eq!(width("max_width = 110\n").ok(), Some(110));
        assert_eq!(width("").ok(), Some(100));
    }
}
