//! An emulated board behind the monitor: what a browser shows is what this machine predicts, bit for bit.

use anyhow::{Context, Result};

use super::build_command;
use super::execute::Emulator;
use super::images::BOARDS;
use crate::image;
use crate::shell::Shell;

/// The stage of `cargo xtask test`. Without QEMU it is skipped, with a line; without Chromium, so is the part
/// in a browser.
pub(crate) fn check() -> Result<String> {
    let images = BOARDS.iter().flat_map(|board| board.images.iter().map(move |image| (board, image)));
    let mut found = images.filter_map(|(board, image)| match &image.emulator {
        Some(emulator @ Emulator::QemuSerial { .. }) if image.feature.is_none() => {
            Some((board, image, emulator))
        }
        _ => None,
    });
    let (board, image, emulator) = found.next().context("no board sends frames through a port of QEMU")?;
    if let Some(missing) = emulator.missing()? {
        return Ok(format!("skipped, {missing}"));
    }
    let path = image::path_of(&build_command(board, image)?)?;
    Shell::cargo("test --quiet --release -p quaver-monitor --test emulated")
        .variable("QUAVER_BOARD_IMAGE", path.display().to_string())
        .run()?;
    Ok(format!("{} {}", board.folder, image.name))
}
