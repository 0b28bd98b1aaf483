//! Licences and duplicate versions of dependencies, by `deny.toml` and without the network.
//!
//! The file is cargo-deny's; what is read of it is `licenses.allow`, `licenses.exceptions` and `bans.skip`.

mod config;
mod dependency;
mod duplicates;
mod licences;

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::bindings::{library, python};
use crate::machine::DEFAULT_TARGET;
use crate::shell::{Shell, root};
use crate::{boards, image};
use config::Config;
use dependency::Dependency;

const FILE: &str = "deny.toml";

/// Everything that the runtime brings into a program by default. A firmware engineer reviews each of them.
const RUNTIME: [&str; 6] = ["byteorder", "hash32", "heapless", "libm", "rand_core", "stable_deref_trait"];

/// What the feature `signed` adds to that on a board.
const SIGNED: [&str; 11] = [
    "block-buffer",
    "cfg-if",
    "crypto-common",
    "curve25519-dalek",
    "digest",
    "hybrid-array",
    "rustc_version",
    "semver",
    "sha2",
    "subtle",
    "typenum",
];

/// Downloads what is not on this machine yet: the trees below are read without the network.
fn fetch_all() -> Result<()> {
    let boards = boards::folders().map(|(folder, _)| folder);
    for folder in
        [".", library::FOLDER, python::FOLDER, image::FOLDER].map(PathBuf::from).into_iter().chain(boards)
    {
        Shell::cargo("fetch --quiet --locked").in_folder(folder).run()?;
    }
    Ok(())
}

/// Checks what is built for this machine, for the firmware, and for boards.
pub(crate) fn check() -> Result<String> {
    let config = read_config()?;
    fetch_all()?;
    let tree = Shell::cargo("tree --offline --locked --prefix none --format").argument(dependency::FORMAT);
    let runtime = dependency::parse(&tree.clone().words("-p quaver --edges normal,build").run()?)?;
    let names = names_of(&runtime);
    ensure!(names == RUNTIME, "the runtime depends on {names:?}, and is to depend on {RUNTIME:?} alone");
    let signed = tree.clone().words("-p quaver --features signed --edges normal,build --target");
    let signed = dependency::parse(&signed.argument(DEFAULT_TARGET).run()?)?;
    let mut added = names_of(&signed);
    added.retain(|name| !RUNTIME.contains(name));
    ensure!(added == SIGNED, "the feature signed brings {added:?}, and is to bring {SIGNED:?} alone");
    let library = tree.clone().words("--edges normal,build").in_folder(library::FOLDER);
    let library = dependency::parse(&library.run()?)?;
    let mut linked = names_of(&library);
    linked.retain(|name| *name != "quaver-c");
    ensure!(
        linked == RUNTIME,
        "the library for C is made of {linked:?}, and is to be made of {RUNTIME:?} alone"
    );
    let package = tree.clone().words("--edges normal,build").in_folder(python::FOLDER);
    let package = dependency::parse(&package.run()?)?;
    let host = dependency::parse(&tree.clone().words("--workspace --edges normal,build,dev").run()?)?;
    let firmware =
        tree.clone().words("--edges normal,build --target").argument(DEFAULT_TARGET).in_folder(image::FOLDER);
    let firmware = dependency::parse(&firmware.run()?)?;
    let mut problems =
        [problems(&config, &host), problems(&config, &firmware), problems(&config, &package)].concat();
    for (folder, target) in boards::folders() {
        let tree = tree.clone().words("--edges normal,build --target").argument(target).in_folder(folder);
        // Which versions of their crates HALs need is not ours to choose.
        problems.extend(licences::problems(&config, &dependency::parse(&tree.run()?)?));
    }
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    let counts = [&runtime, &host, &firmware].map(Vec::len);
    Ok(format!(
        "{} dependencies of the runtime, {} of the workspace, {} of the firmware",
        names.len(),
        counts[1],
        counts[2]
    ))
}

/// Checks the licences of a crate with a lockfile of its own, of what is built for this machine. Which
/// versions of their crates its libraries need is not ours to choose.
pub(crate) fn check_licences(folder: &str) -> Result<()> {
    let config = read_config()?;
    let tree = Shell::cargo("tree --locked --edges normal,build --prefix none --format");
    let tree = tree.argument(dependency::FORMAT).in_folder(folder);
    let problems = licences::problems(&config, &dependency::parse(&tree.run()?)?);
    ensure!(problems.is_empty(), "{}", problems.join("\n"));
    Ok(())
}

fn read_config() -> Result<Config> {
    let text = fs::read_to_string(root().join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    Config::parse(&text).with_context(|| format!("cannot read {FILE}"))
}

/// The dependencies of the runtime, by name.
fn names_of(dependencies: &[Dependency]) -> Vec<&str> {
    let names = dependencies.iter().map(|dependency| dependency.name.as_str());
    names.filter(|name| *name != "quaver").collect()
}

fn problems(config: &Config, dependencies: &[Dependency]) -> Vec<String> {
    let mut problems = licences::problems(config, dependencies);
    problems.extend(duplicates::problems(config, dependencies));
    problems
}
