//! Training one trial for a while, in a process of its own.
//!
//! A process of its own cannot take the search down with it, gives all its memory back, and is killed like any other. The
//! trial's lock goes along as its standard input: should the search be killed and the trial live on, the lock stays taken
//! until the trial is gone as well, and a new search waits for it. It is gone after an epoch at most, when it finds nobody
//! left to report to.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::Trial;

/// What came of training a trial for a while.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TrialOutcome {
    /// It has done its epochs, or stopped early of its own accord.
    Done,
    /// It cannot go on, for the reason given.
    Failed(String),
}

/// Something that trains trials.
pub trait Launcher: Sync {
    /// Trains a trial until it has done `epochs` epochs, and calls `epoch` after each.
    ///
    /// # Errors
    /// When not only this trial is in trouble.
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
        let lock = lock(&trial.run().path().join("lock"))?;
        let mut child = self.start(trial, epochs, lock)?;
        let last_words = follow(&mut child, epoch);
        let status = child.wait().with_context(|| format!("trial {}: lost track of it", trial.index))?;
        if status.success() {
            return Ok(TrialOutcome::Done);
        }
        if status.code().is_none() {
            bail!("trial {} was killed ({status}); start the search again to go on", trial.index);
        }
        Ok(TrialOutcome::Failed(last_words))
    }
}

impl ChildProcesses {
    fn start(&self, trial: &Trial, epochs: usize, lock: File) -> Result<Child> {
        let mut command = Command::new(&self.quaver);
        command.arg("train").arg(trial.config_file()).arg("--out").arg(trial.run().path());
        command.arg("--set").arg(format!("training.epochs={epochs}"));
        if trial.has_begun() {
            command.arg("--resume");
        }
        command.env("QUAVER_THREADS", self.threads.to_string());
        command.stdin(lock).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().with_context(|| format!("cannot start `{}`", self.quaver.display()))
    }
}

/// Waits until nobody else trains in this folder.
fn lock(path: &Path) -> Result<File> {
    let complain = || format!("cannot lock `{}`", path.display());
    let file = OpenOptions::new().create(true).append(true).read(true).open(path).with_context(complain)?;
    file.lock().with_context(complain)?;
    Ok(file)
}

/// Counts the epochs that a process reports, until it is silent. Returns its last words.
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
