//! `cargo quaver` and `cargo xtask test` share one build of Burn.
//!
//! A dependency of tests or chores that turns on a feature in Burn's tree makes cargo compile Burn a second
//! time, for minutes, without a message. So the features that both builds choose are compared.

use std::collections::BTreeSet;

use anyhow::{Result, ensure};

use crate::shell::Shell;

/// Compares the features of everything that the trainer is built from.
pub(crate) fn check() -> Result<String> {
    let tree = Shell::cargo("tree --offline --locked --prefix none --format").argument("{p} [{f}]");
    let alone = packages(&tree.clone().words("--package quaver-trainer --edges normal,build").run()?);
    let together = packages(&tree.words("--workspace --edges normal,build,dev").run()?);
    let differing: Vec<String> =
        alone.difference(&together).map(|package| difference(package, &together)).collect();
    ensure!(
        differing.is_empty(),
        "cargo quaver and the tests would each build Burn, because features differ; who turns them on: \
         cargo tree --workspace --edges features --invert PACKAGE\n{}",
        differing.join("\n")
    );
    Ok(format!("{} packages", alone.len()))
}

/// Each package with its features, once.
fn packages(tree: &str) -> BTreeSet<String> {
    let lines = tree.lines().map(|line| line.trim_end_matches(" (*)"));
    lines.filter(|line| !line.is_empty()).map(String::from).collect()
}

fn difference(package: &str, together: &BTreeSet<String>) -> String {
    let name = package.split(" [").next().unwrap_or(package);
    let others: Vec<&str> = together
        .iter()
        .filter(|other| other.split(" [").next() == Some(name))
        .map(|other| other.trim_start_matches(name))
        .collect();
    format!("{package} alone,{} in the workspace", others.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_too_many_is_named() {
        let alone = packages("a v1.0.0 [std]\nb v1.0.0 []\nb v1.0.0 [] (*)\n");
        let together = packages("a v1.0.0 [default,std]\nb v1.0.0 []\n\nc v1.0.0 []\n");
        let differing: Vec<String> =
            alone.difference(&together).map(|package| difference(package, &together)).collect();
        assert_eq!(differing, ["a v1.0.0 [std] alone, [default,std] in the workspace"]);
    }
}
