//! Firmware in plain C on an emulated Cortex-M4F.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::host::{compare, golden_files};
use super::library::{FOLDER, M4F};
use super::scratch;
use crate::machine::MACHINES;
use crate::shell::{Shell, root};

/// The board of the example.
const BOARD: &str = "examples/cortex_m4f";
const OPTIONS: &str = "-std=c99 -Wall -Wextra -Wpedantic -Wshadow -Werror -O2 -ffreestanding -ffunction-sections \
                       -nostartfiles --specs=nano.specs -Wl,--gc-sections";

/// Builds a firmware of these sources and returns its path.
fn firmware(name: &str, sources: &[String], folder: &Path) -> Result<PathBuf> {
    let path = scratch("programs")?.join(name);
    let crate_folder = root().join(FOLDER);
    let script = crate_folder.join(BOARD).join("mps2-an386.ld");
    let command = ["include", "tests/c", "examples/models", BOARD].iter().fold(
        Shell::new("arm-none-eabi-gcc").words(M4F.flags).words(OPTIONS).in_folder(folder),
        |command, include| command.argument(format!("-I{}", crate_folder.join(include).display())),
    );
    let start =
        ["startup.c", "platform.c"].map(|file| crate_folder.join(BOARD).join(file).display().to_string());
    let command = start.iter().chain(sources).fold(command, |command, source| command.argument(source));
    command
        .argument(M4F.package(&scratch(M4F.name)?)?.display().to_string())
        .argument(format!("-T{}", script.display()))
        .argument("-lm")
        .argument("-o")
        .argument(path.display().to_string())
        .run()?;
    Ok(path)
}

/// The golden streams through C on the core, and the example of the board.
pub(super) fn golden() -> Result<String> {
    let machine = MACHINES.iter().find(|machine| machine.core == "M4F").context("there is no M4F")?;
    let (crate_folder, cases) = (root().join(FOLDER), golden_files()?);
    let source = |file: &str| crate_folder.join(file).display().to_string();
    let example = firmware("grip_force.elf", &[source("examples/cortex_m4f/main.c")], &cases)?;
    let shown = machine.run(&example)?;
    anyhow::ensure!(shown.matches(" +- ").count() == 3, "the example shows no prediction: {shown}");
    let sources = [
        source("tests/c/golden_firmware.c"),
        source("tests/c/replay.c"),
        cases.join("cases.S").display().to_string(),
    ];
    compare(&machine.run(&firmware("golden.elf", &sources, &cases)?)?)
}
