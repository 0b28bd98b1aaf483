//! Crafted checkpoints by the million: the generator of `quaver-tests`, with overflow checks on.

use std::path::{Path, PathBuf, absolute};

use anyhow::{Context, Result, ensure};
use clap::Args;

use crate::image;
use crate::shell::Shell;

/// Where findings are written, below the root of the workspace.
const FOLDER: &str = "target/attack";

#[derive(Args)]
pub(crate) struct Arguments {
    /// How long to go on
    #[arg(long, value_name = "N", default_value_t = 1.0)]
    minutes: f64,
    /// Seed of the files and of the rows; the same seed makes the same files
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Load and step this file instead, with the rows with which it was found and with others
    #[arg(long, value_name = "FILE", conflicts_with_all = ["minutes", "seed"])]
    replay: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let Arguments { minutes, seed, replay } = arguments;
    ensure!((0.0..=1e6).contains(minutes), "--minutes must be from 0 to a million");
    let attack = program("attack")?;
    let attack = match replay {
        Some(file) => attack.argument("replay").argument(path(file)?),
        None => attack
            .argument(((minutes * 60.0).ceil() as u64).to_string())
            .argument(seed.to_string())
            .argument(FOLDER),
    };
    ensure!(attack.stream()?.success(), "findings: see above");
    Ok(())
}

/// A program of `quaver-tests`, built so that what wraps around in a release build is an error.
pub(crate) fn program(name: &str) -> Result<Shell> {
    let build = Shell::cargo("build --quiet --release -p quaver-tests --bin")
        .argument(name)
        .variable("CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS", "true")
        .variable("CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS", "true");
    Ok(Shell::new(image::path_of(&build)?.display().to_string()))
}

/// The path as it is from the root of the workspace, where commands run.
fn path(file: &Path) -> Result<String> {
    ensure!(file.exists(), "there is no file {}", file.display());
    Ok(absolute(file).with_context(|| format!("cannot find {}", file.display()))?.display().to_string())
}
