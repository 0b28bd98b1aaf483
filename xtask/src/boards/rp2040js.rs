//! rp2040js, an emulator of the RP2040 in JavaScript, at the version in `xtask/rp2040js/package-lock.json`.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;

use super::execute::BYTES;
use crate::shell::{Shell, root};

const FOLDER: &str = "xtask/rp2040js";
/// Four seconds of the board's time take some ten, on an idle machine.
const LIMIT: Duration = Duration::from_secs(600);

/// Installs it once; in one line, what is missing if that cannot be done.
pub(super) fn missing() -> Result<Option<String>> {
    for program in ["node", "npm"] {
        let starts = Shell::new(program).argument("--version").capture();
        if !starts.is_ok_and(|captured| captured.status.success()) {
            return Ok(Some(format!("{program} missing; install Node.js 18 or later, with npm")));
        }
    }
    if root().join(FOLDER).join("node_modules/rp2040js/package.json").exists() {
        return Ok(None);
    }
    let install = Shell::new("npm").words("ci --no-audit --no-fund").in_folder(FOLDER);
    let captured = install.capture()?;
    Ok((!captured.status.success()).then(|| format!("rp2040js missing; type: {install}")))
}

pub(super) fn run(image: &Path, sent: &Path) -> Result<()> {
    Shell::new("node")
        .argument("run.mjs")
        .argument(image.display().to_string())
        .argument(sent.display().to_string())
        .argument(BYTES.to_string())
        .in_folder(FOLDER)
        .limit(LIMIT)
        .run()?;
    Ok(())
}
