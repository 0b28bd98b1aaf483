//! Python packages that tests need, in environments of their own.

use std::fs;

use anyhow::{Context, Result};

use super::scratch;
use crate::shell::Shell;

/// An interpreter with these packages, installed once per list of them; or in one line why there is none.
pub(super) fn interpreter(name: &str, packages: &[&str]) -> Result<Result<String, String>> {
    let folder = scratch(name)?;
    let (python, installed) = (folder.join("bin/python").display().to_string(), folder.join("installed.txt"));
    if fs::read_to_string(&installed).is_ok_and(|list| list == packages.join(" ")) {
        return Ok(Ok(python));
    }
    let create = Shell::new("python3").words("-m venv --clear").argument(folder.display().to_string());
    if !create.capture()?.status.success() {
        return Ok(Err(format!(
            "no environments of Python (apt-get install python3-venv); to repeat: {create}"
        )));
    }
    let install = Shell::new(&python).words("-m pip install --quiet --disable-pip-version-check");
    let install = packages.iter().fold(install, |install, package| install.argument(*package));
    if !install.capture()?.status.success() {
        return Ok(Err(format!("{} cannot be installed; to repeat: {install}", packages.join(", "))));
    }
    fs::write(&installed, packages.join(" "))
        .with_context(|| format!("cannot write {}", installed.display()))?;
    Ok(Ok(python))
}
