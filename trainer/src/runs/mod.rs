//! Runs of either kind: a predictor, or a latent model. [`train`] trains what the config asks for, and [`TrainedState`] is what a run has
//! learned.

mod trained_state;

use std::path::Path;

use anyhow::Result;
use quaver::checkpoint::ModelSpec;

use crate::config::Config;
use crate::data::Dataset;
use crate::fit::progress::Progress;
use crate::fit::{RunSummary, train_as};
use crate::latent::LatentNets;

pub use trained_state::TrainedState;

/// Trains a network on `data` as `config` says, and keeps the run in the folder `out`.
///
/// With `resume`, the run in that folder goes on after its last finished epoch, and ends with the same bits as a run
/// that was never interrupted. A run that was stopped before it had written its first state begins again.
///
/// # Errors
/// When the folder holds another run or none to continue, when a file cannot be written, or when the loss is no longer
/// a number; in that case the state before that epoch stays in the folder.
pub fn train(
    config: &Config,
    data: &Dataset,
    out: &Path,
    resume: bool,
    progress: &mut dyn Progress,
) -> Result<RunSummary> {
    if config.latent.is_some() {
        train_as::<LatentNets>(config, data, out, resume, progress)
    } else {
        train_as::<ModelSpec>(config, data, out, resume, progress)
    }
}
