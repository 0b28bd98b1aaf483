//! The dependencies that are built, from `cargo tree`.

use anyhow::{Context, Result};
use semver::Version;

/// What `cargo tree` prints for each: name, version and notes, then the licence.
pub(super) const FORMAT: &str = "{p}|{l}";

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Dependency {
    pub(super) name: String,
    pub(super) version: Version,
    pub(super) licence: String,
}

/// Each dependency once.
pub(super) fn parse(tree: &str) -> Result<Vec<Dependency>> {
    let lines = tree.lines().filter(|line| !line.is_empty());
    let mut dependencies = lines
        .map(|line| one(line).with_context(|| format!("cargo tree printed {line:?}")))
        .collect::<Result<Vec<_>>>()?;
    dependencies.sort();
    dependencies.dedup();
    Ok(dependencies)
}

fn one(line: &str) -> Result<Dependency> {
    let (package, licence) = line.split_once('|').context("no licence")?;
    let mut words = package.split(' ');
    let (name, version) = words.next().zip(words.next()).context("no version")?;
    let version = version.strip_prefix('v').context("no version")?.parse()?;
    // A star means that its own dependencies were printed before.
    Ok(Dependency { name: name.into(), version, licence: licence.trim_end_matches(" (*)").into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_the_tree_are_read_once_each() {
        let tree = "a v1.2.3 (/path)|MIT\nb v0.1.0 (proc-macro)|MIT/Apache-2.0\n\nb v0.1.0 (proc-macro)|MIT/Apache-2.0 (*)\n";
        let dependencies = parse(tree).expect("a tree");
        assert_eq!(dependencies.len(), 2);
        assert_eq!(dependencies[1].name, "b");
        assert_eq!(dependencies[1].version, Version::new(0, 1, 0));
        assert_eq!(dependencies[1].licence, "MIT/Apache-2.0");
        assert!(parse("nonsense").is_err());
    }
}
