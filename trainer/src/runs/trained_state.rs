//! The state of a run of either kind.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};

use crate::fit::{Architecture, RunState};
use crate::latent::LatentNets;
use crate::reduce::ReduceModel;
use crate::text::TokenModel;

/// The state of a run of any kind.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainedState {
    /// A predictor.
    Predictor(Box<RunState>),
    /// A latent model.
    Latent(Box<RunState<LatentNets>>),
    /// A model of text.
    Text(Box<RunState<TokenModel>>),
    /// A reducer of sequences to points.
    Reduce(Box<RunState<ReduceModel>>),
}

impl TrainedState {
    /// Reads a state and checks its integrity.
    ///
    /// # Errors
    /// As [`RunState::load`].
    pub fn load(path: &Path) -> Result<Self> {
        let mut magic = [0; 8];
        let mut file =
            File::open(path).with_context(|| format!("cannot read the state `{}`", path.display()))?;
        // A file too short for the magic bytes is read as a predictor's, which reports the error.
        let read = file.read_exact(&mut magic).is_ok();
        Ok(match &magic {
            magic if read && magic == LatentNets::MAGIC => {
                TrainedState::Latent(Box::new(RunState::load(path)?))
            }
            magic if read && magic == TokenModel::MAGIC => {
                TrainedState::Text(Box::new(RunState::load(path)?))
            }
            magic if read && magic == ReduceModel::MAGIC => {
                TrainedState::Reduce(Box::new(RunState::load(path)?))
            }
            _ => TrainedState::Predictor(Box::new(RunState::load(path)?)),
        })
    }

    /// Epochs completed.
    pub fn epochs(&self) -> usize {
        match self {
            TrainedState::Predictor(state) => state.epoch,
            TrainedState::Latent(state) => state.epoch,
            TrainedState::Text(state) => state.epoch,
            TrainedState::Reduce(state) => state.epoch,
        }
    }
}
