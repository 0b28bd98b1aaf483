//! Training of one trial for some epochs, in a child process.
//!
//! A child process cannot crash the search, returns all its memory, and can be killed like any other. If the
//! search is killed and the trial survives, it ends after an epoch at most, when it can no longer report; and
//! once somebody else has claimed the trial, its run folder has another name and it can write no more.

use std::fmt;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use super::Trial;

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
    /// Trains a trial up to epoch `epochs`.
    ///
    /// # Errors
    /// When the problem affects not only this trial; [`ClaimLost`] if somebody else has it.
    fn train(&self, trial: &Trial, epochs: usize, watch: &TrialWatch<'_>) -> Result<TrialOutcome>;
}

/// What a trial under way reports and asks.
pub struct TrialWatch<'a> {
    /// Called after every epoch.
    pub epoch: &'a dyn Fn(),
    /// Whether somebody else has the trial now.
    pub is_lost: &'a (dyn Fn() -> bool + Sync),
}

/// The error of a trial that somebody else has taken over, because this process seemed to have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClaimLost;

impl fmt::Display for ClaimLost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another process has taken over the trial")
    }
}

impl std::error::Error for ClaimLost {}

/// Trains by calling `quaver train`.
#[derive(Clone, Debug)]
pub struct ChildProcesses {
    /// The binary.
    pub quaver: PathBuf,
    /// Threads that each process uses.
    pub threads: usize,
    /// When trials under way are stopped, if ever. What they have completed stays.
    pub deadline: Option<Deadline>,
}

/// When a search ends early: at a time, or when somebody says so.
#[derive(Clone)]
pub struct Deadline {
    /// The time.
    pub at: Instant,
    /// Whether somebody has said so.
    pub interrupted: Arc<dyn Fn() -> bool + Send + Sync>,
}

impl Deadline {
    /// Whether it has passed.
    pub fn is_over(&self) -> bool {
        Instant::now() >= self.at || (self.interrupted)()
    }
}

impl fmt::Debug for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deadline").field("at", &self.at).finish_non_exhaustive()
    }
}

/// The error of a search that its [`Deadline`] has ended. Trials keep what they have completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SearchStopped;

impl fmt::Display for SearchStopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the search was stopped; repeat the command to continue it")
    }
}

impl std::error::Error for SearchStopped {}

/// How often a deadline is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Launcher for ChildProcesses {
    fn train(&self, trial: &Trial, epochs: usize, watch: &TrialWatch<'_>) -> Result<TrialOutcome> {
        let is_over = || self.deadline.as_ref().is_some_and(Deadline::is_over);
        ensure!(!is_over(), SearchStopped);
        let mut child = self.start(trial, epochs)?;
        let errors = child.stderr.take();
        let child = Mutex::new(child);
        let done = AtomicBool::new(false);
        let last_words = thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) && !is_over() && !(watch.is_lost)() {
                    thread::sleep(LOOK_EVERY);
                }
                if !done.load(Ordering::Relaxed) {
                    // One that has just ended cannot be killed, and need not be.
                    drop(child.lock().expect("nobody panics with a child").kill());
                }
            });
            let last_words = follow(errors, watch.epoch);
            done.store(true, Ordering::Relaxed);
            last_words
        });
        let mut child = child.into_inner().expect("nobody panics with a child");
        let status =
            child.wait().with_context(|| format!("trial {}: cannot wait for its process", trial.index))?;
        if status.success() {
            return Ok(TrialOutcome::Done);
        }
        ensure!(!(watch.is_lost)(), ClaimLost);
        ensure!(!is_over(), SearchStopped);
        if status.code().is_none() {
            bail!("trial {} was killed ({status}); repeat the command to continue the search", trial.index);
        }
        Ok(TrialOutcome::Failed(last_words))
    }
}

impl ChildProcesses {
    fn start(&self, trial: &Trial, epochs: usize) -> Result<Child> {
        let mut command = Command::new(&self.quaver);
        command.arg("train").arg(trial.config_file()).arg("--out").arg(trial.run().path());
        command.arg("--locked").arg("--set").arg(format!("training.epochs={epochs}"));
        if trial.has_begun() {
            command.arg("--resume");
        }
        command.env("QUAVER_THREADS", self.threads.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().with_context(|| format!("cannot start `{}`", self.quaver.display()))
    }
}

/// Counts the epochs that a process reports, until it closes its standard error. Returns the last line.
fn follow(errors: Option<ChildStderr>, epoch: &dyn Fn()) -> String {
    let mut last = String::new();
    let Some(errors) = errors else { return last };
    for line in BufReader::new(errors).lines().map_while(Result::ok) {
        if line.starts_with("epoch ") {
            epoch();
        }
        last = line;
    }
    last.strip_prefix("error: ").unwrap_or(&last).to_string()
}
