//! Which top-level module imports which: every path that begins with `crate::`, `$crate::` or enough
//! `super::`, in `use` items, in code and in macros alike.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use proc_macro2::{Delimiter, Group, Ident, TokenTree};

use super::source::{Sources, is_ident, is_punct, without_tests};

/// One mention of another top-level module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Import {
    pub(super) from: String,
    pub(super) to: String,
    /// Below `src`.
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// What was found in a crate.
#[derive(Debug, Default)]
pub(super) struct Tree {
    /// Top-level modules.
    pub(super) modules: BTreeSet<String>,
    pub(super) imports: Vec<Import>,
}

/// A name at the crate's root, as some module mentions it.
struct Mention {
    import: Import,
    name: String,
}

/// Reads the files of every module that `lib.rs` declares.
pub(super) fn of(sources: &Sources) -> Result<Tree> {
    let root = &sources.get(Path::new("lib.rs")).context("there is no lib.rs")?.tokens;
    let modules = declared(root);
    let mut walk = Walk::default();
    for (file, source) in sources {
        let place = Place { file, modules: module_path(file) };
        let is_module = place.modules.first().is_some_and(|first| modules.contains(first));
        if is_module && !is_for_tests(&place.modules, sources) {
            walk.tokens(&source.tokens, &place)?;
        }
    }
    // Modules without a file.
    walk.tokens(root, &Place { file: Path::new("lib.rs"), modules: Vec::new() })?;
    let exports = exports(root, &modules)?;
    let mut tree = Tree { modules, imports: Vec::new() };
    for Mention { mut import, name } in walk.mentions {
        let module = if tree.modules.contains(&name) { Some(&name) } else { None };
        if let Some(module) = module.or_else(|| exports.get(&name)).or_else(|| walk.macros.get(&name)) {
            import.to.clone_from(module);
            tree.imports.push(import);
        }
    }
    tree.imports.retain(|import| import.from != import.to);
    tree.imports.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(tree)
}

/// The modules that `lib.rs` declares.
fn declared(root: &[TokenTree]) -> BTreeSet<String> {
    let declaration = |pair: &[TokenTree]| is_ident(&pair[0], "mod").then(|| pair[1].to_string());
    root.windows(2).filter_map(declaration).collect()
}

/// The path of the module that a file holds. With `#[path]` the names differ, but not their number or the
/// first of them.
fn module_path(file: &Path) -> Vec<String> {
    let path = if file.ends_with("mod.rs") { file.with_file_name("") } else { file.with_extension("") };
    path.iter().map(|name| name.to_string_lossy().into_owned()).collect()
}

/// Whether the module or one around it is compiled for tests only.
fn is_for_tests(modules: &[String], sources: &Sources) -> bool {
    let mut files = sources.iter().filter(|(_, source)| !source.test_modules.is_empty());
    files.any(|(file, source)| {
        let around = if file == Path::new("lib.rs") { Vec::new() } else { module_path(file) };
        let name = modules.strip_prefix(&around[..]).and_then(<[String]>::first);
        name.is_some_and(|name| source.test_modules.contains(name))
    })
}

/// Names that the root exports from its modules: `pub use models::{Model, latent::Sampler}`.
fn exports(root: &[TokenTree], modules: &BTreeSet<String>) -> Result<BTreeMap<String, String>> {
    let mut exports = BTreeMap::new();
    for (index, _) in root.iter().enumerate().filter(|(_, token)| is_ident(token, "use")) {
        let item: Vec<_> =
            root[index + 1..].iter().take_while(|token| !is_punct(token, ';')).cloned().collect();
        let Some(module) = item.first().map(ToString::to_string) else { continue };
        for leaf in leaves(&item).into_iter().filter(|_| modules.contains(&module)) {
            ensure!(leaf != "*", "lib.rs exports `{module}::*`; name what it exports");
            exports.insert(leaf, module.clone());
        }
    }
    Ok(exports)
}

/// The names that a use tree brings in.
fn leaves(tree: &[TokenTree]) -> Vec<String> {
    let leaf = |branch: &[TokenTree]| match branch.last() {
        Some(TokenTree::Group(group)) => leaves(&group.stream().into_iter().collect::<Vec<_>>()),
        last => last.map(ToString::to_string).into_iter().collect(),
    };
    tree.split(|token| is_punct(token, ',')).flat_map(leaf).collect()
}

/// Where tokens stand.
#[derive(Clone)]
struct Place<'a> {
    file: &'a Path,
    /// The path of the module, from the root.
    modules: Vec<String>,
}

#[derive(Default)]
struct Walk {
    /// Exported macros live at the root, but belong to the module that defines them.
    macros: BTreeMap<String, String>,
    mentions: Vec<Mention>,
}

impl Walk {
    fn tokens(&mut self, tokens: &[TokenTree], place: &Place<'_>) -> Result<()> {
        let mut index = 0;
        while index < tokens.len() {
            index += match &tokens[index..] {
                [keyword, TokenTree::Ident(name), TokenTree::Group(body), ..] if is_ident(keyword, "mod") => {
                    let mut inside = place.clone();
                    inside.modules.push(name.to_string());
                    self.group(body, &inside)?;
                    3
                }
                [keyword, mark, TokenTree::Ident(name), ..]
                    if is_ident(keyword, "macro_rules") && is_punct(mark, '!') =>
                {
                    self.macro_rules(name, place);
                    3
                }
                [TokenTree::Ident(first), ..] if first == "crate" || first == "super" => {
                    self.path(&tokens[index..], place)?
                }
                [TokenTree::Group(group), ..] => {
                    self.group(group, place)?;
                    1
                }
                _ => 1,
            }
        }
        Ok(())
    }

    fn macro_rules(&mut self, name: &Ident, place: &Place<'_>) {
        if let Some(module) = place.modules.first() {
            self.macros.insert(name.to_string(), module.clone());
        }
    }

    /// Goes into a group, unless it is a visibility: `pub(in crate::models)` imports nothing.
    fn group(&mut self, group: &Group, place: &Place<'_>) -> Result<()> {
        let tokens = without_tests(group.stream());
        let is_visibility = group.delimiter() == Delimiter::Parenthesis
            && tokens.first().is_some_and(|token| is_ident(token, "in"));
        if is_visibility { Ok(()) } else { self.tokens(&tokens, place) }
    }

    /// Notes a path that begins at the root, and returns how many tokens stand before its first name.
    fn path(&mut self, tokens: &[TokenTree], place: &Place<'_>) -> Result<usize> {
        // Without a separator it is a visibility: `pub(crate)`.
        let Some(mut index) = after_separator(tokens, 1) else { return Ok(1) };
        let depth = place.modules.len();
        let mut ups = if is_ident(&tokens[0], "crate") { depth } else { 1 };
        while tokens.get(index).is_some_and(|token| is_ident(token, "super")) {
            let Some(next) = after_separator(tokens, index + 1) else { break };
            (index, ups) = (next, ups + 1);
        }
        if let Some(module) = place.modules.first()
            && ups == depth
        {
            for name in first_names(&tokens[index..]) {
                self.mention(module, &name, place)?;
            }
        }
        Ok(index)
    }

    fn mention(&mut self, from: &str, name: &TokenTree, place: &Place<'_>) -> Result<()> {
        let (file, line) = (place.file.to_path_buf(), name.span().start().line);
        if is_punct(name, '*') {
            bail!(
                "{}:{line}: everything is imported from the crate's root; name what is needed",
                file.display()
            );
        }
        let import = Import { from: from.into(), to: String::new(), file, line };
        self.mentions.push(Mention { import, name: name.to_string() });
        Ok(())
    }
}

/// The index after `::`.
fn after_separator(tokens: &[TokenTree], index: usize) -> Option<usize> {
    let colons = tokens.get(index..index + 2)?;
    colons.iter().all(|token| is_punct(token, ':')).then_some(index + 2)
}

/// The names directly after a path's beginning: one, or one for each branch of a use tree.
fn first_names(tokens: &[TokenTree]) -> Vec<TokenTree> {
    match tokens.first() {
        Some(TokenTree::Group(group)) => {
            let tokens: Vec<_> = group.stream().into_iter().collect();
            tokens.split(|token| is_punct(token, ',')).filter_map(|branch| branch.first().cloned()).collect()
        }
        first => first.cloned().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::source;
    use super::*;

    fn imports(files: &[(&str, &str)]) -> Vec<(String, String, usize)> {
        let tree = of(&source::of(files)).expect("modules");
        tree.imports.into_iter().map(|import| (import.from, import.to, import.line)).collect()
    }

    fn one(text: &str) -> Vec<(String, usize)> {
        let root = "mod a; mod b; mod c; pub use b::{self, inner::{Thing, Other as Renamed}};";
        let files = [("lib.rs", root), ("a.rs", text), ("b.rs", ""), ("c.rs", "")];
        imports(&files).into_iter().map(|(_, to, line)| (to, line)).collect()
    }

    fn to(module: &str, line: usize) -> (String, usize) {
        (module.into(), line)
    }

    #[test]
    fn paths_are_found_in_items_code_and_macros() {
        assert_eq!(one("\nuse crate::b::X;"), [to("b", 2)]);
        assert_eq!(one("use crate::{\n b::{X, Y},\n c,\n};"), [to("b", 2), to("c", 3)]);
        assert_eq!(one("fn f() -> crate::b::X { super::c::make() }"), [to("b", 1), to("c", 1)]);
        assert_eq!(one("fn f() { assert!(crate::b::holds(&[crate::c::X])); }"), [to("b", 1), to("c", 1)]);
        assert_eq!(one("macro_rules! m { () => { $crate::b::X } }"), [to("b", 1)]);
    }

    #[test]
    fn names_of_the_root_are_followed_to_their_modules() {
        assert_eq!(one("use crate::Thing;\nuse crate::Renamed;"), [to("b", 1), to("b", 2)]);
        assert!(one("use crate::Unknown;").is_empty());
        let exported =
            [("lib.rs", "mod a; mod b;"), ("a.rs", "crate::m!();"), ("b.rs", "macro_rules! m { }")];
        assert_eq!(imports(&exported), [("a".into(), "b".into(), 1)]);
    }

    #[test]
    fn tests_docs_visibilities_and_own_paths_are_no_imports() {
        assert!(one("#[cfg(test)]\nmod tests { use crate::b::X; }").is_empty());
        assert!(one("mod deep { impl X { #[cfg(test)] fn f() { crate::b::f() } } }").is_empty());
        assert!(one("//! See [`crate::b`].\n/// And [`super::c`].\nstruct X;").is_empty());
        assert!(one("pub(in crate::b) struct X; pub(crate) struct Y; pub(super) struct Z;").is_empty());
        assert!(one("use crate::a::X; mod deep { use super::Y; use super::super::a; }").is_empty());
    }

    #[test]
    fn files_for_tests_are_no_imports() {
        let (root, a) = (("lib.rs", "mod a; mod b;"), ("a/mod.rs", "#[cfg(test)] mod tests; mod deep;"));
        let upward = "use crate::b;";
        let with = |file| imports(&[root, a, ("b.rs", ""), (file, upward)]);
        assert!(with("a/tests.rs").is_empty());
        assert!(with("a/tests/more.rs").is_empty());
        assert_eq!(with("a/deep.rs").len(), 1);
    }

    #[test]
    fn super_counts_from_the_module_it_stands_in() {
        assert_eq!(one("mod deep { use super::super::b; }"), [to("b", 1)]);
        let nested = [("lib.rs", "mod a; mod b;"), ("a/mod.rs", "mod deep;"), ("b.rs", "")];
        let with = |text: &'static str| imports(&[&nested[..], &[("a/deep.rs", text)]].concat());
        assert_eq!(with("use super::super::b;"), [("a".into(), "b".into(), 1)]);
        assert!(with("use super::b;").is_empty());
    }

    #[test]
    fn what_cannot_be_followed_is_an_error() {
        let of = |root, a| {
            of(&source::of(&[("lib.rs", root), ("a.rs", a)])).map(|_| ()).map_err(|e| e.to_string())
        };
        assert!(of("mod a;", "use crate::*;").is_err_and(|error| error.contains("a.rs:1")));
        assert!(of("mod a; pub use a::*;", "").is_err_and(|error| error.contains("`a::*`")));
    }
}
