//! Training of one trial for some epochs, in a child process.
//!
//! A child process cannot crash the search, returns all its memory, and can be killed like any other. It
//! inherits the lock of the trial's run folder as its standard input: if the search is killed and the trial
//! survives, the lock stays taken until the trial ends, and a new search waits for it. The trial ends after
//! an epoch at most, when it can no longer report.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Trial;
use crate::files::lock::{self, Locking};

/// The result of training a trial.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// It completed its epochs, or stopped early.
    Done,
    /// It cannot continue, for this reason.
    Failed(String),
}

/// Trains trials.
pub trait Launcher: Sync {
    /// Trains a trial up to epoch `epochs`, and calls `epoch` after each.
    ///
    /// # Errors
    /// When the problem affects not only this trial.
    fn train(&self, trial: &Trial, epochs: usize, epoch: &dyn Fn()) -> Result<TrialOutcome>;
}

/// Trains by calling `quaver train`.
#[derive(Clone, Debug)]
pub struct ChildProcesses {
    /// The binary.
    pub quaver: PathBuf,
    /// Threads that each process uses.
    pub threads: usize,
}

impl Launcher for ChildProcesses {
    fn train(&self, trial: &Trial, epochs: usize, epoch: &dyn Fn()) -> Result<TrialOutcome> {
        let lock = lock::wait(trial.run().path())?;
        let mut child = self.start(trial, epochs, lock)?;
        let last_words = follow(&mut child, epoch);
        let status =
            child.wait().with_context(|| format!("trial {}: cannot wait for its process", trial.index))?;
        if status.success() {
            return Ok(TrialOutcome::Done);
        }
        if status.code().is_none() {
            bail!("trial {} was killed ({status}); repeat the command to continue the search", trial.index);
        }
        Ok(TrialOutcome::Failed(last_words))
    }
}

impl ChildProcesses {
    fn start(&self, trial: &Trial, epochs: usize, lock: Locking) -> Result<Child> {
        let mut command = Command::new(&self.quaver);
        command.arg("train").arg(trial.config_file()).arg("--out").arg(trial.run().path());
        command.arg("--locked").arg("--set").arg(format!("training.epochs={epochs}"));
        if trial.has_begun() {
            command.arg("--resume");
        }
        command.env("QUAVER_THREADS", self.threads.to_string());
        match lock {
            Locking::Locked(file) => command.stdin(file),
            Locking::Unsupported => command.stdin(Stdio::null()),
        };
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().with_context(|| format!("cannot start `{}`", self.quaver.display()))
    }
}

/// Counts the epochs that a process reports, until it closes its standard error. Returns the last line.
fn follow(child: &mut Child, epoch: &dyn Fn()) -> String {
    let mut last = String::new();
    let Some(errors) = child.stderr.take() else { return last };
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        if line.starts_with("epoch ") {
            epoch();
        }
        last = line;
    }
    last.strip_prefix("error: ").unwrap_or(&last).to_string()
}
