//! The sources of a crate as tokens, without comments and without what is compiled for tests only.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// Files by their path below `src`.
pub(super) type Sources = BTreeMap<PathBuf, Vec<TokenTree>>;

/// Reads every Rust file below a folder.
pub(super) fn read(folder: &Path) -> Result<Sources> {
    let mut sources = Sources::new();
    for file in crate::files::rust_files(folder)? {
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let tokens = tokens(&text).with_context(|| format!("in {}", file.display()))?;
        sources.insert(file.strip_prefix(folder).unwrap_or(&file).to_path_buf(), tokens);
    }
    Ok(sources)
}

#[cfg(test)]
pub(super) fn of(files: &[(&str, &str)]) -> Sources {
    files.iter().map(|(path, text)| (path.into(), tokens(text).expect("Rust"))).collect()
}

/// The tokens of a file. Documentation becomes string literals, so that links in it are no imports.
fn tokens(text: &str) -> Result<Vec<TokenTree>> {
    let stream = TokenStream::from_str(text).map_err(|error| anyhow!("not Rust: {error}"))?;
    Ok(without_tests(stream))
}

/// Leaves out items under `#[cfg(test)]`. Groups are left whole; whoever enters one calls this again.
pub(super) fn without_tests(stream: TokenStream) -> Vec<TokenTree> {
    let mut kept: Vec<TokenTree> = Vec::new();
    let mut tokens = stream.into_iter();
    while let Some(token) = tokens.next() {
        let is_test = matches!(&token, TokenTree::Group(group)
            if group.delimiter() == Delimiter::Bracket && is_test_attribute(group.stream()));
        if is_test && kept.last().is_some_and(|last| is_punct(last, '#')) {
            kept.pop();
            tokens.by_ref().find(ends_item);
        } else {
            kept.push(token);
        }
    }
    kept
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
        tokens(text).expect("Rust").into_iter().collect::<TokenStream>().to_string()
    }

    #[test]
    fn items_for_tests_are_left_out() {
        assert_eq!(kept("use a; #[cfg(test)] mod tests { use b; } use c;"), "use a ; use c ;");
        assert_eq!(kept("#[cfg(all(test, feature = \"std\"))] mod tests; use c;"), "use c ;");
        assert_eq!(kept("#[cfg(test)] #[allow(dead_code)] use b; use c;"), "use c ;");
    }

    #[test]
    fn other_conditions_are_kept() {
        assert!(kept("#[cfg(not(test))] use b;").contains('b'));
        assert!(kept("#[cfg(any(test, feature = \"std\"))] use b;").contains('b'));
    }
}
