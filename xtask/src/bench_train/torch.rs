//! PyTorch, in an environment of its own.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::shell::{Shell, root};

/// A Python interpreter that has PyTorch.
pub(super) struct Torch {
    python: String,
    /// Removed when the measurements are over.
    folder: Option<PathBuf>,
}

impl Torch {
    /// Makes a virtual environment in a temporary folder. PyTorch is a download of several gigabytes.
    pub(super) fn install() -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("quaver-bench-train-{}", std::process::id()));
        eprintln!("installing PyTorch in {}, which takes minutes", folder.display());
        let python = folder.join("bin/python").display().to_string();
        let torch = Torch { python, folder: Some(folder.clone()) };
        Shell::new("python3").words("-m venv").argument(folder.display().to_string()).run()?;
        Shell::new(&torch.python).words("-m pip install --quiet torch numpy").run()?;
        Ok(torch)
    }

    /// Takes an interpreter that is there.
    pub(super) fn existing(python: String) -> Self {
        Torch { python, folder: None }
    }

    /// Times the steps of one network.
    pub(super) fn run(&self, arguments: &str) -> Result<Value> {
        let script = root().join("xtask/src/bench_train.py").display().to_string();
        let run = Shell::new(&self.python).argument(script).words(arguments);
        serde_json::from_str(&run.run()?).with_context(|| format!("not JSON: {run}"))
    }
}

impl Drop for Torch {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder
            && let Err(error) = std::fs::remove_dir_all(folder)
        {
            eprintln!("cannot remove {}: {error}", folder.display());
        }
    }
}
