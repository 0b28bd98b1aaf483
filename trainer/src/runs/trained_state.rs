//! The state of a run whose kind is not known before it is read.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};

use crate::fit::{Architecture, RunState};
use crate::latent::LatentNets;

/// The state of a run of either kind.
#[derive(Clone, Debug, PartialEq)]
pub enum TrainedState {
    /// A predictor.
    Predictor(Box<RunState>),
    /// A latent model.
    Latent(Box<RunState<LatentNets>>),
}

impl TrainedState {
    /// Reads a state and checks that it is whole and consistent.
    ///
    /// # Errors
    /// As [`RunState::load`].
    pub fn load(path: &Path) -> Result<Self> {
        let mut magic = [0; 8];
        let mut file =
            File::open(path).with_context(|| format!("cannot read the state `{}`", path.display()))?;
        // A file too short to have a beginning is not a latent model's; reading it as the other kind says so.
        let latent = file.read_exact(&mut magic).is_ok() && magic == *LatentNets::MAGIC;
        if latent {
            return Ok(TrainedState::Latent(Box::new(RunState::load(path)?)));
        }
        Ok(TrainedState::Predictor(Box::new(RunState::load(path)?)))
    }

    /// Epochs done.
    pub fn epochs(&self) -> usize {
        match self {
            TrainedState::Predictor(state) => state.epoch,
            TrainedState::Latent(state) => state.epoch,
        }
    }
}
