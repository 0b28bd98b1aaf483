//! Trials in the order of what they achieved.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;
use toml::Value;

use super::importance::{KeyImportance, importances};
use super::{Trial, TrialProgress};

/// All trials, the best first, and what made the difference.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaderboard {
    /// The trials, the lowest validation loss first; those without one last.
    pub trials: Vec<LeaderboardEntry>,
    /// The keys that were searched, the most important first.
    pub importance: Vec<KeyImportance>,
}

/// A trial and what it achieved.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaderboardEntry {
    /// Its number.
    pub trial: usize,
    /// Its lowest validation loss in nats per time step.
    pub valid_nll: Option<f64>,
    /// The epoch of that loss.
    pub best_epoch: Option<usize>,
    /// Epochs done.
    pub epochs: usize,
    /// Its lowest validation loss within the epochs that every trial got.
    pub first_nll: Option<f64>,
    /// What became of it.
    pub status: TrialStatus,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What was drawn for it.
    pub values: BTreeMap<String, Value>,
}

/// What became of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialStatus {
    /// Among those that were trained to the end.
    Finished,
    /// Stopped early in favour of better ones.
    Stopped,
    /// Still under way.
    Training,
    /// It could not go on.
    Failed,
}

impl TrialStatus {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            TrialStatus::Finished => "finished",
            TrialStatus::Stopped => "stopped",
            TrialStatus::Training => "training",
            TrialStatus::Failed => "failed",
        }
    }
}

impl LeaderboardEntry {
    pub(super) fn new(
        trial: &Trial,
        now: TrialProgress,
        first: TrialProgress,
        status: TrialStatus,
        error: Option<String>,
    ) -> Self {
        LeaderboardEntry {
            trial: trial.index,
            valid_nll: now.best.map(|best| best.valid_nll),
            best_epoch: now.best.map(|best| best.epoch),
            epochs: now.epochs,
            first_nll: first.best.map(|best| best.valid_nll),
            status,
            error,
            values: trial.values.iter().cloned().collect(),
        }
    }
}

impl Leaderboard {
    /// Puts trials in order and finds what mattered.
    pub fn new(mut trials: Vec<LeaderboardEntry>) -> Self {
        let by_loss = |a: &LeaderboardEntry, b: &LeaderboardEntry| {
            let loss = |place: &LeaderboardEntry| place.valid_nll.unwrap_or(f64::INFINITY);
            loss(a).total_cmp(&loss(b)).then(a.trial.cmp(&b.trial))
        };
        trials.sort_by(by_loss);
        let importance = importances(&trials);
        Leaderboard { trials, importance }
    }

    /// The best trial, if any has a loss.
    pub fn best(&self) -> Option<&LeaderboardEntry> {
        self.trials.first().filter(|place| place.valid_nll.is_some())
    }

    /// Headings and cells of a table for people: a column per searched key at the end.
    pub fn table(&self) -> Vec<Vec<String>> {
        self.rows(|nll| format!("{nll:.4}"))
    }

    fn rows(&self, loss: impl Fn(f64) -> String) -> Vec<Vec<String>> {
        let keys = self.keys();
        let heading = ["rank", "trial", "valid_nll", "best_epoch", "epochs", "status"].map(String::from);
        let heading = heading.into_iter().chain(keys.iter().map(|key| key.to_string())).collect();
        let row = |(rank, place): (usize, &LeaderboardEntry)| {
            let or_blank = |value: Option<String>| value.unwrap_or_default();
            let cells = [
                (rank + 1).to_string(),
                place.trial.to_string(),
                or_blank(place.valid_nll.map(&loss)),
                or_blank(place.best_epoch.map(|epoch| epoch.to_string())),
                place.epochs.to_string(),
                place.status.name().to_string(),
            ];
            cells.into_iter().chain(keys.iter().map(|key| shown(&place.values[*key]))).collect()
        };
        std::iter::once(heading).chain(self.trials.iter().enumerate().map(row)).collect()
    }

    /// The keys that were searched, in their own order.
    fn keys(&self) -> Vec<&String> {
        self.trials.first().map_or(Vec::new(), |place| place.values.keys().collect())
    }

    /// The table as CSV, losses with all their digits.
    ///
    /// # Errors
    /// None that a table of text could cause.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in self.rows(|nll| nll.to_string()) {
            writer.write_record(row).context("cannot write the leaderboard as CSV")?;
        }
        writer.into_inner().context("cannot write the leaderboard as CSV")
    }
}

/// A value without the quotes that TOML puts around strings.
pub(super) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
