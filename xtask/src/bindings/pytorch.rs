//! `quaver import` against PyTorch itself, where there is one. Its wheel takes 540 MB without the libraries
//! that it needs, so that it is not installed for this: the tests of the trainer compare with outputs that
//! are kept next to the script that has made them, and this part does the same with others.

use std::env;

use anyhow::Result;

use super::{SKIPPED, scratch};
use crate::shell::{Shell, root};

/// Names an interpreter that has PyTorch.
const PYTHON: &str = "QUAVER_PYTHON";
/// Networks and rows other than those that are kept.
const SEED: &str = "2";

pub(super) fn import() -> Result<String> {
    let python = env::var(PYTHON).unwrap_or_else(|_| "python3".into());
    let probe = Shell::new(&python)
        .argument("-c")
        .argument("import torch, safetensors, numpy; print(torch.__version__)");
    let version = match probe.capture() {
        Ok(captured) if captured.status.success() => captured.stdout.trim().to_string(),
        _ => {
            return Ok(format!(
                "{SKIPPED}{python} has no PyTorch: python3 -m pip install torch safetensors numpy (gigabytes), or name an \
                 interpreter that has it in {PYTHON}; outputs that are kept are compared by the tests of the trainer"
            ));
        }
    };
    let folder = scratch("pytorch")?.display().to_string();
    let script = root().join("trainer/tests/pytorch/make.py").display().to_string();
    Shell::new(&python).argument(script).argument(&folder).argument(SEED).run()?;
    Shell::cargo(
        "test --quiet --release -p quaver-trainer --test import -- outputs_are_those networks_of_scaled",
    )
    .variable("QUAVER_PYTORCH", folder)
    .run()?;
    Ok(format!("outputs of PyTorch {version}, to 1e-5"))
}
