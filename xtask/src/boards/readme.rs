//! The table of sizes in a README.

use std::fs;

use anyhow::{Context, Result};

use crate::shell::root;

const FILE: &str = "firmware-examples/README.md";
const BEGIN: &str = "<!-- sizes: written by cargo xtask boards --write -->\n";
const END: &str = "<!-- /sizes -->";

/// Replaces the table between the marks.
pub(super) fn write(rows: &[Vec<String>]) -> Result<()> {
    let path = root().join(FILE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {FILE}"))?;
    let written = replaced(&text, rows).with_context(|| format!("{FILE} has lost its marks {BEGIN}{END}"))?;
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, written).with_context(|| format!("cannot write {}", temporary.display()))?;
    fs::rename(&temporary, &path).with_context(|| format!("cannot rename to {FILE}"))
}

fn replaced(text: &str, rows: &[Vec<String>]) -> Option<String> {
    let (before, rest) = text.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}{}{END}{after}", markdown(rows)))
}

fn markdown(rows: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut lines: Vec<String> = rows.iter().map(line).collect();
    let columns = rows.first().map_or(0, Vec::len);
    lines.insert(1.min(lines.len()), format!("|{}\n", "---|".repeat(columns)));
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_changes() {
        let rows = [["a", "b"], ["1", "2"]].map(|row| row.map(String::from).to_vec());
        let text = format!("before\n{BEGIN}old\n{END}\nafter");
        let expected = format!("before\n{BEGIN}| a | b |\n|---|---|\n| 1 | 2 |\n{END}\nafter");
        assert_eq!(replaced(&text, &rows), Some(expected));
        assert_eq!(replaced("no marks", &rows), None);
    }

    #[test]
    fn the_file_has_its_marks() {
        let text = fs::read_to_string(root().join(FILE)).expect("a README");
        assert!(replaced(&text, &[]).is_some());
    }
}
