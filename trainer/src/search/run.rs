//! A search from its first trial to its best run.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::thread;

use anyhow::{Context, Result, ensure};

use super::halving::{Rung, promote, rungs};
use super::launch::{Launcher, TrialOutcome};
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
    /// Number of trials that train at the same time.
    pub jobs: usize,
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
pub fn run(plan: &SearchPlan, launcher: &dyn Launcher, watch: &dyn SearchProgress) -> Result<Leaderboard> {
    let base = Config::load_with_data(&plan.config, &plan.overrides, plan.data_dir.as_deref())?;
    ensure!(
        !base.search.space.is_empty(),
        "{}: nothing to search; add a section such as\n\n  [search]\n  training.learning_rate = {{ log_uniform = [1e-4, 1e-1] }}",
        plan.config.display()
    );
    let trials = (0..plan.trials).map(|index| Trial::new(plan, &base, index));
    run_trials(plan, trials.collect::<Result<_>>()?, launcher, watch)
}

/// Like [`run`], with trials that somebody else has drawn.
///
/// # Errors
/// As [`run`].
pub fn run_trials(
    plan: &SearchPlan,
    trials: Vec<Trial>,
    launcher: &dyn Launcher,
    watch: &dyn SearchProgress,
) -> Result<Leaderboard> {
    let base = Config::load_with_data(&plan.config, &plan.overrides, plan.data_dir.as_deref())?;
    let _lock = lock(&plan.out, watch)?;
    [plan.out.clone(), plan.out.join("trials"), plan.out.join("best")]
        .iter()
        .for_each(|folder| files::remove_temporary(folder));
    trials.iter().try_for_each(Trial::prepare)?;
    let rungs = rungs(&base.search.halving, trials.len(), base.training.epochs);
    RunningSearch { plan, trials, rungs, launcher, watch, failed: BTreeMap::new() }.run()
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
    launcher: &'a dyn Launcher,
    watch: &'a dyn SearchProgress,
    /// Failed trials, and why.
    failed: BTreeMap<usize, String>,
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
        self.leaderboard(&alive, self.rungs.len() - 1)
    }

    /// The scores that select the trials of a stage: the losses after the stage before. All trials take part
    /// in the first.
    fn scores(&self, alive: &[usize], number: usize) -> Result<Vec<(usize, Option<f64>)>> {
        let score = |&trial: &usize| {
            let Some(before) = number.checked_sub(1) else { return Ok((trial, Some(0.0))) };
            let best = self.trials[trial].progress(self.rungs[before].epochs)?.best;
            let best = best.filter(|_| !self.failed.contains_key(&trial));
            Ok((trial, best.map(|best| best.valid_nll)))
        };
        alive.iter().map(score).collect()
    }

    /// Trains those trials of a stage that have not completed it yet, several at a time.
    fn train_rung(&mut self, number: usize, alive: &[usize]) -> Result<()> {
        let rung = self.rungs[number];
        let mut waiting = VecDeque::new();
        let mut epochs_left = 0;
        for trial in alive.iter().map(|&trial| &self.trials[trial]) {
            if !trial.is_done(rung.epochs)? {
                epochs_left += rung.epochs - trial.progress(rung.epochs)?.epochs;
                waiting.push_back(trial);
            }
        }
        self.watch.rung(number + 1, self.rungs.len(), &rung, epochs_left);
        let queue = Queue { waiting: Mutex::new(waiting), failed: Mutex::new(BTreeMap::new()) };
        thread::scope(|scope| {
            let worker = || scope.spawn(|| self.work(&queue, rung.epochs));
            let workers: Vec<_> = (0..self.plan.jobs.max(1)).map(|_| worker()).collect();
            let joined = workers.into_iter().map(|worker| worker.join().expect("a worker never panics"));
            joined.collect::<Vec<Result<()>>>().into_iter().collect::<Result<()>>()
        })?;
        self.failed.extend(queue.failed.into_inner().expect("a worker never panics"));
        Ok(())
    }

    /// Trains trials from the queue until it is empty. If a problem affects all trials, the queue is cleared.
    fn work(&self, queue: &Queue<'_>, epochs: usize) -> Result<()> {
        while let Some(trial) = queue.next() {
            let outcome = self
                .launcher
                .train(trial, epochs, &|| self.watch.epoch())
                .and_then(|outcome| Ok((trial.progress(epochs)?, outcome)));
            let (progress, outcome) = outcome.inspect_err(|_| queue.clear())?;
            self.watch.trial(trial, &progress, &outcome);
            if let TrialOutcome::Failed(reason) = outcome {
                queue.fail(trial.index, reason);
            }
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
            Ok(LeaderboardEntry::new(trial, trial.progress(now)?, trial.progress(first)?, status, error))
        };
        Ok(Leaderboard::new(self.trials.iter().map(place).collect::<Result<_>>()?))
    }

    /// Writes the leaderboard, and copies the best run.
    fn keep(&self, leaderboard: &Leaderboard) -> Result<()> {
        let out = &self.plan.out;
        files::replace(&out.join("leaderboard.csv"), &leaderboard.csv()?)?;
        let Some(best) = leaderboard.best() else { return Ok(()) };
        copy_run(&self.trials[best.trial].run(), &out.join("best"))
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

/// Waiting and failed trials.
struct Queue<'a> {
    waiting: Mutex<VecDeque<&'a Trial>>,
    failed: Mutex<BTreeMap<usize, String>>,
}

impl<'a> Queue<'a> {
    fn next(&self) -> Option<&'a Trial> {
        self.waiting.lock().expect("a worker never panics").pop_front()
    }

    fn clear(&self) {
        self.waiting.lock().expect("a worker never panics").clear();
    }

    fn fail(&self, trial: usize, reason: String) {
        self.failed.lock().expect("a worker never panics").insert(trial, reason);
    }
}
