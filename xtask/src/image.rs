//! Firmware images: building them, and looking into them with the toolchain's own tools.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use serde_json::Value;

use crate::shell::Shell;

/// The folder of the firmware example.
pub(crate) const FOLDER: &str = "firmware-examples/qemu";

/// The command that builds one image.
pub(crate) fn build_command(image: &str, target: &str) -> Shell {
    Shell::cargo("build --quiet --release")
        .in_folder(FOLDER)
        .words(&format!("--bin {image} --target {target}"))
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
    let messages = build.clone().words("--message-format json-render-diagnostics").run()?;
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        message.get("executable")?.as_str().map(PathBuf::from)
    };
    messages
        .lines()
        .filter_map(executable)
        .next_back()
        .ok_or_else(|| anyhow!("no executable came of: {build}"))
}

/// The names of all symbols in an image.
pub(crate) fn symbols(elf: &Path) -> Result<Vec<String>> {
    let listing = tool("llvm-nm", elf)?;
    Ok(listing.lines().filter_map(|line| line.split_whitespace().next_back()).map(String::from).collect())
}

/// Bytes of the one symbol whose name contains `part`.
pub(crate) fn symbol_bytes(elf: &Path, part: &str) -> Result<u64> {
    let listing = Shell::new(tool_path("llvm-nm")?)
        .argument("--print-size")
        .argument(elf.display().to_string())
        .run()
        .context(TOOLS_MISSING)?;
    // Address, size, kind, name.
    let size = |line: &str| {
        let mut words = line.split_whitespace();
        let (size, name) = (words.nth(1)?, words.nth(1)?);
        if name.contains(part) { u64::from_str_radix(size, 16).ok() } else { None }
    };
    listing.lines().find_map(size).ok_or_else(|| anyhow!("{} has no symbol {part}", elf.display()))
}

/// Bytes of flash that an image fills: code, constants and initial values.
pub(crate) fn flash_bytes(elf: &Path) -> Result<u64> {
    let listing = tool("llvm-size", elf)?;
    // A line of headings, then: text data bss …
    let figures = listing.lines().nth(1).unwrap_or_default();
    let mut sizes = figures.split_whitespace().map(str::parse::<u64>);
    match (sizes.next(), sizes.next()) {
        (Some(Ok(text)), Some(Ok(data))) => Ok(text + data),
        _ => Err(anyhow!("llvm-size said something unexpected about {}: {listing}", elf.display())),
    }
}

const TOOLS_MISSING: &str = "the component llvm-tools is needed: rustup component add llvm-tools";

/// Runs one of the LLVM tools that `rust-toolchain.toml` asks for.
fn tool(name: &str, elf: &Path) -> Result<String> {
    Shell::new(tool_path(name)?).argument(elf.display().to_string()).run().context(TOOLS_MISSING)
}

fn tool_path(name: &str) -> Result<String> {
    let libraries = Shell::new("rustc").words("--print target-libdir").run()?;
    let binaries = Path::new(libraries.trim()).parent().context("rustc has no target folder")?.join("bin");
    Ok(binaries.join(name).display().to_string())
}
