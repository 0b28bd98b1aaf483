//! A search from its first trial to its best run.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

use super::engine::{Engine, Stage};
use super::halving::{Rung, promote, rungs};
use super::launch::TrialOutcome;
use super::sharing::stale::Watcher;
use super::sharing::tickets::{Ticket, Tickets};
use super::trial::TrialHistory;
use super::worker::HEARTBEAT;
use super::{Leaderboard, LeaderboardEntry, Trial, TrialProgress, TrialStatus};
use crate::config::Config;
use crate::files;
use crate::files::lock::{self, Locking};
use crate::fit::RunFolder;

/// The settings of a search.
#[derive(Clone, Debug)]
pub struct SearchPlan {
    /// The config with a `[search]` section.
    pub config: PathBuf,
    /// Values set on the command line.
    pub overrides: Vec<String>,
    /// Folder for relative paths of data; that of the config if not set.
    pub data_dir: Option<PathBuf>,
    /// Number of trials.
    pub trials: usize,
    /// The folder of the search.
    pub out: PathBuf,
}

/// An observer of a search, called from several threads. All methods are optional.
pub trait SearchProgress: Sync {
    /// Something that the user should know, in one line.
    fn notice(&self, _line: &str) {}

    /// A stage starts: its number, the number of stages, its settings, and the maximum number of epochs left
    /// to train in it.
    fn rung(&self, _number: usize, _of: usize, _rung: &Rung, _epochs_left: usize) {}

    /// An epoch of some trial is completed.
    fn epoch(&self) {}

    /// A trial has completed a stage.
    fn trial(&self, _trial: &Trial, _standing: &TrialProgress, _outcome: &TrialOutcome) {}
}

/// Observes nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoSearchProgress;

impl SearchProgress for NoSearchProgress {}

/// Searches, or continues the search in the folder. Returns the results of all trials.
///
/// After every stage, the folder contains `leaderboard.csv` and the best run so far in `best`.
///
/// # Errors
/// When the config is invalid, when the folder contains another search or is in use, when every trial fails,
/// or when a file cannot be written.
pub fn run(plan: &SearchPlan, engine: &dyn Engine, watch: &dyn SearchProgress) -> Result<Leaderboard> {
    run_trials(plan, draw(plan)?.1, engine, watch)
}

/// The stages of a search, without starting it.
///
/// # Errors
/// When the config is invalid.
pub fn stages(plan: &SearchPlan) -> Result<Vec<Rung>> {
    let (base, trials) = draw(plan)?;
    Ok(rungs(&base.search.halving, trials.len(), base.training.epochs))
}

/// The config of a search, and its trials.
fn draw(plan: &SearchPlan) -> Result<(Config, Vec<Trial>)> {
    let base = Config::load_with_data(&plan.config, &plan.overrides, plan.data_dir.as_deref())?;
    ensure!(
        !base.search.space.is_empty(),
        "{}: nothing to search; add a section such as\n\n  [search]\n  training.learning_rate = {{ log_uniform = [1e-4, 1e-1] }}",
        plan.config.display()
    );
    let trials = (0..plan.trials).map(|index| Trial::new(plan, &base, index)).collect::<Result<_>>()?;
    Ok((base, trials))
}

/// Like [`run`], with trials that somebody else has drawn.
///
/// # Errors
/// As [`run`].
pub fn run_trials(
    plan: &SearchPlan,
    trials: Vec<Trial>,
    engine: &dyn Engine,
    watch: &dyn SearchProgress,
) -> Result<Leaderboard> {
    let base = Config::load_with_data(&plan.config, &plan.overrides, plan.data_dir.as_deref())?;
    let _lock = lock(&plan.out, watch)?;
    [plan.out.clone(), plan.out.join("trials"), plan.out.join("best")]
        .iter()
        .for_each(|folder| files::remove_temporary(folder));
    // What was left by processes of this machine, such as a search that was killed, need not be waited for.
    Watcher::new(&plan.out.join("trials"), HEARTBEAT).sweep()?;
    trials.iter().try_for_each(Trial::prepare)?;
    let rungs = rungs(&base.search.halving, trials.len(), base.training.epochs);
    RunningSearch { plan, trials, rungs, engine, watch, failed: BTreeMap::new(), known: RefCell::default() }
        .run()
}

/// Creates the folder and excludes other searches from it until the lock is dropped.
fn lock(out: &Path, watch: &dyn SearchProgress) -> Result<Option<File>> {
    fs::create_dir_all(out.join("trials")).with_context(|| format!("cannot create `{}`", out.display()))?;
    match lock::lock(out)? {
        Locking::Locked(file) => Ok(Some(file)),
        Locking::Unsupported => {
            watch.notice(&lock::unsupported(out));
            Ok(None)
        }
    }
}

/// A search in progress.
struct RunningSearch<'a> {
    plan: &'a SearchPlan,
    trials: Vec<Trial>,
    rungs: Vec<Rung>,
    engine: &'a dyn Engine,
    watch: &'a dyn SearchProgress,
    /// Failed trials, and why.
    failed: BTreeMap<usize, String>,
    /// What was read of trials: on a network file system, every reading takes its time.
    known: RefCell<BTreeMap<usize, TrialHistory>>,
}

impl RunningSearch<'_> {
    fn run(mut self) -> Result<Leaderboard> {
        let mut alive: Vec<usize> = (0..self.trials.len()).collect();
        for number in 0..self.rungs.len() {
            let rung = self.rungs[number];
            alive = promote(&self.scores(&alive, number)?, rung.trials);
            self.train_rung(number, &alive)?;
            ensure!(
                alive.iter().any(|trial| !self.failed.contains_key(trial)),
                "every trial has failed; trial {} reported: {}",
                alive[0],
                self.failed[&alive[0]]
            );
            self.keep(&self.leaderboard(&alive, number)?)?;
        }
        self.engine.finish();
        self.leaderboard(&alive, self.rungs.len() - 1)
    }

    /// The progress of a trial up to `epochs`.
    fn progress(&self, trial: &Trial, epochs: usize) -> Result<TrialProgress> {
        let mut known = self.known.borrow_mut();
        if let Some(history) = known.get(&trial.index) {
            return Ok(history.progress(epochs));
        }
        let history = trial.history()?;
        let progress = history.progress(epochs);
        known.insert(trial.index, history);
        Ok(progress)
    }

    /// The scores that select the trials of a stage: the losses after the stage before. All trials take part
    /// in the first.
    fn scores(&self, alive: &[usize], number: usize) -> Result<Vec<(usize, Option<f64>)>> {
        let score = |&trial: &usize| {
            let Some(before) = number.checked_sub(1) else { return Ok((trial, Some(0.0))) };
            let best = self.progress(&self.trials[trial], self.rungs[before].epochs)?.best;
            let best = best.filter(|_| !self.failed.contains_key(&trial));
            Ok((trial, best.map(|best| best.valid_nll)))
        };
        alive.iter().map(score).collect()
    }

    /// Trains those trials of a stage that have not completed it yet.
    fn train_rung(&mut self, number: usize, alive: &[usize]) -> Result<()> {
        let rung = self.rungs[number];
        let (mut trials, mut epochs_left) = (Vec::new(), 0);
        for trial in alive.iter().map(|&trial| &self.trials[trial]) {
            let progress = self.progress(trial, rung.epochs)?;
            if !trial.has_completed(&progress, rung.epochs) {
                epochs_left += rung.epochs - progress.epochs;
                trials.push(trial);
            }
        }
        let ticket = |trial: &&Trial| Ticket { trial: trial.index, epochs: rung.epochs };
        Tickets::of(&self.plan.out).replace(&trials.iter().map(ticket).collect::<Vec<_>>())?;
        self.watch.rung(number + 1, self.rungs.len(), &rung, epochs_left);
        if !trials.is_empty() {
            let stage = Stage { out: &self.plan.out, trials, epochs: rung.epochs };
            self.engine.train(&stage, self.watch)?;
            stage.trials.iter().for_each(|trial| drop(self.known.borrow_mut().remove(&trial.index)));
            let failed = stage.trials.iter().filter_map(|trial| Some((trial.index, trial.failure()?)));
            self.failed.extend(failed);
        }
        Ok(())
    }

    fn leaderboard(&self, alive: &[usize], number: usize) -> Result<Leaderboard> {
        let (first, now) = (self.rungs[0].epochs, self.rungs[number].epochs);
        let last = number + 1 == self.rungs.len();
        let place = |trial: &Trial| {
            let error = self.failed.get(&trial.index).cloned();
            let status = match (alive.contains(&trial.index), &error) {
                (_, Some(_)) => TrialStatus::Failed,
                (true, None) if last => TrialStatus::Finished,
                (true, None) => TrialStatus::Training,
                (false, None) => TrialStatus::Stopped,
            };
            let (now, first) = (self.progress(trial, now)?, self.progress(trial, first)?);
            Ok(LeaderboardEntry::new(trial, now, first, status, error))
        };
        Ok(Leaderboard::new(self.trials.iter().map(place).collect::<Result<_>>()?))
    }

    /// Writes the leaderboard, and copies the best run.
    fn keep(&self, leaderboard: &Leaderboard) -> Result<()> {
        let out = &self.plan.out;
        files::replace(&out.join("leaderboard.csv"), &leaderboard.csv()?)?;
        let Some(best) = leaderboard.best() else { return Ok(()) };
        copy_run(&self.trials[best.trial].located(), &out.join("best"))
    }
}

/// Copies the files of a run to another folder.
///
/// # Errors
/// When a file cannot be read or written.
pub fn copy_run(from: &RunFolder, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create `{}`", to.display()))?;
    for path in [from.config(), from.path().join("metrics.csv"), from.path().join("metrics.jsonl")]
        .into_iter()
        .chain([from.last_state(), from.best_state()])
    {
        let content = fs::read(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
        files::replace(&to.join(path.file_name().unwrap_or_default()), &content)?;
    }
    Ok(())
}
