//! Which top-level module imports which: every path that begins with `crate::`, `$crate::` or enough `super::`, in `use` items, in
//! code and in macros alike.

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

/// Follows the modules from `lib.rs`.
pub(super) fn of(sources: &Sources) -> Result<Tree> {
    let root_file = Path::new("lib.rs");
    let root = sources.get(root_file).context("there is no lib.rs")?;
    let mut walk = Walk { sources, modules: BTreeSet::new(), macros: BTreeMap::new(), mentions: Vec::new() };
    walk.tokens(root, &Place { file: root_file, modules: Vec::new(), folder: PathBuf::new() })?;
    let exports = exports(root, &walk.modules)?;
    let mut tree = Tree { modules: walk.modules, imports: Vec::new() };
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
    /// Where the files of its submodules are.
    folder: PathBuf,
}

impl Place<'_> {
    fn inside(&self, module: &Ident) -> Self {
        let mut inside = self.clone();
        inside.modules.push(module.to_string());
        inside.folder.push(module.to_string());
        inside
    }
}

struct Walk<'a> {
    sources: &'a Sources,
    modules: BTreeSet<String>,
    /// Exported macros live at the root, but belong to the module that defines them.
    macros: BTreeMap<String, String>,
    mentions: Vec<Mention>,
}

impl Walk<'_> {
    fn tokens(&mut self, tokens: &[TokenTree], place: &Place<'_>) -> Result<()> {
        let mut index = 0;
        while index < tokens.len() {
            index += match &tokens[index..] {
                [keyword, TokenTree::Ident(name), TokenTree::Group(body), ..] if is_ident(keyword, "mod") => {
                    self.module(name, place);
                    self.group(body, &place.inside(name))?;
                    3
                }
                [keyword, TokenTree::Ident(name), end, ..]
                    if is_ident(keyword, "mod") && is_punct(end, ';') =>
                {
                    self.module(name, place);
                    self.file(name, place)?;
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

    fn module(&mut self, name: &Ident, place: &Place<'_>) {
        if place.modules.is_empty() {
            self.modules.insert(name.to_string());
        }
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

    fn file(&mut self, name: &Ident, place: &Place<'_>) -> Result<()> {
        let inside = place.inside(name);
        let candidates = [inside.folder.with_extension("rs"), inside.folder.join("mod.rs")];
        let Some(file) = candidates.iter().find(|file| self.sources.contains_key(*file)) else {
            let [one, other] = candidates.each_ref().map(|path| path.display());
            bail!("{}: module `{name}` is neither {one} nor {other}", place.file.display());
        };
        self.tokens(&self.sources[file], &Place { file, ..inside })
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
        assert!(of("mod a; mod lost;", "").is_err_and(|error| error.contains("`lost`")));
        assert!(of("mod a; pub use a::*;", "").is_err_and(|error| error.contains("`a::*`")));
    }
}
