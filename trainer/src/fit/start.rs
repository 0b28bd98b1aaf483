//! The start of a run: a new one, one from the state of another run, or a resumed one.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::architecture::Architecture;
use super::folder::RunFolder;
use super::metrics::MetricFiles;
use super::progress::Progress;
use super::run::{Run, RunSummary};
use super::state::RunState;
use crate::config::Config;
use crate::data::{Dataset, Scaling};
use crate::nn::Parameters;

/// Trains an architecture on `data` and keeps the run in the folder `out`.
///
/// With `resume`, the run in that folder continues after its last completed epoch, and ends with the same
/// bits as a run that was never interrupted. A run that was stopped before it saved its first state starts
/// again.
///
/// # Errors
/// When the folder contains another run, or none to resume; when a file cannot be written; or when the loss
/// is no longer finite, in which case the state before that epoch stays in the folder.
pub fn train_as<A: Architecture>(
    config: &Config,
    data: &Dataset,
    out: &Path,
    resume: bool,
    progress: &mut dyn Progress,
) -> Result<RunSummary> {
    let folder = RunFolder::new(out);
    let metrics = MetricFiles::new(out, config.latent.is_some());
    let fresh = fresh_state::<A>(config, data)?;
    if resume {
        folder.check_config(config)?;
    }
    let state = if resume && folder.last_state().exists() {
        reopen(config, &folder, &metrics, &fresh)?
    } else {
        begin(config, &folder, &metrics, fresh)?
    };
    Run { config, data, folder, metrics, state }.run(progress)
}

/// The state before the first epoch.
fn fresh_state<A: Architecture>(config: &Config, data: &Dataset) -> Result<RunState<A>> {
    let spec = A::from_config(config, data)?;
    let (parameters, scaling) = match &config.init.from {
        Some(run) => inherit(&spec, config, data, run).context("`init.from`")?,
        None => {
            let scaling = spec.scaling(data);
            (spec.init_parameters(config, data, &scaling), scaling)
        }
    };
    let names = [data.input_names.clone(), data.target_names.clone()];
    Ok(RunState::first(spec, parameters, &config.training, scaling, names))
}

/// The parameters of another run, and the scaling they were trained with.
fn inherit<A: Architecture>(
    spec: &A,
    config: &Config,
    data: &Dataset,
    run: &Path,
) -> Result<(Parameters, Scaling)> {
    let source = RunState::<A>::load(&RunFolder::new(run).best_state())?;
    let shown = run.display();
    ensure!(
        source.input_names == data.input_names && source.target_names == data.target_names,
        "the run in `{shown}` has the inputs {} and the targets {}, but the data have {} and {}",
        source.input_names.join(", "),
        source.target_names.join(", "),
        data.input_names.join(", "),
        data.target_names.join(", ")
    );
    let method = spec.init_parameters(config, data, &source.scaling).method;
    ensure!(
        spec.fits(&source.parameters) && source.parameters.method == method,
        "the run in `{shown}` trained another architecture: use the `[model]`, `[weights]` and learned noise of \
         its config.toml"
    );
    Ok((source.parameters, source.scaling))
}

/// Creates a new run. The state is written last: where it exists, all other files do.
fn begin<A: Architecture>(
    config: &Config,
    folder: &RunFolder,
    metrics: &MetricFiles,
    fresh: RunState<A>,
) -> Result<RunState<A>> {
    folder.create()?;
    folder.write_config(config)?;
    metrics.create()?;
    fresh.save(&folder.last_state())?;
    Ok(fresh)
}

/// Opens a run to resume it.
fn reopen<A: Architecture>(
    config: &Config,
    folder: &RunFolder,
    metrics: &MetricFiles,
    fresh: &RunState<A>,
) -> Result<RunState<A>> {
    let state = RunState::<A>::load(&folder.last_state())?;
    let mut scaling = fresh.scaling.clone();
    if state.scaling.density.is_none() {
        // A run of an earlier version.
        scaling.density = None;
    }
    ensure!(
        state.spec == fresh.spec
            && state.scaling == scaling
            && state.input_names == fresh.input_names
            && state.target_names == fresh.target_names,
        "the data differ from those that the run in `{}` started with: restore them, or start another run",
        folder.path().display()
    );
    metrics.truncate(state.epoch)?;
    folder.write_config(config)?;
    Ok(state)
}
