//! Licences and duplicate versions of dependencies, by `deny.toml` and without the network.
//!
//! The file is cargo-deny's; what is read of it is `licenses.allow`, `licenses.exceptions` and `bans.skip`.

mod config;
mod dependency;
mod duplicates;
mod licences;

use std::fs;

use anyhow::{Context, Result, ensure};

use crate::image;
use crate::machine::DEFAULT_TARGET;
use crate::shell::{Shell, root};
use config::Config;
use dependency::Dependency;

const FILE: &str = "deny.toml";

/// Checks what is built for this machine, and for the firmware.
pub(crate) fn check() -> Result<String> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let config = Config::parse(&text).with_context(|| format!("cannot read {FILE}"))?;
    let tree = Shell::cargo("tree --offline --locked --prefix none --format").argument(dependency::FORMAT);
    let host = dependency::parse(&tree.clone().words("--workspace --edges normal,build,dev").run()?)?;
    let firmware =
        tree.words("--edges normal,build --target").argument(DEFAULT_TARGET).in_folder(image::FOLDER);
    let firmware = dependency::parse(&firmware.run()?)?;
    let problems = [problems(&config, &host), problems(&config, &firmware)].concat();
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(format!("{} dependencies, {} in the firmware", host.len(), firmware.len()))
}

fn problems(config: &Config, dependencies: &[Dependency]) -> Vec<String> {
    let mut problems = licences::problems(config, dependencies);
    problems.extend(duplicates::problems(config, dependencies));
    problems
}
