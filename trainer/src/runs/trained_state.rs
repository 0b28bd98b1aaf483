//! The state of a run of either kind.

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
    /// Reads a state and checks its integrity.
    ///
    /// # Errors
    /// As [`RunState::load`].
    pub fn load(path: &Path) -> Result<Self> {
        let mut magic = [0; 8];
        let mut file =
            File::open(path).with_context(|| format!("cannot read the state `{}`", path.display()))?;
        // A file too short for the magic bytes is read as a predictor's, which reports the error.
        let latent = file.read_exact(&mut magic).is_ok() && magic == *LatentNets::MAGIC;
        if latent {
            return Ok(TrainedState::Latent(Box::new(RunState::load(path)?)));
        }
        Ok(TrainedState::Predictor(Box::new(RunState::load(path)?)))
    }

    /// Epochs completed.
    pub fn epochs(&self) -> usize {
        match self {
            TrainedState::Predictor(state) => state.epoch,
            TrainedState::Latent(state) => state.epoch,
        }
    }
}
