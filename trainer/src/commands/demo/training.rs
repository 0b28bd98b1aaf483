//! The run of a demo.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

use crate::config::Config;
use crate::data::Dataset;
use crate::fit::{Progress, RunFolder, RunSummary, TrainOptions};
use crate::runs;

/// Trains with the config in the folder `out`, in place of the run of an earlier demo there.
pub(super) fn train_anew(
    out: &Path,
    progress: &mut dyn Progress,
) -> Result<(RunFolder, Dataset, RunSummary)> {
    let folder = RunFolder::new(&out.join("run"));
    if folder.last_state().exists() {
        fs::remove_dir_all(folder.path()).context("cannot remove the run of an earlier demo")?;
    }
    let config = Config::load(&out.join("config.toml"), &[])?;
    let data = config.load_data()?;
    let summary = runs::train(&config, &data, folder.path(), TrainOptions::default(), progress)?;
    Ok((folder, data, summary))
}
