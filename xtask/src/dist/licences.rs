//! The licences of what is in the libraries.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::bindings::library::FOLDER;
use crate::shell::{Shell, root};

/// Copies Quaver's licences, and those of every crate that is linked into the libraries.
pub(super) fn collect(package: &Path) -> Result<()> {
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(root().join(name), package.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    for (name, folder) in linked_crates()? {
        let target = package.join("licences").join(&name);
        fs::create_dir_all(&target)?;
        let mut copied = 0;
        for entry in fs::read_dir(&folder).with_context(|| format!("cannot list {folder}"))? {
            let entry = entry?;
            let file = entry.file_name().to_string_lossy().to_uppercase();
            if ["LICENSE", "LICENCE", "COPYING", "UNLICENSE"].iter().any(|prefix| file.starts_with(prefix)) {
                fs::copy(entry.path(), target.join(entry.file_name()))?;
                copied += 1;
            }
        }
        ensure!(copied > 0, "the crate {name} has no file with its licence in {folder}");
    }
    Ok(())
}

/// Names and folders of the crates that the library is made of, but for Quaver itself.
fn linked_crates() -> Result<Vec<(String, String)>> {
    let tree =
        Shell::cargo("tree --offline --prefix none --edges normal --format {p}").in_folder(FOLDER).run()?;
    let names: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
    let metadata = Shell::cargo("metadata --offline --format-version 1").in_folder(FOLDER).run()?;
    let metadata: Value = serde_json::from_str(&metadata)?;
    let packages = metadata["packages"].as_array().context("cargo names no packages")?;
    let folder = |package: &Value| {
        let (name, manifest) = (package["name"].as_str()?, package["manifest_path"].as_str()?);
        let wanted = names.contains(&name) && !name.starts_with("quaver");
        wanted.then(|| (name.to_string(), manifest.trim_end_matches("/Cargo.toml").to_string()))
    };
    Ok(packages.iter().filter_map(folder).collect())
}
