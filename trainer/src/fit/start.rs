//! The start of a run: a new one, one from the state of another run, or a resumed one.

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::architecture::{Architecture, STREAM_WINDOW};
use super::data_check::check_data;
use super::folder::RunFolder;
use super::memory_estimate;
use super::metrics::MetricFiles;
use super::progress::Progress;
use super::run::{Run, RunSummary};
use super::state::RunState;
use crate::config::Config;
use crate::data::{Dataset, FileChecksum, Scaling};
use crate::files;
use crate::nn::Parameters;

/// How a run starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrainOptions {
    /// Continue the run in the folder after its last completed epoch.
    pub resume: bool,
    /// Go on although the data have changed since the run started, or memory seems too small.
    pub force: bool,
    /// The caller has created the folder and keeps others out of it. A folder that is missing has been taken
    /// from the caller, and is not created again.
    pub locked: bool,
}

impl TrainOptions {
    /// A new run, or a resumed one.
    pub fn resuming(resume: bool) -> Self {
        TrainOptions { resume, ..TrainOptions::default() }
    }
}

/// Trains an architecture on `data` and keeps the run in the folder `out`.
///
/// A resumed run continues after its last completed epoch, and ends with the same bits as a run that was
/// never interrupted. A run that was stopped before it saved its first state starts again. The folder is
/// locked for as long as this function runs.
///
/// # Errors
/// When the folder contains another run, or none to resume, or is in use by another process; when the data
/// are no longer those that the run started with; when memory is too small; when a file cannot be written; or
/// when the loss is no longer finite, in which case the state before that epoch stays in the folder.
pub fn train_as<A: Architecture>(
    config: &Config,
    data: &Dataset,
    out: &Path,
    options: TrainOptions,
    progress: &mut dyn Progress,
) -> Result<RunSummary> {
    let folder = RunFolder::new(out);
    let metrics = MetricFiles::new(out, config.latent.is_some());
    if options.resume {
        folder.check_config(config)?;
    }
    let spec = A::from_config(config, data)?;
    if !options.force {
        let window = A::STREAM.then_some(STREAM_WINDOW);
        memory_estimate::check(&spec.networks(), config, data, window)?;
    }
    let fresh = fresh_state(spec, config, data)?;
    if !options.locked {
        folder.create()?;
    }
    let _lock = lock(&folder, options, progress)?;
    files::remove_temporary(folder.path());
    let state = if options.resume && folder.last_state().exists() {
        let state = RunState::<A>::load(&folder.last_state())?;
        check_data((&state, &fresh), data, &folder, options, progress)?;
        reopen(config, &folder, &metrics, state.epoch)?;
        RunState { data: fresh.data, ..state }
    } else {
        folder.check_empty()?;
        begin(config, &folder, &metrics, &fresh)?;
        fresh
    };
    Run { config, data, folder, metrics, state }.run(progress)
}

/// Locks the folder, unless the caller has done so.
fn lock(folder: &RunFolder, options: TrainOptions, progress: &mut dyn Progress) -> Result<Option<File>> {
    if options.locked {
        return Ok(None);
    }
    Ok(folder.lock()?.inspect_err(|notice| progress.notice(notice)).ok())
}

/// The state before the first epoch.
fn fresh_state<A: Architecture>(spec: A, config: &Config, data: &Dataset) -> Result<RunState<A>> {
    let (parameters, scaling) = match &config.init.from {
        Some(run) => inherit(&spec, config, data, run).context("`init.from`")?,
        None => {
            let scaling = spec.scaling(config, data)?;
            (spec.init_parameters(config, data, &scaling), scaling)
        }
    };
    Ok(first_state(spec, parameters, scaling, config, data))
}

/// The state before the first epoch, with these parameters.
pub(crate) fn first_state<A: Architecture>(
    spec: A,
    parameters: Parameters,
    scaling: Scaling,
    config: &Config,
    data: &Dataset,
) -> RunState<A> {
    let names = [data.input_names.clone(), data.target_names.clone()];
    let files: Vec<FileChecksum> = data.files.iter().map(|file| file.checksum.clone()).collect();
    let state = RunState::first(spec, parameters, &config.training, scaling, names);
    RunState { data: Some(files).filter(|files| !files.is_empty()), ..state }
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
    let rows = source.scaling.linear.as_ref().map_or(0, |linear| linear.rows);
    ensure!(
        rows == usize::from(config.model.linear),
        "the run in `{shown}` has `model.linear = {rows}`: use it here as well"
    );
    ensure!(
        config.init.sharpen_rate == 0.0 || source.parameters.method.posterior.sharpening().is_none(),
        "the run in `{shown}` has learned the rates of sharpening: remove `init.sharpen_rate`, or set it to 0"
    );
    let initial = spec.init_parameters(config, data, &source.scaling);
    let parameters = source.parameters.sharpened_like(&initial).filter(|parameters| spec.fits(parameters));
    let parameters = parameters.with_context(|| {
        format!(
            "the run in `{shown}` trained another architecture: use the `[model]`, `[weights]` and learned \
             noise of its config.toml"
        )
    })?;
    Ok((parameters, source.scaling))
}

/// Creates a new run. The state is written last: where it exists, all other files do.
fn begin<A: Architecture>(
    config: &Config,
    folder: &RunFolder,
    metrics: &MetricFiles,
    fresh: &RunState<A>,
) -> Result<()> {
    folder.write_config(config)?;
    metrics.create()?;
    fresh.save(&folder.last_state())
}

/// Prepares the files of a run to resume it after this epoch.
fn reopen(config: &Config, folder: &RunFolder, metrics: &MetricFiles, epoch: usize) -> Result<()> {
    metrics.truncate(epoch)?;
    folder.write_config(config)
}
