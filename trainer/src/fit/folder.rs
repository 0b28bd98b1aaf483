//! The run folder: its files, and whether a run may be resumed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::files;
use crate::files::lock::{self, Locking};

/// Keys that may change when a run is resumed: they determine when it ends, not what it computes.
const FREE: [&str; 3] = ["training.epochs", "training.patience", "training.max_minutes"];

/// The files of a run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

/// What the linear part of a model reaches alone.
#[derive(Serialize, Deserialize)]
struct StartLoss {
    valid_nll: f64,
}

impl RunFolder {
    /// The run in `path`, which need not exist yet.
    pub fn new(path: &Path) -> Self {
        RunFolder { path: path.to_path_buf() }
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The config of the run.
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// The state after the last completed epoch.
    pub fn last_state(&self) -> PathBuf {
        self.path.join("last.state")
    }

    /// The state after the epoch with the lowest validation loss.
    pub fn best_state(&self) -> PathBuf {
        self.path.join("best.state")
    }

    /// The validation loss of the linear part alone, before the first epoch, if the model has one.
    fn start(&self) -> PathBuf {
        self.path.join("start.json")
    }

    /// Keeps the validation loss before the first epoch.
    pub(super) fn write_start_loss(&self, valid_nll: f64) -> Result<()> {
        let text = serde_json::to_string(&StartLoss { valid_nll })?;
        files::replace(&self.start(), text.as_bytes())
    }

    /// The validation loss before the first epoch; none for models that start at random.
    pub fn start_loss(&self) -> Option<f64> {
        let text = fs::read_to_string(self.start()).ok()?;
        serde_json::from_str::<StartLoss>(&text).ok().map(|start| start.valid_nll)
    }

    /// Creates the folder for a new run, unless it exists.
    pub(super) fn create(&self) -> Result<()> {
        fs::create_dir_all(&self.path)
            .with_context(|| format!("cannot create the run folder `{}`", self.path.display()))
    }

    /// Refuses to start a run where there is one.
    ///
    /// # Errors
    /// If the folder contains a run; the message names it.
    pub fn check_empty(&self) -> Result<()> {
        if self.last_state().exists() {
            bail!(
                "`{}` already contains a run: continue it with --resume, or choose another folder",
                self.path.display()
            );
        }
        Ok(())
    }

    /// Excludes other processes from the folder. Where there are no locks, returns a notice instead.
    pub(super) fn lock(&self) -> Result<Result<File, String>> {
        Ok(match lock::lock(&self.path)? {
            Locking::Locked(file) => Ok(file),
            Locking::Unsupported => Err(lock::unsupported(&self.path)),
        })
    }

    /// Writes the config of the run.
    pub(super) fn write_config(&self, config: &Config) -> Result<()> {
        files::replace(&self.config(), config.settled().to_toml()?.as_bytes())
    }

    /// Refuses a config that would not continue the run.
    ///
    /// # Errors
    /// Names the key that differs, or reports that there is no run.
    pub fn check_config(&self, config: &Config) -> Result<()> {
        let path = self.config();
        let as_run = fs::read_to_string(&path)
            .with_context(|| format!("cannot read `{}`, so there is no run to continue", path.display()))?;
        // Parsed rather than compared as text, so that keys which have been renamed since compare equal.
        let before = Config::parse(&path.display().to_string(), &as_run, &[])?;
        let (before, now) = (before.settled().settings()?, config.settled().settings()?);
        let keys = before.keys().chain(now.keys());
        for key in keys.filter(|key| !FREE.contains(&key.as_str())) {
            if before.get(key) != now.get(key) {
                let shown = |value: Option<&String>| value.map_or("not set", String::as_str).to_string();
                bail!(
                    "`{key}` is {} but was {} when the run in `{}` started: restore it to resume that run, \
                     or start a new run in another folder",
                    shown(now.get(key)),
                    shown(before.get(key)),
                    self.path.display()
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(text: &str) -> Config {
        let text = format!("[data]\ntrain = \"a.csv\"\ntargets = \"next\"\n{text}");
        Config::parse("test.toml", &text, &[]).unwrap()
    }

    #[test]
    fn what_ends_a_run_may_change_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(place.path());
        folder.write_config(&config("")).unwrap();
        assert!(folder.check_config(&config("")).is_ok());
        assert!(folder.check_config(&config("[training]\nepochs = 99\nmax_minutes = 1.5")).is_ok());
        let error = folder.check_config(&config("[training]\nbatch = 3")).unwrap_err().to_string();
        assert!(error.starts_with("`training.batch` is 3 but was 16"), "{error}");
        let error = folder.check_config(&config("[init]\ninput_std_dev = 0.5")).unwrap_err().to_string();
        assert!(error.starts_with("`init.input_std_dev` is 0.5 but was not set"), "{error}");
    }

    #[test]
    fn a_folder_with_a_run_is_not_overwritten() {
        let place = tempfile::tempdir().unwrap();
        let folder = RunFolder::new(place.path());
        folder.create().unwrap();
        folder.check_empty().unwrap();
        fs::write(folder.last_state(), "").unwrap();
        assert!(folder.check_empty().unwrap_err().to_string().contains("--resume"));
    }

    #[test]
    fn without_a_config_there_is_nothing_to_continue() {
        let folder = RunFolder::new(Path::new("no/such/run"));
        let error = folder.check_config(&config("")).unwrap_err().to_string();
        assert!(error.contains("no run to continue"), "{error}");
    }
}
