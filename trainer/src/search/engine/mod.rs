//! Engines: what trains the trials of a stage.

pub mod hyperqueue;
pub mod local;
pub mod queue;
pub mod script;
pub mod slurm;

#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::Result;

use super::{SearchProgress, Trial};

/// A stage of a search whose tickets are written.
pub struct Stage<'a> {
    /// The folder of the search.
    pub out: &'a Path,
    /// The trials that have not completed it yet.
    pub trials: Vec<&'a Trial>,
    /// The epoch up to which they are trained.
    pub epochs: usize,
}

/// Trains the trials of a stage.
pub trait Engine: Sync {
    /// Returns when no ticket of the stage is left.
    ///
    /// # Errors
    /// When a problem affects not only single trials.
    fn train(&self, stage: &Stage<'_>, watch: &dyn SearchProgress) -> Result<()>;

    /// The search is complete.
    fn finish(&self) {}
}

impl Stage<'_> {
    fn trial(&self, index: usize) -> Option<&Trial> {
        self.trials.iter().copied().find(|trial| trial.index == index)
    }
}
