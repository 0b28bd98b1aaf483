//! The sources of a crate as tokens, without comments and without what is compiled for tests only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Files by their path below `src`.
pub(super) type Sources = BTreeMap<PathBuf, Source>;

/// One file.
#[derive(Debug)]
pub(super) struct Source {
    /// Documentation is in there as string literals, so that links in it are no imports.
    pub(super) tokens: Vec<TokenTree>,
    /// Modules in files of their own that are compiled for tests only.
    pub(super) test_modules: Vec<String>,
}

/// Reads every Rust file below a folder.
pub(super) fn read(folder: &Path) -> Result<Sources> {
    let mut sources = Sources::new();
    for file in crate::files::rust_files(folder)? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let source = Source::parse(&text).with_context(|| format!("in {}", file.display()))?;
        sources.insert(file.strip_prefix(folder).unwrap_or(&file).to_path_buf(), source);
    }
    Ok(sources)
}

#[cfg(test)]
pub(super) fn of(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (path.into(), Source::parse(text).expect("Rust"))).collect()
}

impl Source {
    fn parse(text: &str) -> Result<Self> {
        let stream = TokenStream::from_str(text).map_err(|error| anyhow!("not Rust: {error}"))?;
        let (tokens, tests) = split(stream);
        let test_modules = tests.iter().filter_map(|item| module_in_a_file(item)).collect();
        Ok(Source { tokens, test_modules })
    }
}

/// Leaves out items under `#[cfg(test)]`. Groups are left whole; whoever enters one calls this for its
/// contents.
pub(super) fn without_tests(stream: TokenStream) -> Vec<TokenTree> {
    split(stream).0
}

/// What is always compiled, and the items under `#[cfg(test)]`.
fn split(stream: TokenStream) -> (Vec<TokenTree>, Vec<Vec<TokenTree>>) {
    let (mut kept, mut tests): (Vec<TokenTree>, Vec<_>) = Default::default();
    let mut tokens = stream.into_iter();
    while let Some(token) = tokens.next() {
        let is_test = matches!(&token, TokenTree::Group(group)
            if group.delimiter() == Delimiter::Bracket && is_test_attribute(group.stream()));
        if is_test && kept.last().is_some_and(|last| is_punct(last, '#')) {
            kept.pop();
            tests.push(item(&mut tokens));
        } else {
            kept.push(token);
        }
    }
    (kept, tests)
}

/// The tokens up to the end of an item.
fn item(tokens: &mut impl Iterator<Item = TokenTree>) -> Vec<TokenTree> {
    let mut item = Vec::new();
    for token in tokens {
        let ends = ends_item(&token);
        item.push(token);
        if ends {
            break;
        }
    }
    item
}

/// The name in `mod name;`.
fn module_in_a_file(item: &[TokenTree]) -> Option<String> {
    match item {
        [.., keyword, name, end] if is_ident(keyword, "mod") && is_punct(end, ';') => Some(name.to_string()),
        _ => None,
    }
}

/// Whether it is `cfg(test)` or `cfg(all(test, …))`.
fn is_test_attribute(stream: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    match &tokens[..] {
        [name, TokenTree::Group(condition)] if is_ident(name, "cfg") => requires_test(condition.stream()),
        _ => false,
    }
}

fn requires_test(condition: TokenStream) -> bool {
    let tokens: Vec<TokenTree> = condition.into_iter().collect();
    match &tokens[..] {
        [only] => is_ident(only, "test"),
        [name, TokenTree::Group(parts)] if is_ident(name, "all") => {
            parts.stream().into_iter().any(|part| is_ident(&part, "test"))
        }
        _ => false,
    }
}

fn ends_item(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace) || is_punct(token, ';')
}

pub(super) fn is_ident(token: &TokenTree, name: &str) -> bool {
    matches!(token, TokenTree::Ident(ident) if ident == name)
}

pub(super) fn is_punct(token: &TokenTree, character: char) -> bool {
    matches!(token, TokenTree::Punct(punct) if punct.as_char() == character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(text: &str) -> String {
        Source::parse(text).expect("Rust").tokens.into_iter().collect::<TokenStream>().to_string()
    }

    #[test]
    fn items_for_tests_are_left_out() {
        assert_eq!(kept("use a; #[cfg(test)] mod tests { use b; } use c;"), "use a ; use c ;");
        assert_eq!(kept("#[cfg(all(test, feature = \"std\"))] mod tests; use c;"), "use c ;");
        assert_eq!(kept("#[cfg(test)] #[allow(dead_code)] use b; use c;"), "use c ;");
    }

    #[test]
    fn files_for_tests_are_named() {
        let source =
            Source::parse("mod a; #[cfg(test)] mod tests; #[cfg(test)] mod inline { }").expect("Rust");
        assert_eq!(source.test_modules, ["tests"]);
    }

    #[test]
    fn other_conditions_are_kept() {
        assert!(kept("#[cfg(not(test))] use b;").contains('b'));
        assert!(kept("#[cfg(any(test, feature = \"std\"))] use b;").contains('b'));
    }
}
