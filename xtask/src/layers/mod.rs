//! Dependencies between modules go one way: each imports only from layers below its own.
//!
//! The order is read from the tables in ARCHITECTURE.md, the imports from the sources.

mod imports;
mod source;
mod table;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::shell::root;
use imports::Import;
use table::Layers;

const FILE: &str = "ARCHITECTURE.md";
/// The folders of the crates that have a table.
const CRATES: [&str; 2] = ["runtime", "trainer"];

/// Checks every crate that has layers.
pub(crate) fn check() -> Result<String> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let mut problems = Vec::new();
    let mut count = 0;
    for folder in CRATES {
        let layers = Layers::of(folder, &text).with_context(|| format!("the table of {folder} in {FILE}"))?;
        let sources = source::read(&root().join(folder).join("src"))?;
        let tree = imports::of(&sources).with_context(|| format!("the modules of {folder}"))?;
        problems.extend(unlisted(folder, &layers, &tree.modules));
        problems.extend(upward(folder, &layers, &tree.imports));
        count += tree.modules.len();
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(format!("{count} modules"))
}

/// Modules without a layer, and layers without a module.
fn unlisted(folder: &str, layers: &Layers, modules: &BTreeSet<String>) -> Vec<String> {
    let listed: BTreeSet<String> = layers.modules().map(String::from).collect();
    let missing = modules.difference(&listed);
    let extra = listed.difference(modules);
    let missing = missing.map(|module| format!("{folder}: module `{module}` has no layer in {FILE}"));
    missing
        .chain(extra.map(|module| format!("{folder}: {FILE} lists `{module}`, which is no module")))
        .collect()
}

/// One line for each pair of modules whose imports go against the order.
fn upward(folder: &str, layers: &Layers, imports: &[Import]) -> Vec<String> {
    let mut places: BTreeMap<(&str, &str), Vec<String>> = BTreeMap::new();
    for import in imports {
        let (from, to) = (layers.number(&import.from), layers.number(&import.to));
        if from.zip(to).is_some_and(|(from, to)| to >= from) {
            let place = format!("{}:{}", shown(folder, &import.file), import.line);
            places.entry((&import.from, &import.to)).or_default().push(place);
        }
    }
    let line = |((from, to), places): ((&str, &str), Vec<String>)| {
        format!(
            "{folder}: `{from}` must not import `{to}`, which is not in a lower layer ({FILE}): {}",
            places.join(", ")
        )
    };
    places.into_iter().map(line).collect()
}

fn shown(folder: &str, file: &Path) -> String {
    format!("{folder}/src/{}", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "
<!-- layers: toy -->
| layer | modules | what they hold |
|---|---|---|
| 1 | `low`, `twin` | the ground |
| 2 | `high` | the roof |
<!-- /layers -->
";

    fn problems(files: &[(&str, &str)]) -> Vec<String> {
        let layers = Layers::of("toy", TABLE).expect("a table");
        let sources = source::of(files);
        let tree = imports::of(&sources).expect("modules");
        let mut problems = unlisted("toy", &layers, &tree.modules);
        problems.extend(upward("toy", &layers, &tree.imports));
        problems
    }

    const ROOT: (&str, &str) = ("lib.rs", "mod low; mod twin; pub mod high; pub use high::Roof;");
    const TWIN: (&str, &str) = ("twin.rs", "");

    #[test]
    fn downward_imports_pass() {
        let high = ("high.rs", "use crate::low::Ground;\npub struct Roof(crate::twin::Wall);");
        assert!(problems(&[ROOT, TWIN, ("low.rs", ""), high]).is_empty());
    }

    #[test]
    fn an_upward_import_names_both_modules_and_every_place() {
        let low = ("low/mod.rs", "mod deep;\nuse crate::high;\n");
        let deep = ("low/deep.rs", "\nuse super::super::{high::Roof, twin};\n");
        let found = problems(&[ROOT, TWIN, low, deep, ("high.rs", "")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`low` must not import `high`"));
        assert!(found[0].ends_with("toy/src/low/deep.rs:2, toy/src/low/mod.rs:2"), "{}", found[0]);
        assert!(found[1].contains("`low` must not import `twin`"), "same layer: {}", found[1]);
    }

    #[test]
    fn a_name_exported_by_the_root_counts_for_its_module() {
        let low = ("low.rs", "use crate::Roof;");
        assert!(problems(&[ROOT, TWIN, low, ("high.rs", "")])[0].contains("`low` must not import `high`"));
    }

    #[test]
    fn a_module_without_a_layer_and_a_layer_without_a_module_are_found() {
        let found =
            problems(&[("lib.rs", "mod low; mod attic { } mod high;"), ("low.rs", ""), ("high.rs", "")]);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`attic` has no layer"));
        assert!(found[1].contains("`twin`, which is no module"));
    }

    #[test]
    fn the_layers_of_this_workspace_can_be_read() {
        let text = fs::read_to_string(root().join(FILE)).expect("a readable file");
        CRATES.into_iter().for_each(|folder| assert!(Layers::of(folder, &text).is_ok(), "{folder}"));
    }
}
