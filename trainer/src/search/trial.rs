//! One trial: its values, its config and its run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};
use toml::Value;

use super::{SearchPlan, draw};
use crate::config::Config;
use crate::files;
use crate::fit::metrics::MetricFiles;
use crate::fit::{BestEpoch, RunFolder};
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
    /// Its run folder; its config is next to it.
    path: PathBuf,
}

/// The progress of a trial.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrialProgress {
    /// Epochs completed.
    pub epochs: usize,
    /// The best of them.
    pub best: Option<BestEpoch>,
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
        Ok(Trial { index, values, config, path: plan.out.join("trials").join(format!("{index:04}")) })
    }

    /// Its run folder.
    pub fn run(&self) -> RunFolder {
        RunFolder::new(&self.path)
    }

    /// Its config file.
    pub fn config_file(&self) -> PathBuf {
        self.path.with_extension("toml")
    }

    /// Whether it has a state.
    pub fn has_begun(&self) -> bool {
        self.run().last_state().exists()
    }

    /// Creates the run folder and writes the config, unless the folder belongs to another search.
    pub(super) fn prepare(&self) -> Result<()> {
        if self.has_begun() {
            self.run().check_config(&self.config).context(
                "this folder contains another search; use the config that it started with, or choose another folder",
            )?;
        }
        fs::create_dir_all(&self.path).with_context(|| format!("cannot create `{}`", self.path.display()))?;
        files::replace(&self.config_file(), self.config.settled().to_toml()?.as_bytes())
    }

    /// The progress of the run, up to `epochs`. Only epochs of its last state count.
    ///
    /// # Errors
    /// When a file of the run cannot be read.
    pub fn progress(&self, epochs: usize) -> Result<TrialProgress> {
        let run = self.run();
        if !self.has_begun() {
            return Ok(TrialProgress::default());
        }
        let saved = TrainedState::load(&run.last_state())?.epochs().min(epochs);
        let mut metrics = MetricFiles::read(run.path())?;
        metrics.retain(|metrics| metrics.epoch <= saved);
        let best = metrics.iter().rfind(|metrics| metrics.best);
        let best = best.map(|metrics| BestEpoch { epoch: metrics.epoch, valid_nll: metrics.valid_nll });
        // A network that does not improve on its linear part is that part alone.
        let start = || Some(BestEpoch { epoch: 0, valid_nll: run.start_loss()? });
        Ok(TrialProgress { epochs: metrics.len(), best: best.or_else(start) })
    }

    /// Whether there is nothing left to train up to `epochs`.
    pub(super) fn is_done(&self, epochs: usize) -> Result<bool> {
        let progress = self.progress(epochs)?;
        let best = progress.best.map_or(0, |best| best.epoch);
        let stale = self.config.stale_epochs(progress.epochs, best);
        let patience = self.config.training.patience;
        Ok(progress.epochs >= epochs || (patience > 0 && stale >= patience))
    }
}

/// Values as `key=value, key=value`.
pub(super) fn listed(values: &[(String, Value)]) -> String {
    values.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(", ")
}
