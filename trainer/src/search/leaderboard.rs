//! The trials by their validation loss.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;
use toml::Value;

use super::importance::{KeyImportance, importances};
use super::{Trial, TrialProgress};
use crate::data::csv::spreadsheet;
use crate::printable::escaped;

/// All trials, the best first, and the importance of the searched keys.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Leaderboard {
    /// The trials, the lowest validation loss first; those without one last.
    pub trials: Vec<LeaderboardEntry>,
    /// The keys that were searched, the most important first.
    pub importance: Vec<KeyImportance>,
}

/// A trial and its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeaderboardEntry {
    /// Its number.
    pub trial: usize,
    /// Its lowest validation loss in nats per time step.
    pub valid_nll: Option<f64>,
    /// The epoch of that loss.
    pub best_epoch: Option<usize>,
    /// Epochs completed.
    pub epochs: usize,
    /// Its lowest validation loss in the first stage.
    pub first_nll: Option<f64>,
    /// Its status.
    pub status: TrialStatus,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Its values.
    pub values: BTreeMap<String, Value>,
}

/// The status of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TrialStatus {
    /// Trained to the end.
    Finished,
    /// Stopped early in favour of better ones.
    Stopped,
    /// In progress.
    Training,
    /// It failed.
    Failed,
}

impl TrialStatus {
    /// The status in one word.
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
    /// Sorts the trials and computes the importance of the keys.
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

    /// Headings and cells of a table, with a column per searched key at the end.
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

    /// The searched keys, in order.
    fn keys(&self) -> Vec<&String> {
        self.trials.first().map_or(Vec::new(), |place| place.values.keys().collect())
    }

    /// The table as CSV, with all digits of the losses.
    ///
    /// # Errors
    /// When the table cannot be formatted.
    pub fn csv(&self) -> Result<Vec<u8>> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        for row in self.rows(|nll| nll.to_string()) {
            let row = row.iter().map(|cell| escaped(&spreadsheet::guarded(cell)).into_owned());
            writer.write_record(row).context("cannot write the leaderboard as CSV")?;
        }
        writer.into_inner().context("cannot write the leaderboard as CSV")
    }
}

/// A value without the quotes of a TOML string.
pub(super) fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
