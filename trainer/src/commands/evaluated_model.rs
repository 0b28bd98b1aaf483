//! The model of an evaluation: a run folder of either kind, or a checkpoint.

use std::borrow::Cow;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use quaver::Model;
use quaver::checkpoint::{self, Forecast, Kind, Layout, ModelSpec, Target, WeightFormat};

use super::checkpoint_file;
use super::implausible::ImplausibleValues;
use crate::config::LatentFamily;
use crate::data::{Dataset, Rows, Sequence};
use crate::evaluate::{NovelRows, SurpriseScores, novel_rows, predict_latent_by_runtime};
use crate::export::{Encoding, LatentEncoding, LatentStorageOptions, encode, encode_latent, settle_density};
use crate::fit::{RunFolder, RunState};
use crate::latent::{LatentFeed, LatentNets, TrainedLatentModel};
use crate::prediction::{SequencePrediction, predict_by_network, predict_by_runtime, predict_observing};
use crate::runs::TrainedState;

/// A trained model in any form.
pub(super) enum EvaluatedModel {
    /// The best state of a run: the trained network.
    Run(Box<RunState>),
    /// The best state of a latent model's run.
    Latent(Box<RunState<LatentNets>>),
    /// A checkpoint, evaluated by the runtime.
    Checkpoint(Box<CheckpointModel>),
    /// A checkpoint of a latent model, evaluated by the runtime.
    LatentCheckpoint(Box<CheckpointModel>),
}

/// A checkpoint that has been read.
pub(super) struct CheckpointModel {
    bytes: Vec<u8>,
    /// The network that predicts the targets.
    spec: ModelSpec,
    input_names: Vec<String>,
    output_names: Vec<String>,
    /// Whether it is a VOSP.
    denoises: bool,
}

impl EvaluatedModel {
    /// Loads a run from a folder, or a checkpoint from a file.
    pub(super) fn load(path: &Path) -> Result<Self> {
        if path.is_dir() {
            return Ok(match TrainedState::load(&RunFolder::new(path).best_state())? {
                TrainedState::Predictor(state) => EvaluatedModel::Run(state),
                TrainedState::Latent(state) => EvaluatedModel::Latent(state),
                TrainedState::Reduce(_) => bail!(
                    "{} is a reducer, which predicts no rows: `quaver classify` and `quaver embed` run it",
                    path.display()
                ),
                TrainedState::Text(_) => bail!(
                    "{} is a model of text, but the data are not: name the config of a text with --data",
                    path.display()
                ),
            });
        }
        let shown = path.display();
        let bytes = checkpoint_file::read(path, checkpoint_file::OR_RUN)?;
        let unusable = || format!("{shown} is not a usable checkpoint");
        if Kind::of(&bytes) == Some(Kind::Latent) {
            let model = quaver::LatentModel::load(&bytes).with_context(unusable)?;
            let (recognition, generative) = (model.recognition(), model.generative());
            let stored = CheckpointModel {
                spec: generative.spec().clone(),
                input_names: recognition.checkpoint().input_names().map(String::from).collect(),
                output_names: generative.checkpoint().output_names().map(String::from).collect(),
                denoises: model.spec().family == checkpoint::Family::Vosp,
                bytes: bytes.clone(),
            };
            return Ok(EvaluatedModel::LatentCheckpoint(Box::new(stored)));
        }
        let model = Model::load(&bytes).with_context(unusable)?;
        let spec = model.spec().clone();
        let input_names = model.checkpoint().input_names().map(String::from).collect();
        let output_names = model.checkpoint().output_names().map(String::from).collect();
        let stored = CheckpointModel { bytes, spec, input_names, output_names, denoises: false };
        Ok(EvaluatedModel::Checkpoint(Box::new(stored)))
    }

    /// The network that predicts the targets.
    pub(super) fn spec(&self) -> &ModelSpec {
        match self {
            EvaluatedModel::Run(state) => &state.spec,
            EvaluatedModel::Latent(state) => &state.spec.generative.spec,
            EvaluatedModel::Checkpoint(model) | EvaluatedModel::LatentCheckpoint(model) => &model.spec,
        }
    }

    /// Whether this is the trained network or the runtime, and what it predicts for targets of this kind, for
    /// people.
    pub(super) fn kind(&self, target: Target) -> &'static str {
        match self {
            EvaluatedModel::Run(_) | EvaluatedModel::Latent(_) => "trained network, f32",
            EvaluatedModel::Checkpoint(_) => "runtime",
            EvaluatedModel::LatentCheckpoint(_) if target.is_next() => "runtime, one step ahead",
            EvaluatedModel::LatentCheckpoint(_) => "runtime, clean rows from the noisy ones up to their own",
        }
    }

    fn names(&self) -> (&[String], &[String]) {
        match self {
            EvaluatedModel::Run(state) => (&state.input_names, &state.target_names),
            EvaluatedModel::Latent(state) => (&state.input_names, &state.target_names),
            EvaluatedModel::Checkpoint(model) | EvaluatedModel::LatentCheckpoint(model) => {
                (&model.input_names, &model.output_names)
            }
        }
    }

    /// Refuses data whose channels are not those of the model.
    pub(super) fn check_data(&self, data: &Dataset) -> Result<()> {
        check_channels(data, self.names())?;
        ensure!(
            data.target == Target::Next || self.may_explain_clean_rows(),
            "this latent model explains the rows it reads, including noise: set data.targets = \"next\" in the config of the data; \
             denoising is scored against clean rows nevertheless"
        );
        Ok(())
    }

    /// Whether it can predict other rows than those it reads; of latent models only a VOSP can.
    fn may_explain_clean_rows(&self) -> bool {
        match self {
            EvaluatedModel::Run(_) | EvaluatedModel::Checkpoint(_) => true,
            EvaluatedModel::Latent(state) => state.spec.family == LatentFamily::Vosp,
            EvaluatedModel::LatentCheckpoint(model) => model.denoises,
        }
    }

    /// Estimates of clean rows; nothing unless the model is a causal latent run, a denoiser, or a predictor
    /// of clean inputs.
    pub(super) fn denoise(&self, sequences: &[Sequence]) -> Result<Option<Vec<Rows>>> {
        let means = |predictions: Vec<SequencePrediction>| {
            predictions.into_iter().map(|prediction| prediction.mean).collect()
        };
        let (inputs, outputs) = self.names();
        match self {
            EvaluatedModel::Latent(state) if state.spec.is_causal() => {
                Ok(Some(means(TrainedLatentModel::new(state).reconstruct(sequences, LatentFeed::Moments))))
            }
            EvaluatedModel::Latent(_) => Ok(None),
            EvaluatedModel::LatentCheckpoint(model) => {
                Ok(predict_latent_by_runtime(&model.bytes, sequences)?.estimates.map(means))
            }
            _ if !self.spec().target.is_next() && inputs == outputs => {
                Ok(Some(means(self.prediction(sequences)?)))
            }
            _ => Ok(None),
        }
    }

    /// Predictions of rows before they are observed by a denoiser's checkpoint, and the scores of the rows
    /// that it read against them; nothing of any other model.
    pub(super) fn before_rows(
        &self,
        sequences: &[Sequence],
    ) -> Result<Option<(Vec<SequencePrediction>, SurpriseScores)>> {
        match self {
            EvaluatedModel::LatentCheckpoint(model) if model.denoises => {
                let found = predict_latent_by_runtime(&model.bytes, sequences)?;
                Ok(Some((found.expected, found.surprise)))
            }
            _ => Ok(None),
        }
    }

    /// The checkpoint that a device would run; of a run folder, one in f32 whose imputation is chosen as in
    /// an export.
    pub(super) fn runtime_bytes(&self, data: &Dataset) -> Result<Cow<'_, [u8]>> {
        match self {
            EvaluatedModel::Run(state) => {
                let density = settle_density(state, &data.train, &data.valid)?;
                let encoding = Encoding { density, ..Encoding::default() };
                Ok(Cow::Owned(encode(state, WeightFormat::F32, Layout::Float, &encoding)?))
            }
            EvaluatedModel::Latent(state) => {
                let storage = LatentStorageOptions {
                    format: WeightFormat::F32,
                    layout: Layout::Float,
                    forecast: Forecast::Moments,
                };
                Ok(Cow::Owned(encode_latent(state, storage, &LatentEncoding::default())?))
            }
            EvaluatedModel::Checkpoint(model) | EvaluatedModel::LatentCheckpoint(model) => {
                Ok(Cow::Borrowed(&model.bytes))
            }
        }
    }

    /// Predictions of a model that is told the truth about every `every`-th row after it has predicted it, so
    /// that the width of its error bars follows.
    pub(super) fn prediction_observing(
        &self,
        sequences: &[Sequence],
        every: usize,
    ) -> Result<Vec<SequencePrediction>> {
        let EvaluatedModel::Checkpoint(model) = self else {
            bail!("--observe is for checkpoints: export the run with --track, and evaluate what it wrote");
        };
        ensure!(
            model.spec.extensions.tracking.is_some(),
            "the error bars of this checkpoint do not follow the truth; export it with --track"
        );
        ensure!(
            !model.spec.target.is_next(),
            "a model of its own next input learns the truth from each row by itself; leave out --observe"
        );
        Ok(predict_observing(&model.bytes, sequences, |step| step % every == every - 1)?)
    }

    /// Values of the inputs outside of a checkpoint's plausible ranges, which it treats as missing;
    /// nothing if there are none.
    pub(super) fn implausible(&self, sequences: &[Sequence]) -> Result<Option<ImplausibleValues>> {
        let found = match self {
            EvaluatedModel::Checkpoint(model) => {
                ImplausibleValues::in_sequences(&Model::load(&model.bytes)?, sequences)
            }
            EvaluatedModel::LatentCheckpoint(model) => {
                let model = quaver::LatentModel::load(&model.bytes)?;
                ImplausibleValues::in_sequences(model.recognition(), sequences)
            }
            EvaluatedModel::Run(_) | EvaluatedModel::Latent(_) => return Ok(None),
        };
        Ok(Some(found).filter(|values| !values.is_empty()))
    }

    /// How error bars fare on rows unlike the training data; nothing unless this is a checkpoint with an
    /// input density and normal outputs.
    pub(super) fn novel_rows(
        &self,
        sequences: &[Sequence],
        predictions: &[SequencePrediction],
    ) -> Result<Option<NovelRows>> {
        match self {
            EvaluatedModel::Checkpoint(model) if model.spec.likelihood.is_normal() => {
                Ok(novel_rows(&model.bytes, sequences, predictions)?)
            }
            _ => Ok(None),
        }
    }

    /// Predictions of the targets of every row. Those of a latent model are one-step-ahead predictions or,
    /// where the targets are clean rows, estimates; a run feeds its latent variables as moments, a checkpoint
    /// as it specifies.
    pub(super) fn prediction(&self, sequences: &[Sequence]) -> Result<Vec<SequencePrediction>> {
        let target = sequences.first().map_or(Target::Next, |sequence| sequence.target);
        match self {
            EvaluatedModel::Run(state) => {
                Ok(predict_by_network(&state.spec, &state.parameters, &state.scaling, sequences))
            }
            EvaluatedModel::Latent(state) => {
                ensure!(
                    state.spec.is_causal(),
                    "a network of this model reads the whole sequence, so it cannot predict the next row"
                );
                let model = TrainedLatentModel::new(state);
                Ok(match target.is_next() {
                    true => model.predict(sequences, LatentFeed::Moments, 0),
                    false => model.reconstruct(sequences, LatentFeed::Moments),
                })
            }
            EvaluatedModel::Checkpoint(model) => Ok(predict_by_runtime(&model.bytes, sequences)?),
            EvaluatedModel::LatentCheckpoint(model) => {
                Ok(predict_latent_by_runtime(&model.bytes, sequences)?.for_target(target).to_vec())
            }
        }
    }
}

/// Refuses data whose inputs and targets have other names than those of the model.
pub(super) fn check_channels(data: &Dataset, (inputs, outputs): (&[String], &[String])) -> Result<()> {
    for (what, of_model, of_data) in
        [("inputs", inputs, &data.input_names), ("targets", outputs, &data.target_names)]
    {
        ensure!(
            of_model == of_data,
            "the model's {what} are {} but the data's are {}; set data.{what} in the config",
            of_model.join(", "),
            of_data.join(", ")
        );
    }
    Ok(())
}
