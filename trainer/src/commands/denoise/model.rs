//! Models that denoise: a VOSP in the runtime, a causal latent model on the host, or a predictor of clean
//! inputs.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use quaver::checkpoint::{Family, Kind, Layout, Target, WeightFormat};
use quaver::{Denoiser, LatentModel as StoredModel, Model};

use crate::commands::checkpoint_file;
use crate::commands::row_model::{LineParts, ModelChannels, RowModel, RowPrediction, RuntimePredictor};
use crate::export::{Encoding, encode};
use crate::fit::{RunFolder, RunState};
use crate::latent::{LatentNets, StreamingDenoiser, TrainedLatentModel};
use crate::runs::TrainedState;

/// Loads a run folder or a checkpoint, and calls `work` with it before its first row.
pub(super) fn with_model<T>(path: &Path, work: impl FnOnce(&mut dyn RowModel) -> Result<T>) -> Result<T> {
    if path.is_dir() {
        return match TrainedState::load(&RunFolder::new(path).best_state())? {
            TrainedState::Latent(state) => with_host(path, &state, work),
            TrainedState::Predictor(state) => {
                let bytes = encode(&state, WeightFormat::F32, Layout::Float, &Encoding::default())?;
                with_predictor(path, &bytes, work)
            }
            TrainedState::Reduce(_) => {
                bail!("{} is a reducer, which predicts no rows", path.display())
            }
            TrainedState::Text(_) => {
                bail!("{} is a model of text, which has nothing to denoise", path.display())
            }
        };
    }
    let bytes = checkpoint_file::read(path, checkpoint_file::OR_RUN)?;
    match Kind::of(&bytes) {
        Some(Kind::Latent) => with_denoiser(path, &bytes, work),
        _ => with_predictor(path, &bytes, work),
    }
}

/// The trained model on the host.
fn with_host<T>(
    path: &Path,
    state: &RunState<LatentNets>,
    work: impl FnOnce(&mut dyn RowModel) -> Result<T>,
) -> Result<T> {
    ensure!(
        state.spec.is_causal(),
        "{}: a network of this model reads whole sequences, so it cannot process a stream; \
         use it with `quaver impute`, or denoise with a VOSP",
        path.display()
    );
    let model = TrainedLatentModel::new(state);
    let (inputs, outputs) = (state.input_names.clone(), state.target_names.clone());
    let (count, stream) = (model.nets.channels(), StreamingDenoiser::new(&model));
    work(&mut HostDenoiser { stream, channels: ModelChannels::new(inputs, count, outputs, count) })
}

/// A checkpoint of a latent model, in the runtime.
fn with_denoiser<T>(
    path: &Path,
    bytes: &[u8],
    work: impl FnOnce(&mut dyn RowModel) -> Result<T>,
) -> Result<T> {
    let shown = path.display();
    let model = StoredModel::load(bytes).with_context(|| format!("{shown} is not a usable checkpoint"))?;
    if model.spec().family == Family::Storn {
        bail!(
            "{shown} is a STORN, which predicts and samples rows (`quaver sample`); denoising needs a VOSP"
        );
    }
    let (recognition, generative) = (model.recognition().checkpoint(), model.generative().checkpoint());
    let inputs = recognition.input_names().map(String::from).collect();
    let outputs = generative.output_names().map(String::from).collect();
    let channels = ModelChannels::new(inputs, model.channels(), outputs, model.channels());
    let mut words = vec![0.0; model.arena_words()];
    work(&mut RuntimeDenoiser { denoiser: Denoiser::load_in(bytes, &mut words)?, channels })
}

/// A predictor, if its targets are its own inputs without noise.
fn with_predictor<T>(
    path: &Path,
    bytes: &[u8],
    work: impl FnOnce(&mut dyn RowModel) -> Result<T>,
) -> Result<T> {
    let shown = path.display();
    let model = Model::load(bytes).with_context(|| format!("{shown} is not a usable checkpoint"))?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut predictor = RuntimePredictor::new(&model, &mut words)?;
    let ModelChannels { input_names, output_names, .. } = predictor.channels();
    if model.spec().target.is_next() || input_names != output_names {
        let what = match model.spec().target {
            Target::Next | Target::ResidualNext => "its own next row".to_string(),
            Target::Columns | Target::ResidualSame => output_names.join(", "),
        };
        bail!(
            "{shown} is a predictor of {what}, not a denoiser: use it with `quaver run`. Denoising needs a VOSP \
             (`[latent] family = \"vosp\"`) or a predictor trained with `data.targets = \"clean\"`"
        );
    }
    work(&mut predictor)
}

struct HostDenoiser<'a> {
    stream: StreamingDenoiser<'a>,
    channels: ModelChannels,
}

impl RowModel for HostDenoiser<'_> {
    fn channels(&self) -> &ModelChannels {
        &self.channels
    }

    fn parts(&self) -> LineParts {
        LineParts { class: false, surprise: true }
    }

    fn reset(&mut self) {
        self.stream.reset();
    }

    fn step(&mut self, row: &[f32]) -> RowPrediction {
        let clean = self.stream.step(row);
        let surprise = clean.surprise.map(|nll| (nll, clean.z));
        RowPrediction { outputs: clean.outputs, surprise, implausible: Vec::new() }
    }
}

struct RuntimeDenoiser<'m, 'a> {
    denoiser: Denoiser<'m, 'a>,
    channels: ModelChannels,
}

impl RowModel for RuntimeDenoiser<'_, '_> {
    fn channels(&self) -> &ModelChannels {
        &self.channels
    }

    fn parts(&self) -> LineParts {
        LineParts { class: false, surprise: true }
    }

    fn reset(&mut self) {
        self.denoiser.reset();
    }

    fn step(&mut self, row: &[f32]) -> RowPrediction {
        self.denoiser.step(row).into()
    }
}
