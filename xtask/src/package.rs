//! The packages as a registry would get them: made, unpacked in a workspace of their own, and compiled there.
//!
//! `cargo package` verifies each package in a build of its own, which would compile Burn once more. Here the
//! lockfile, the profile and the target folder are those of this workspace, so that only the packages
//! themselves are compiled.

mod readme;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use toml::{Table, Value};

use crate::image;
use crate::shell::{Shell, root};

/// What is published, in the order of dependence.
const PACKAGES: [&str; 2] = ["quaver", "quaver-trainer"];

/// Packs both crates, compiles them outside the workspace, and runs the example of the runtime's README.
pub(crate) fn check() -> Result<String> {
    let target = image::target_folder()?;
    let manifest = read_manifest(&root().join("Cargo.toml"))?;
    let pack = Shell::cargo("package --quiet --no-verify --offline --allow-dirty");
    PACKAGES.iter().fold(pack, |pack, package| pack.words("--package").argument(*package)).run()?;
    let folder = target.join("package/check");
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot empty {}", folder.display()))?;
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let unpacked = PACKAGES.map(|package| format!("{package}-{}", version(&manifest)));
    for package in &unpacked {
        unpack(&target.join(format!("package/{package}.crate")), &folder)?;
        check_metadata(&read_manifest(&folder.join(package).join("Cargo.toml"))?)?;
    }
    readme::unpack_example(&folder, &unpacked[0])?;
    write_workspace(&folder, &unpacked, &manifest)?;
    let cargo = |arguments: &str| {
        let target = target.display().to_string();
        Shell::cargo(arguments).in_folder(&folder).variable("CARGO_TARGET_DIR", target).run()
    };
    cargo("check --quiet --release --offline --all-targets --package quaver --package quaver-trainer")?;
    let shown = cargo("run --quiet --release --offline --package readme-example")?;
    ensure!(shown.contains('±'), "the example of runtime/README.md shows no prediction: {shown}");
    Ok(unpacked.join(", "))
}

fn read_manifest(path: &Path) -> Result<Table> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    text.parse().with_context(|| format!("cannot read {}", path.display()))
}

fn version(manifest: &Table) -> &str {
    manifest["workspace"]["package"]["version"].as_str().unwrap_or_default()
}

fn unpack(archive: &Path, folder: &Path) -> Result<()> {
    let [archive, folder] = [archive, folder].map(|path| path.display().to_string());
    Shell::new("tar").argument("-xzf").argument(archive).argument("-C").argument(folder).run()?;
    Ok(())
}

/// What a registry shows of a package.
fn check_metadata(manifest: &Table) -> Result<()> {
    let package = manifest.get("package").and_then(Value::as_table).context("there is no [package]")?;
    let name = package.get("name").and_then(Value::as_str).unwrap_or_default();
    for key in ["description", "license", "repository", "documentation", "readme", "keywords", "categories"] {
        ensure!(package.contains_key(key), "the package {name} has no `{key}`");
    }
    let docs = package.get("metadata").and_then(|metadata| metadata.get("docs"));
    ensure!(docs.is_some(), "the package {name} has no [package.metadata.docs.rs]");
    Ok(())
}

/// A workspace in which the packages find each other, and the artifacts of this one.
fn write_workspace(folder: &Path, packages: &[String], manifest: &Table) -> Result<()> {
    let members: Vec<Value> =
        packages.iter().map(String::as_str).chain([readme::EXAMPLE]).map(Value::from).collect();
    let workspace = Table::from_iter([
        ("resolver".to_string(), manifest["workspace"]["resolver"].clone()),
        ("members".to_string(), members.into()),
    ]);
    let runtime = Table::from_iter([("path".to_string(), packages[0].clone().into())]);
    let patch = Table::from_iter([("quaver".to_string(), runtime.into())]);
    let contents = Table::from_iter([
        ("workspace".to_string(), workspace.into()),
        ("profile".to_string(), manifest["profile"].clone()),
        ("patch".to_string(), Table::from_iter([("crates-io".to_string(), patch.into())]).into()),
    ]);
    fs::write(folder.join("Cargo.toml"), contents.to_string()).context("cannot write a manifest")?;
    fs::copy(root().join("Cargo.lock"), folder.join("Cargo.lock")).context("cannot copy Cargo.lock")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_without_a_readme_is_found() {
        let keys =
            ["name", "description", "license", "repository", "documentation", "keywords", "categories"];
        let values = keys.map(|key| format!("{key} = \"x\"\n")).concat();
        let manifest = |more: &str| {
            let text = format!("[package]\n{values}{more}[package.metadata.docs.rs]\nall-features = true\n");
            text.parse::<Table>().expect("a manifest")
        };
        assert!(check_metadata(&manifest("readme = \"README.md\"\n")).is_ok());
        let error = check_metadata(&manifest("")).expect_err("no readme").to_string();
        assert!(error.contains("the package x has no `readme`"), "{error}");
    }
}
