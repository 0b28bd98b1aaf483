//! Models of text: a run folder on the host, or a checkpoint in the runtime.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use quaver::Model;
use quaver::checkpoint::{Kind, Likelihood, Target};

use super::checkpoint_file;
use crate::data::Sequence;
use crate::data::text::Vocabulary;
use crate::fit::{RunFolder, RunState};
use crate::runs::TrainedState;
use crate::text::{TokenModel, token_nlls};

/// A model of text in any form.
pub(super) enum TextModel {
    /// The best state of a run: the trained network.
    Run(Box<RunState<TokenModel>>),
    /// A checkpoint, which the runtime runs.
    Checkpoint(Vec<u8>),
}

impl TextModel {
    /// Loads a run from a folder, or a checkpoint from a file; nothing if it is no model of text.
    pub(super) fn load(path: &Path) -> Result<Option<Self>> {
        if path.is_dir() {
            return Ok(match TrainedState::load(&RunFolder::new(path).best_state())? {
                TrainedState::Text(state) => Some(TextModel::Run(state)),
                TrainedState::Predictor(_) | TrainedState::Latent(_) | TrainedState::Reduce(_) => None,
            });
        }
        let bytes = checkpoint_file::read(path, checkpoint_file::OR_RUN)?;
        if Kind::of(&bytes) != Some(Kind::Predictor) {
            return Ok(None);
        }
        let model =
            Model::load(&bytes).with_context(|| format!("{} is not a usable checkpoint", path.display()))?;
        let (spec, checkpoint) = (model.spec(), model.checkpoint());
        let of_tokens = spec.likelihood == Likelihood::Categorical
            && spec.target == Target::Next
            && checkpoint.input_names().next().is_some()
            && checkpoint.input_names().eq(checkpoint.output_names());
        Ok(of_tokens.then_some(TextModel::Checkpoint(bytes)))
    }

    /// Names of its tokens.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            TextModel::Run(state) => state.target_names.clone(),
            TextModel::Checkpoint(bytes) => Model::load(bytes).map_or_else(
                |_| Vec::new(),
                |model| model.checkpoint().output_names().map(String::from).collect(),
            ),
        }
    }

    /// Its vocabulary.
    pub(super) fn vocabulary(&self) -> Result<Vocabulary> {
        Vocabulary::from_names(&self.names())
    }

    /// Refuses texts with another vocabulary.
    pub(super) fn check_names(&self, names: &[String]) -> Result<()> {
        let own = self.names();
        ensure!(
            own == names,
            "the vocabulary of the model has {} tokens, that of the data {}, and they are not the same: use the data that the \
             model was trained on, or name the same `data.vocabulary` for both",
            own.len(),
            names.len()
        );
        Ok(())
    }

    /// Mean negative log-likelihood of streams in nats per token, with carried state.
    pub(super) fn mean_nll(&self, streams: &[Sequence]) -> Result<f64> {
        match self {
            TextModel::Run(state) => {
                token_nlls(&state.spec, &state.parameters, streams).context("there are no tokens")
            }
            TextModel::Checkpoint(bytes) => runtime_nll(bytes, streams),
        }
    }
}

/// The same by the runtime, token by token.
fn runtime_nll(bytes: &[u8], streams: &[Sequence]) -> Result<f64> {
    let model = Model::load(bytes)?;
    let mut words = vec![0.0; model.spec().arena_words()];
    let mut state = model.start_in(&mut words)?;
    let (mut sum, mut count) = (0.0, 0_u64);
    for stream in streams {
        model.reset(&mut state);
        for token in &stream.targets.values {
            let Some(surprise) = model.step_token(&mut state, *token as usize).surprise() else {
                bail!("a token without a score");
            };
            sum += f64::from(surprise.nll);
            count += 1;
        }
    }
    Ok(sum / count as f64)
}
