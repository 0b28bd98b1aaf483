//! What is read of `deny.toml`.

use std::str::FromStr;

use anyhow::{Context, Error, Result};
use semver::{Version, VersionReq};
use serde::Deserialize;
use spdx::Licensee;

#[derive(Debug)]
pub(super) struct Config {
    pub(super) allow: Vec<Licensee>,
    pub(super) exceptions: Vec<(Spec, Vec<Licensee>)>,
    pub(super) skip: Vec<Spec>,
}

/// A crate in some versions: `name`, `name:requirement` or `name@version`.
#[derive(Debug)]
pub(super) struct Spec {
    name: String,
    versions: VersionReq,
}

#[derive(Deserialize)]
struct File {
    licenses: Licenses,
    bans: Bans,
}

#[derive(Deserialize)]
struct Licenses {
    allow: Vec<String>,
    #[serde(default)]
    exceptions: Vec<Exception>,
}

#[derive(Deserialize)]
struct Exception {
    #[serde(rename = "crate")]
    spec: String,
    allow: Vec<String>,
}

#[derive(Deserialize)]
struct Bans {
    #[serde(default)]
    skip: Vec<Skip>,
}

#[derive(Deserialize)]
struct Skip {
    #[serde(rename = "crate")]
    spec: String,
}

impl Config {
    pub(super) fn parse(text: &str) -> Result<Self> {
        let File { licenses, bans } = toml::from_str(text)?;
        let exception = |exception: Exception| Ok((exception.spec.parse()?, licensees(&exception.allow)?));
        Ok(Config {
            allow: licensees(&licenses.allow)?,
            exceptions: licenses.exceptions.into_iter().map(exception).collect::<Result<_>>()?,
            skip: bans.skip.iter().map(|skip| skip.spec.parse()).collect::<Result<_>>()?,
        })
    }
}

fn licensees(names: &[String]) -> Result<Vec<Licensee>> {
    names
        .iter()
        .map(|name| Licensee::parse(name).with_context(|| format!("`{name}` is no licence")))
        .collect()
}

impl Spec {
    pub(super) fn matches(&self, name: &str, version: &Version) -> bool {
        self.name == name && self.versions.matches(version)
    }
}

impl FromStr for Spec {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, versions) = match (text.split_once(':'), text.split_once('@')) {
            (Some((name, requirement)), _) => (name, requirement.into()),
            (_, Some((name, version))) => (name, format!("={version}")),
            _ => (text, "*".into()),
        };
        let versions = VersionReq::parse(&versions).with_context(|| format!("in `{text}`"))?;
        Ok(Spec { name: name.into(), versions })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_are_named_with_and_without_versions() {
        let matches = |spec: &str, version: &str| {
            let spec: Spec = spec.parse().expect("a crate");
            spec.matches("a", &version.parse().expect("a version"))
        };
        assert!(matches("a", "1.2.3") && !matches("b", "1.2.3"));
        assert!(matches("a:0.21", "0.21.3") && !matches("a:0.21", "0.22.0"));
        assert!(matches("a@1.2.3", "1.2.3") && !matches("a@1.2.3", "1.2.4"));
        assert!("a:newest".parse::<Spec>().is_err());
    }

    #[test]
    fn a_licence_that_nobody_knows_is_an_error() {
        let error = Config::parse("[licenses]\nallow = [\"MTI\"]\n[bans]\n").expect_err("a typing error");
        assert!(error.to_string().contains("MTI"));
    }

    #[test]
    fn the_file_of_this_workspace_is_read() {
        let text = std::fs::read_to_string(crate::shell::root().join(super::super::FILE)).expect("a file");
        assert!(!Config::parse(&text).expect("a config").allow.is_empty());
    }
}
