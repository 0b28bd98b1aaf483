//! The tables of layers in ARCHITECTURE.md, between `<!-- layers: FOLDER -->` and `<!-- /layers -->`.

use anyhow::{Context, Result, ensure};

const END: &str = "<!-- /layers -->";

/// The modules of each layer, lowest first.
#[derive(Debug)]
pub(super) struct Layers(Vec<Vec<String>>);

impl Layers {
    /// Reads the table of one crate: number, modules in backticks, what they hold.
    pub(super) fn of(folder: &str, text: &str) -> Result<Self> {
        let begin = format!("<!-- layers: {folder} -->");
        let (_, rest) = text.split_once(&begin).with_context(|| format!("there is no line {begin}"))?;
        let (table, _) = rest.split_once(END).with_context(|| format!("there is no line {END}"))?;
        let rows = table.lines().map(str::trim).filter(|line| line.starts_with('|')).skip(2);
        let layers = Layers(rows.enumerate().map(|(index, row)| layer(index, row)).collect::<Result<_>>()?);
        ensure!(!layers.0.is_empty(), "the table has no rows");
        let mut modules: Vec<_> = layers.modules().collect();
        modules.sort_unstable();
        let twice = modules.windows(2).find(|pair| pair[0] == pair[1]);
        ensure!(twice.is_none(), "`{}` is listed twice", twice.map_or("", |pair| pair[0]));
        Ok(layers)
    }

    pub(super) fn modules(&self) -> impl Iterator<Item = &str> {
        self.0.iter().flatten().map(String::as_str)
    }

    /// The layer of a module, counted from the lowest.
    pub(super) fn number(&self, module: &str) -> Option<usize> {
        self.0.iter().position(|modules| modules.iter().any(|name| name == module))
    }
}

fn layer(index: usize, row: &str) -> Result<Vec<String>> {
    let mut cells = row.trim_matches('|').split('|');
    let number = cells.next().unwrap_or_default().trim();
    let expected = index + 1;
    ensure!(number == expected.to_string(), "row {expected} has the number {number:?}: {row}");
    // Every second piece stands between backticks.
    let modules = cells.next().unwrap_or_default().split('`').skip(1).step_by(2);
    let modules: Vec<String> = modules.map(String::from).collect();
    ensure!(!modules.is_empty(), "row {expected} names no module in backticks: {row}");
    Ok(modules)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rows: &str) -> Result<Layers> {
        let text = format!(
            "<!-- layers: x -->\n| layer | modules | what |\n|---|---|---|\n{rows}\n<!-- /layers -->\n| 9 | `z` | |"
        );
        Layers::of("x", &text)
    }

    #[test]
    fn rows_are_layers_from_the_lowest() {
        let layers = read("| 1 | [`a`](src/a.rs), `b` | two |\n| 2 | `c` | one |").expect("a table");
        assert_eq!(layers.modules().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(["a", "b", "c", "z"].map(|name| layers.number(name)), [Some(0), Some(0), Some(1), None]);
    }

    #[test]
    fn a_broken_table_is_an_error() {
        let twice = "| 1 | `a` | |\n| 2 | `a` | twice |";
        for rows in ["", "| 1 | a | no backticks |", "| 2 | `a` | starts at two |", twice] {
            assert!(read(rows).is_err(), "{rows}");
        }
        assert!(Layers::of("y", "no table").is_err());
    }
}
