//! Whole searches on a small problem: repeated, interrupted, extended and refused.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, bail};
use tempfile::TempDir;

use super::*;
use crate::config::Config;
use crate::fit;
use crate::runs;

pub(super) const CONFIG: &str = "
seed = 3
[data]
train = 'rows.csv'
targets = 'b'
[model]
cell = 'tanh'
layers = [3]
[training]
epochs = 6
chunk = 20
[search]
training.learning_rate = { log_uniform = [1e-5, 1e-1] }
model.layers = { list = [{ integer = [2, 5] }] }
\"model.cell\" = { choice = ['tanh', 'relu'] }
halving = { first_epochs = 1, factor = 3 }
";

/// A folder with a config and rows whose second column is the first, two steps late.
pub(super) fn experiment(config: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let wave = |t: i32| (0.4 * f64::from(t)).sin() + (0.9 * f64::from(t)).cos();
    let rows: String = (0..150).map(|t| format!("{},{}\n", wave(t), wave(t - 2))).collect();
    std::fs::write(folder.path().join("rows.csv"), format!("a,b\n{rows}")).unwrap();
    std::fs::write(folder.path().join("config.toml"), config).unwrap();
    folder
}

pub(super) fn plan(folder: &Path, trials: usize, out: &str) -> SearchPlan {
    SearchPlan {
        config: folder.join("config.toml"),
        overrides: Vec::new(),
        data_dir: None,
        trials,
        out: folder.join(out),
    }
}

/// Trains in this process.
pub(super) struct InProcess;

impl Launcher for InProcess {
    fn train(&self, trial: &Trial, epochs: usize, _watch: &TrialWatch<'_>) -> Result<TrialOutcome> {
        let mut config = Config::load(&trial.config_file(), &[])?;
        config.training.epochs = epochs;
        let data = config.load_data()?;
        let run = trial.run();
        Ok(
            match runs::train(
                &config,
                &data,
                run.path(),
                fit::TrainOptions::resuming(trial.has_begun()),
                &mut fit::NoProgress,
            ) {
                Ok(_) => TrialOutcome::Done,
                Err(error) => TrialOutcome::Failed(error.to_string()),
            },
        )
    }
}

/// Fails after a number of calls, in the middle of the next one.
struct Interrupted {
    calls: AtomicUsize,
    most: usize,
}

impl Launcher for Interrupted {
    fn train(&self, trial: &Trial, epochs: usize, watch: &TrialWatch<'_>) -> Result<TrialOutcome> {
        if self.calls.fetch_add(1, Ordering::Relaxed) < self.most {
            return InProcess.train(trial, epochs, watch);
        }
        InProcess.train(trial, epochs.div_ceil(2), watch)?;
        bail!("the power is out")
    }
}

pub(super) fn search(plan: &SearchPlan) -> Leaderboard {
    run(plan, &Local::new(&InProcess, 2), &NoSearchProgress).unwrap()
}

pub(super) fn files(folder: PathBuf) -> Vec<Vec<u8>> {
    let names = ["leaderboard.csv", "best/best.state", "best/metrics.csv", "best/config.toml"];
    names.map(|name| std::fs::read(folder.join(name)).unwrap()).to_vec()
}

#[test]
fn the_best_trials_get_the_most_epochs() {
    let folder = experiment(CONFIG);
    let found = search(&plan(folder.path(), 9, "out"));
    let with = |status| found.trials.iter().filter(|place| place.status == status).collect::<Vec<_>>();
    // Nine trials for an epoch, three for two, one for all six.
    let epochs: Vec<usize> = found.trials.iter().map(|place| place.epochs).collect();
    assert_eq!((epochs.iter().filter(|&&done| done == 1).count(), epochs.iter().max()), (6, Some(&6)));
    let finished = with(TrialStatus::Finished);
    assert_eq!(finished.len(), 1);
    assert_eq!(found.best().map(|best| best.trial), Some(finished[0].trial));
    // After the first epoch, none that was stopped was better than one that went on.
    let went_on = found.trials.iter().filter(|place| place.epochs > 1).filter_map(|place| place.first_nll);
    let stopped = found.trials.iter().filter(|place| place.epochs == 1).filter_map(|place| place.first_nll);
    assert!(went_on.fold(f64::MIN, f64::max) <= stopped.fold(f64::MAX, f64::min));
    assert_eq!(found.importance.len(), 3);
    assert!(page("search", &found).sections.len() == 5);
}

#[test]
fn an_interrupted_search_ends_like_one_that_was_not() {
    let folder = experiment(CONFIG);
    let expected = search(&plan(folder.path(), 9, "whole"));
    let parts = plan(folder.path(), 9, "parts");
    for most in [0, 4, 6, 9] {
        let launcher = Interrupted { calls: AtomicUsize::new(0), most };
        let result = run(&parts, &Local::new(&launcher, 2), &NoSearchProgress);
        assert!(result.is_ok() || result.unwrap_err().to_string() == "the power is out");
    }
    assert_eq!(search(&parts), expected);
    assert_eq!(files(folder.path().join("parts")), files(folder.path().join("whole")));
}

#[test]
fn more_trials_leave_the_first_ones_as_they_are() {
    let folder = experiment(CONFIG);
    let few = search(&plan(folder.path(), 3, "out"));
    let more = search(&plan(folder.path(), 6, "out"));
    for place in &few.trials {
        let again = more.trials.iter().find(|other| other.trial == place.trial).unwrap();
        assert_eq!((&place.values, place.first_nll), (&again.values, again.first_nll));
    }
}

#[test]
fn a_trial_that_diverges_fails_alone() {
    let config = CONFIG.replace("{ log_uniform = [1e-5, 1e-1] }", "{ choice = [0.01, 1e38] }");
    let folder = experiment(&format!("{config}training.clip_norm = {{ choice = [0] }}\n"));
    let found = search(&plan(folder.path(), 8, "out"));
    let failed: Vec<_> = found.trials.iter().filter(|place| place.status == TrialStatus::Failed).collect();
    assert!(!failed.is_empty() && failed.len() < 8);
    assert!(failed.iter().all(|place| place.error.as_ref().unwrap().contains("training has stopped")));
    assert_eq!(found.best().unwrap().status, TrialStatus::Finished);
}

#[test]
fn another_search_in_the_folder_is_refused() {
    let folder = experiment(CONFIG);
    search(&plan(folder.path(), 2, "out"));
    let mut other = plan(folder.path(), 2, "out");
    other.overrides = vec!["training.batch=3".into()];
    let error = format!("{:#}", run(&other, &Local::new(&InProcess, 2), &NoSearchProgress).unwrap_err());
    assert!(error.contains("contains another search") && error.contains("`training.batch` is 3"), "{error}");
}

#[test]
fn values_that_make_no_config_are_named_before_anything_starts() {
    for (line, names) in [
        ("init.sparse = { integer = [50, 60] }", ["init.sparse=", "at most the", "trial 0"]),
        ("training.learning_rat = { uniform = [0, 1] }", ["learning_rat", "learning_rate", "trial 0"]),
    ] {
        let folder = experiment(&format!("{CONFIG}{line}\n"));
        let error = format!(
            "{:#}",
            run(&plan(folder.path(), 2, "out"), &Local::new(&InProcess, 2), &NoSearchProgress).unwrap_err()
        );
        assert!(names.iter().all(|name| error.contains(name)), "{error}");
        assert!(!folder.path().join("out").exists());
    }
    let folder = experiment(&CONFIG[..CONFIG.find("[search]").unwrap()]);
    let error = run(&plan(folder.path(), 2, "out"), &Local::new(&InProcess, 2), &NoSearchProgress)
        .unwrap_err()
        .to_string();
    assert!(error.contains("config.toml") && error.contains("nothing to search"), "{error}");
}

#[test]
fn the_published_ranges_make_valid_trials() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for name in ["search_piano_tanh.toml", "search_piano_tanh_open.toml", "search_piano_lstm.toml"] {
        let file = folder.join(name);
        let base = Config::load(&file, &[]).unwrap();
        for index in 0..64 {
            let plan = SearchPlan { config: file.clone(), ..plan(&folder, 64, "out") };
            let trial = Trial::new(&plan, &base, index).unwrap();
            assert_eq!(trial.values.len(), base.search.space.len());
        }
    }
}
