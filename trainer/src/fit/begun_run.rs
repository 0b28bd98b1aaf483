//! A run that begins with a network that is trained already: the pruned one of another run, or an imported
//! one.

use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::architecture::Architecture;
use super::folder::RunFolder;
use super::metrics::MetricFiles;
use super::progress::Progress;
use super::run::{evaluated_state, valid_batches};
use super::state::{BestEpoch, RunState};
use crate::config::Config;
use crate::data::Dataset;
use crate::files;
use crate::nn::PruningOrder;

/// The state of a run that begins with a share of the weights of a trained one, with its scaling.
pub fn prune_state<A: Architecture>(
    trained: &RunState<A>,
    order: &PruningOrder,
    keep: f64,
    config: &Config,
) -> RunState<A> {
    let mut parameters = trained.parameters.clone();
    order.prune(&mut parameters, keep);
    let names = [trained.input_names.clone(), trained.target_names.clone()];
    let (spec, scaling) = (trained.spec.clone(), trained.scaling.clone());
    let state = RunState::first(spec, parameters, &config.training, scaling, names);
    RunState { data: trained.data.clone(), ..state }
}

/// Fails if the config describes another network than this one.
pub(crate) fn check_network<A: Architecture>(spec: &A, config: &Config, data: &Dataset) -> Result<()> {
    ensure!(
        A::from_config(config, data)? == *spec,
        "the config describes another network than that of the weights: leave `model`, `weights` and `noise` as they are"
    );
    Ok(())
}

/// Creates the folder of a run that is in this state, before its first epoch: with a best state, so that it
/// can be evaluated and exported as it is, and with a last one, from which training goes on. Returns the
/// validation loss.
///
/// # Errors
/// When the folder contains a run or is in use, when the config describes another network or has no
/// validation targets, or when a file cannot be written.
pub fn create_begun_run<A: Architecture>(
    mut state: RunState<A>,
    (config, data): (&Config, &Dataset),
    out: &Path,
    progress: &mut dyn Progress,
) -> Result<BestEpoch> {
    check_network(&state.spec, config, data)?;
    let folder = RunFolder::new(out);
    folder.check_empty()?;
    let batches = || valid_batches::<A>(data, &state.scaling, &config.training);
    let mut parameters = state.parameters.clone();
    let validation = state.spec.validate(config, &mut parameters, &batches);
    let validation =
        validation.context("data.valid: every target is missing, so validation is impossible")?;
    ensure!(
        validation.nll.is_finite(),
        "the validation loss is {}: look for extreme values in the data or the weights",
        validation.nll
    );
    let best = BestEpoch { epoch: 0, valid_nll: validation.nll };
    state.best = Some(best);
    folder.create()?;
    let _lock = folder.lock()?.inspect_err(|notice| progress.notice(notice)).ok();
    files::remove_temporary(folder.path());
    folder.write_config(config)?;
    MetricFiles::new(out, config.latent.is_some()).create()?;
    evaluated_state(&state, config, data).save(&folder.best_state())?;
    state.save(&folder.last_state())?;
    Ok(best)
}
