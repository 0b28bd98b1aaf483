//! Samples from a model, on the host or in the runtime.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::{Family, Kind};
use quaver::{LatentModel as StoredModel, Sampler};

use super::Futures;
use crate::commands::checkpoint_file;
use crate::commands::implausible::ImplausibleValues;
use crate::commands::row_io::read_whole;
use crate::data::Rows;
use crate::fit::{RunFolder, RunState};
use crate::latent::{LatentNets, SampleOptions, TrainedLatentModel};
use crate::random::{Purpose, stream};
use crate::runs::TrainedState;

/// Samples continuations of a prefix, on the host from a run folder or in the runtime from a checkpoint.
pub(super) fn futures(
    model: &Path,
    prefix: Option<&Path>,
    header: bool,
    options: &SampleOptions,
) -> Result<Futures> {
    let shown = model.display();
    let read = |names: &[String]| read_prefix(prefix, header, names);
    if model.is_dir() {
        return match TrainedState::load(&RunFolder::new(model).best_state())? {
            TrainedState::Latent(state) => on_host(model, &state, read, options),
            TrainedState::Text(_) => bail!("{shown} is a model of text, which has no rows to continue"),
            TrainedState::Reduce(_) => bail!("{shown} is a reducer, which predicts no rows"),
            TrainedState::Predictor(_) => bail!(
                "{shown} is a predictor, which has no latent variables: sampling needs a STORN \
                 (`[latent] family = \"storn\"`)"
            ),
        };
    }
    let bytes = checkpoint_file::read(model, checkpoint_file::OR_RUN)?;
    if Kind::of(&bytes) == Some(Kind::Predictor) {
        bail!("{shown} is a predictor, which has no latent variables: sampling needs a STORN");
    }
    in_runtime(model, &bytes, read, options)
}

/// The last sequence of the prefix; no rows if there is none.
fn read_prefix(prefix: Option<&Path>, header: bool, names: &[String]) -> Result<Rows> {
    let Some(path) = prefix else { return Ok(Rows::new(names.len())) };
    let mut table = read_whole(path, header, names)?;
    Ok(table.sequences.pop().unwrap_or_else(|| Rows::new(names.len())))
}

fn on_host(
    path: &Path,
    state: &RunState<LatentNets>,
    read: impl FnOnce(&[String]) -> Result<Rows>,
    options: &SampleOptions,
) -> Result<Futures> {
    ensure!(
        state.spec.is_causal(),
        "{}: a network of this model reads whole sequences, so it cannot continue a prefix; \
         sampling needs a STORN with causal recognition",
        path.display()
    );
    let prefix = read(&state.input_names)?;
    let draws = TrainedLatentModel::new(state).sample(&prefix, options);
    Ok(Futures { names: state.input_names.clone(), prefix, draws, truth: None })
}

fn in_runtime(
    path: &Path,
    bytes: &[u8],
    read: impl FnOnce(&[String]) -> Result<Rows>,
    options: &SampleOptions,
) -> Result<Futures> {
    let shown = path.display();
    let model = StoredModel::load(bytes).with_context(|| format!("{shown} is not a usable checkpoint"))?;
    ensure!(
        model.spec().family == Family::Storn,
        "{shown} is a VOSP, which denoises (`quaver denoise`); sampling from a checkpoint needs a STORN"
    );
    let mut names: Vec<String> = model.recognition().checkpoint().input_names().map(String::from).collect();
    if names.is_empty() {
        names = (0..model.channels()).map(|channel| format!("c{channel}")).collect();
    }
    let prefix = read(&names)?;
    let mut words = vec![0.0; model.arena_words()];
    let mut sampler = Sampler::load_in(bytes, &mut words)?;
    let mut implausible = ImplausibleValues::new(&names, model.channels());
    for row in prefix.iter() {
        implausible.add(sampler.observe(row).implausible());
    }
    implausible.report();
    let mut draws = Vec::with_capacity(options.samples);
    let mut room = vec![0.0; model.arena_words()];
    for draw in 0..options.samples {
        // Every sample has its own random stream, so that more samples leave the first ones unchanged.
        let mut rng = stream(options.seed, Purpose::Draws { epoch: 0, batch: draw as u64 });
        let mut future = sampler.fork_in(&mut room)?;
        let mut rows = Rows::new(model.channels());
        for _ in 0..options.steps {
            rows.values.extend_from_slice(future.sample(&mut rng, options.feed_mode));
        }
        draws.push(rows);
    }
    Ok(Futures { names, prefix, draws, truth: None })
}
