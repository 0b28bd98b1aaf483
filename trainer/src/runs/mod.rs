//! Runs of any kind, a predictor, a latent model, a model of text or a reducer: [`train`] trains what a
//! config describes, and [`TrainedState`] is the result of a run.

mod trained_state;

use std::path::Path;

use anyhow::Result;
use quaver::checkpoint::ModelSpec;

use crate::config::Config;
use crate::data::Dataset;
use crate::fit::progress::Progress;
use crate::fit::{RunSummary, TrainOptions, train_as};
use crate::latent::LatentNets;
use crate::reduce::ReduceModel;
use crate::text::TokenModel;

pub use trained_state::TrainedState;

/// Trains the model of a config on `data` and keeps the run in the folder `out`; [`train_as`] describes
/// resuming.
///
/// # Errors
/// As [`train_as`].
pub fn train(
    config: &Config,
    data: &Dataset,
    out: &Path,
    options: TrainOptions,
    progress: &mut dyn Progress,
) -> Result<RunSummary> {
    if config.data.token_kind().is_some() {
        train_as::<TokenModel>(config, data, out, options, progress)
    } else if config.reduce.is_some() {
        train_as::<ReduceModel>(config, data, out, options, progress)
    } else if config.latent.is_some() {
        train_as::<LatentNets>(config, data, out, options, progress)
    } else {
        train_as::<ModelSpec>(config, data, out, options, progress)
    }
}
