//! Searches on job queues: a small one on this machine, on a Slurm of one node and on HyperQueue, the latter
//! two killed and continued. All must end with the same bytes.

mod experiment;
mod hyperqueue;
mod load;
mod slurm;

use anyhow::Result;

use crate::setup::programs::{self, PYTHON, SLURM};
use experiment::Experiment;

pub(crate) use load::{Arguments, run as count_operations};

/// What precedes the reason why an engine was not tried.
const SKIPPED: &str = "skipped, ";

/// The stage: what was tried and what was skipped.
pub(crate) fn check() -> Result<String> {
    let experiment = Experiment::new()?;
    experiment.search_here()?;
    let slurm = match programs::missing(&[SLURM]) {
        Some(line) => format!("{SKIPPED}{line}"),
        None => slurm::check(&experiment)?,
    };
    let hyperqueue = match programs::missing(&[PYTHON]) {
        Some(line) => format!("{SKIPPED}{line}"),
        None => hyperqueue::check(&experiment)?,
    };
    Ok(format!("Slurm: {slurm}; HyperQueue: {hyperqueue}"))
}
