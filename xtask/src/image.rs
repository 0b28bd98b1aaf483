//! Building firmware images.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::shell::Shell;

/// The folder of the firmware example.
pub(crate) const FOLDER: &str = "firmware-examples/qemu";

/// The command that builds one image.
pub(crate) fn build_command(image: &str, target: &str) -> Shell {
    let build = Shell::cargo("build --quiet --release")
        .in_folder(FOLDER)
        .words(&format!("--bin {image} --target {target}"));
    // Verifying signatures is not built into the others: it would be in the way of their code's size.
    if image.starts_with("signed") { build.words("--features signed") } else { build }
}

/// The command that builds several images at once, on every core.
pub(crate) fn build_command_of_all<'a>(images: impl IntoIterator<Item = &'a str>, target: &str) -> Shell {
    let build =
        Shell::cargo("build --quiet --release").in_folder(FOLDER).words(&format!("--target {target}"));
    images.into_iter().fold(build, |build, image| build.words("--bin").argument(image))
}

/// The features of the runtime that choose what kinds of models an image can run.
pub(crate) const KINDS: [&str; 2] = ["float", "quantized"];

/// The command that builds one image for one kind of models.
pub(crate) fn build_command_with(image: &str, target: &str, kind: &str) -> Shell {
    build_command(image, target).words(&format!("--no-default-features --features {kind}"))
}

/// Builds an image and returns its path.
pub(crate) fn build(image: &str, target: &str) -> Result<PathBuf> {
    path_of(&build_command(image, target))
}

/// Runs a build command and returns the executable it made, wherever cargo put it.
pub(crate) fn path_of(build: &Shell) -> Result<PathBuf> {
    paths_of(build)?.into_values().next_back().ok_or_else(|| anyhow!("no executable came of: {build}"))
}

/// Runs a build command and returns the executables it made, by name.
pub(crate) fn paths_of(build: &Shell) -> Result<BTreeMap<String, PathBuf>> {
    let messages = build.clone().words("--message-format json-render-diagnostics").run()?;
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let path = PathBuf::from(message.get("executable")?.as_str()?);
        Some((message["target"]["name"].as_str()?.to_owned(), path))
    };
    Ok(messages.lines().filter_map(executable).collect())
}

/// The folder into which this workspace is built.
pub(crate) fn target_folder() -> Result<PathBuf> {
    let metadata = Shell::cargo("metadata --no-deps --offline --format-version 1").run()?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    Ok(metadata["target_directory"].as_str().context("cargo names no target folder")?.into())
}
