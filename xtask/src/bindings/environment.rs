//! Python packages that tests need, in environments of their own below the target folder.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

use super::scratch;
use crate::shell::Shell;

/// A virtual environment, kept for the next time.
pub(crate) struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// An environment with these packages in fixed versions, installed once per list of them; or in one line
    /// why there is none.
    pub(crate) fn ready(name: &str, packages: &[&str]) -> Result<Result<Self, String>> {
        let environment = Environment { folder: scratch(name)?.join("environment") };
        let (installed, wanted) = (environment.folder.join("installed.txt"), packages.join("\n"));
        if fs::read_to_string(&installed).is_ok_and(|found| found == wanted) {
            return Ok(Ok(environment));
        }
        let folder = environment.folder.display().to_string();
        let make = Shell::new("python3").words("-m venv --clear").argument(folder);
        if !make.capture()?.status.success() {
            return Ok(Err(format!(
                "no environments of Python (on Debian: apt-get install python3-venv); to repeat: {make}"
            )));
        }
        let install = environment.python("-m pip install --quiet --disable-pip-version-check");
        let install = packages.iter().fold(install, |install, package| install.argument(*package));
        if !install.capture()?.status.success() {
            return Ok(Err(format!("{} cannot be installed; to repeat: {install}", packages.join(", "))));
        }
        // Last of all: an environment that was interrupted is made again.
        fs::write(&installed, wanted).with_context(|| format!("cannot write {}", installed.display()))?;
        Ok(Ok(environment))
    }

    /// The path of a program of it.
    pub(crate) fn program(&self, name: &str) -> String {
        let scripts = if cfg!(windows) { "Scripts" } else { "bin" };
        self.folder.join(scripts).join(name).display().to_string()
    }

    pub(super) fn python(&self, arguments: &str) -> Shell {
        Shell::new(self.program("python")).words(arguments)
    }
}
