//! The fuzz targets, as `fuzz/Cargo.toml` lists them.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::FOLDER;
use crate::shell::root;

/// A program that takes any bytes.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Target {
    pub(super) name: String,
    #[serde(default)]
    required_features: Vec<String>,
}

impl Target {
    /// Whether it needs the trainer, and with it minutes to build Burn.
    pub(super) fn needs_trainer(&self) -> bool {
        !self.required_features.is_empty()
    }
}

/// All targets, in the order of the file.
fn all() -> Result<Vec<Target>> {
    let file = format!("{FOLDER}/Cargo.toml");
    let text = fs::read_to_string(root().join(&file)).with_context(|| format!("cannot read {file}"))?;
    parse(&text).with_context(|| format!("cannot read {file}"))
}

fn parse(text: &str) -> Result<Vec<Target>> {
    #[derive(Deserialize)]
    struct Contents {
        bin: Vec<Target>,
    }
    Ok(toml::from_str::<Contents>(text)?.bin)
}

/// The targets of these names, or all if there are none.
pub(super) fn selected(names: &[String]) -> Result<Vec<Target>> {
    let all = all()?;
    let known = all.iter().map(|target| target.name.as_str()).collect::<Vec<_>>().join(", ");
    for name in names {
        ensure!(all.iter().any(|target| target.name == *name), "no fuzz target `{name}`; there are {known}");
    }
    Ok(all.into_iter().filter(|target| names.is_empty() || names.contains(&target.name)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_the_runtime_do_without_the_trainer() {
        let all = all().expect("a readable fuzz/Cargo.toml");
        let needs_trainer =
            |name: &str| all.iter().find(|target| target.name == name).map(Target::needs_trainer);
        assert_eq!(needs_trainer("checkpoint"), Some(false));
        assert_eq!(needs_trainer("state"), Some(false));
        assert_eq!(needs_trainer("config"), Some(true));
    }

    #[test]
    fn an_unknown_target_is_refused_with_those_there_are() {
        let error = selected(&["no-such".into()]).expect_err("no such target").to_string();
        assert!(error.contains("no-such") && error.contains("checkpoint"), "{error}");
    }

    /// Every source is a target, and every target of the crate is in this list.
    #[test]
    fn every_source_is_listed() {
        let sources = fs::read_dir(root().join(FOLDER).join("fuzz_targets")).expect("the folder");
        let mut found: Vec<String> = sources
            .map(|entry| entry.expect("an entry").path())
            .filter_map(|path| Some(path.file_stem()?.to_str()?.to_string()))
            .collect();
        let mut listed: Vec<String> = all().expect("targets").into_iter().map(|target| target.name).collect();
        found.sort_unstable();
        listed.sort_unstable();
        assert_eq!(found, listed);
    }
}
