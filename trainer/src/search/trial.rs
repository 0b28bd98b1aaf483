//! One trial: its values, its config and its run.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use toml::Value;

use super::sharing::claim::{Claim, folder_at_rest, seats};
use super::{SearchPlan, draw};
use crate::config::Config;
use crate::files;
use crate::fit::metrics::MetricFiles;
use crate::fit::{BestEpoch, EpochMetrics, RunFolder};
use crate::runs::TrainedState;

/// A trial of a search.
#[derive(Clone, Debug)]
pub struct Trial {
    /// Its number, counted from 0.
    pub index: usize,
    /// Its values, by key.
    pub values: Vec<(String, Value)>,
    /// The config with these values.
    pub config: Config,
    /// The folder of all trials.
    trials: PathBuf,
    /// Its run folder, unless it is where the trial rests.
    held: Option<PathBuf>,
}

/// The file in a run folder that contains why a trial cannot continue.
const FAILED: &str = "failed.txt";

/// How often files are looked for under the new name of a run folder that was renamed meanwhile.
const ATTEMPTS: usize = 5;

/// The progress of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrialProgress {
    /// Epochs completed.
    pub epochs: usize,
    /// The best of them.
    pub best: Option<BestEpoch>,
}

/// The epochs of a trial that its last state includes.
#[derive(Clone, Debug, Default)]
pub(super) struct TrialHistory {
    epochs: Vec<EpochMetrics>,
    /// Validation loss before the first epoch, of a network with a linear part.
    start_loss: Option<f64>,
}

impl TrialHistory {
    /// The progress up to `epochs`.
    pub(super) fn progress(&self, epochs: usize) -> TrialProgress {
        let counted = || self.epochs.iter().filter(|metrics| metrics.epoch <= epochs);
        let best = counted().rfind(|metrics| metrics.best);
        let best = best.map(|best| BestEpoch { epoch: best.epoch, valid_nll: best.valid_nll });
        // A network that does not improve on its linear part is that part alone.
        let start = self.start_loss.map(|valid_nll| BestEpoch { epoch: 0, valid_nll });
        TrialProgress { epochs: counted().count(), best: best.or(start) }
    }
}

impl Trial {
    /// Draws trial `index` of a search; `base` is the plan's config.
    ///
    /// # Errors
    /// When its values do not make a valid config; the message names them.
    pub fn new(plan: &SearchPlan, base: &Config, index: usize) -> Result<Self> {
        Trial::with_values(plan, draw::values(&base.search, base.seed, index), index)
    }

    /// Trial `index` of a search, with these values.
    ///
    /// # Errors
    /// When they do not make a valid config; the message names them.
    pub fn with_values(plan: &SearchPlan, values: Vec<(String, Value)>, index: usize) -> Result<Self> {
        let mut overrides = plan.overrides.clone();
        overrides.extend(values.iter().map(|(key, value)| format!("{key}={value}")));
        let config = Config::load_with_data(&plan.config, &overrides, plan.data_dir.as_deref())
            .with_context(|| format!("trial {index} of the search ({})", listed(&values)))?;
        Ok(Trial { index, values, config, trials: plan.out.join("trials"), held: None })
    }

    /// A trial of the search in `out` that this process has claimed.
    ///
    /// # Errors
    /// When its config cannot be read.
    pub(super) fn claimed(out: &Path, index: usize, claim: &Claim) -> Result<Self> {
        let trials = out.join("trials");
        let config = Config::load(&config_file(&trials, index), &[])?;
        Ok(Trial { index, values: Vec::new(), config, trials, held: Some(claim.folder().to_path_buf()) })
    }

    /// Its run folder: where this process holds it, or where it rests.
    pub fn run(&self) -> RunFolder {
        match &self.held {
            Some(held) => RunFolder::new(held),
            None => RunFolder::new(&folder_at_rest(&self.trials, self.index)),
        }
    }

    /// Its run folder, whoever holds it.
    pub fn located(&self) -> RunFolder {
        let run = self.run();
        if run.path().is_dir() {
            return run;
        }
        let seats = seats(&self.trials).unwrap_or_default();
        let seat = seats.into_iter().find(|seat| seat.trial == self.index);
        seat.map_or(run, |seat| RunFolder::new(&seat.folder(&self.trials)))
    }

    /// Its config file.
    pub fn config_file(&self) -> PathBuf {
        config_file(&self.trials, self.index)
    }

    /// Whether it has a state.
    pub fn has_begun(&self) -> bool {
        self.run().last_state().exists()
    }

    /// Creates the run folder and writes the config, unless the folder belongs to another search.
    pub(super) fn prepare(&self) -> Result<()> {
        let run = self.located();
        if run.last_state().exists() {
            run.check_config(&self.config).context(
                "this folder contains another search; use the config that it started with, or choose another folder",
            )?;
        }
        let path = self.config_file();
        let (written, text) = (fs::read(&path).ok(), self.config.settled().to_toml()?);
        // A folder that has been created may be on its way from one name to another.
        if written.is_none() || !(0..ATTEMPTS).any(|_| self.located().path().is_dir()) {
            let folder = folder_at_rest(&self.trials, self.index);
            fs::create_dir_all(&folder).with_context(|| format!("cannot create `{}`", folder.display()))?;
        }
        if written.as_deref() == Some(text.as_bytes()) {
            Ok(())
        } else {
            files::replace(&path, text.as_bytes())
        }
    }

    /// The progress of the run, up to `epochs`. Only epochs of its last state count.
    ///
    /// # Errors
    /// When a file of the run cannot be read.
    pub fn progress(&self, epochs: usize) -> Result<TrialProgress> {
        Ok(self.history()?.progress(epochs))
    }

    /// All epochs of the run.
    pub(super) fn history(&self) -> Result<TrialHistory> {
        self.read(|run| {
            if !run.last_state().exists() {
                return Ok(TrialHistory::default());
            }
            let saved = TrainedState::load(&run.last_state())?.epochs();
            let mut epochs = MetricFiles::read(run.path())?;
            epochs.retain(|metrics| metrics.epoch <= saved);
            Ok(TrialHistory { epochs, start_loss: run.start_loss() })
        })
    }

    /// Reads from the run folder, again if it was renamed meanwhile.
    fn read<T>(&self, from: impl Fn(&RunFolder) -> Result<T>) -> Result<T> {
        for _ in 1..ATTEMPTS {
            let run = self.located();
            let found = from(&run);
            if run.path().is_dir() {
                return found;
            }
        }
        from(&self.located())
    }

    /// Why it cannot continue, if it cannot.
    pub(super) fn failure(&self) -> Option<String> {
        self.read(|run| Ok(fs::read_to_string(run.path().join(FAILED))?)).ok()
    }

    /// Keeps why it cannot continue, or that it can.
    pub(super) fn set_failure(&self, reason: Option<&str>) -> Result<()> {
        let path = self.run().path().join(FAILED);
        match reason {
            Some(reason) => files::replace(&path, reason.as_bytes()),
            None => match fs::remove_file(&path) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
                }
                _ => Ok(()),
            },
        }
    }

    /// Bytes of its metrics, which grow with every epoch.
    pub(super) fn metric_bytes(&self) -> u64 {
        self.read(|run| Ok(fs::metadata(run.path().join("metrics.csv"))?.len())).unwrap_or(0)
    }

    /// Whether there is nothing left to train up to `epochs`.
    pub(super) fn is_done(&self, epochs: usize) -> Result<bool> {
        Ok(self.has_completed(&self.history()?.progress(epochs), epochs))
    }

    /// Whether there is nothing left to train up to `epochs` after this progress.
    pub(super) fn has_completed(&self, progress: &TrialProgress, epochs: usize) -> bool {
        let best = progress.best.map_or(0, |best| best.epoch);
        let stale = self.config.stale_epochs(progress.epochs, best);
        let patience = self.config.training.patience;
        progress.epochs >= epochs || (patience > 0 && stale >= patience)
    }
}

fn config_file(trials: &Path, index: usize) -> PathBuf {
    folder_at_rest(trials, index).with_extension("toml")
}

/// Values as `key=value, key=value`.
pub(super) fn listed(values: &[(String, Value)]) -> String {
    values.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}
