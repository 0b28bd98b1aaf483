//! Trials by successive halving until time is up.
//!
//! Ridge regression comes first, where a model may be linear: it takes no time. Then a search is a folder of
//! brackets. The first has the default, alone and added to ridge regression; the better one after a third of
//! the epochs trains to its end. Each further bracket has nine trials, of which three train for three times
//! as long and one to its end. Those of every second bracket are drawn at random, those of the others vary
//! the best trial of all brackets before. Trials depend on the seed, their number and these results alone, so
//! that a search that was stopped continues with the command that started it. The folder also keeps how long
//! it has searched so far.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

use super::candidates::Candidates;
use super::experiment::Experiment;
use super::settings::{Settings, TrainingSize};
use crate::config::Config;
use crate::data::Dataset;
use crate::files;
use crate::fit::{EpochMetrics, NoProgress, Progress, RunFolder, TrainOptions};
use crate::runs;
use crate::search::{
    ChildProcesses, Deadline, Local, SearchPlan, SearchProgress, SearchStopped, Trial, TrialOutcome,
    TrialProgress, run_trials,
};

/// Trials of a bracket.
const TRIALS: usize = 9;

/// Both defaults train for one of as many parts of the epochs, then the better one alone.
const FIRST_STAGE: usize = 3;

/// After so many brackets there is nothing new to find.
const MOST_BRACKETS: usize = 100;

/// The longest that the first model takes, in seconds, and its share of the time.
const FIRST_MODEL_SECONDS: f64 = 60.0;
const FIRST_MODEL_SHARE: f64 = 0.15;

/// The longest that the first epoch may take after time is up.
const FIRST_EPOCH_TIME: Duration = Duration::from_secs(24 * 3600);

/// Fewest epochs of a whole run.
const FEWEST_EPOCHS: usize = 9;

/// A search within a time.
pub struct TimedSearch<'a> {
    /// The task.
    pub experiment: &'a Experiment,
    /// Its data.
    pub data: &'a Dataset,
    /// What fits.
    pub candidates: &'a Candidates,
    /// The folder of the search.
    pub out: &'a Path,
    /// The binary that trains.
    pub quaver: PathBuf,
    /// Threads that it uses.
    pub threads: usize,
    /// How long to search, in all calls together.
    pub time: Duration,
    /// Whether somebody has asked to end.
    pub interrupted: Arc<dyn Fn() -> bool + Send + Sync>,
}

/// What a search reports while it runs.
#[derive(Clone, Debug)]
pub enum SearchEvent {
    /// How long an epoch of the default takes, and the epochs of a whole run.
    Planned {
        /// Seconds of an epoch.
        epoch_seconds: f64,
        /// Epochs of a whole run.
        epochs: usize,
    },
    /// A trial has completed a stage.
    Trial {
        /// Its name.
        name: String,
        /// Its epochs so far.
        epochs: usize,
        /// Its validation loss, or why it failed.
        result: Result<f64, String>,
        /// The lowest validation loss so far.
        best: Option<f64>,
        /// Time left.
        left: Duration,
    },
}

/// A trial to keep.
#[derive(Clone, Debug)]
pub struct BestTrial {
    /// Its name.
    pub name: String,
    /// Its run.
    pub run: RunFolder,
    /// Its settings, all of them.
    pub settings: Settings,
    /// Its validation loss.
    pub valid_loss: f64,
}

/// The result of a search.
#[derive(Clone, Debug)]
pub struct TimedSearchReport {
    /// The network with the lowest validation loss; none if none fits, or none has completed an epoch.
    pub network: Option<BestTrial>,
    /// Ridge regression without a network, if that fits.
    pub ridge: Option<BestTrial>,
    /// Every trial by its validation loss, with its name and its epochs.
    pub trials: Vec<(f64, String, usize)>,
    /// Whether somebody has asked to end.
    pub was_interrupted: bool,
    /// Seconds of all calls.
    pub seconds: f64,
}

impl TimedSearchReport {
    /// The network, or ridge regression if there is none.
    ///
    /// # Panics
    /// If there is neither; a search that finds nothing has no report.
    pub fn best(&self) -> &BestTrial {
        self.network.as_ref().or(self.ridge.as_ref()).expect("a report has a model")
    }
}

/// What the folder keeps.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct SearchState {
    size: TrainingSize,
    epochs: usize,
    seconds: f64,
}

impl TimedSearch<'_> {
    /// Searches, or continues.
    ///
    /// # Errors
    /// When the folder contains another search, when no trial has completed an epoch, or a file cannot be
    /// written.
    pub fn run(&self, watch: &(dyn Fn(SearchEvent) + Sync)) -> Result<TimedSearchReport> {
        fs::create_dir_all(self.out).with_context(|| format!("cannot create `{}`", self.out.display()))?;
        let begun = Instant::now();
        if self.candidates.fitting.is_empty() {
            let ridge = self.train_ridge(watch)?;
            return self.report(None, ridge, begun.elapsed().as_secs_f64());
        }
        let mut state = self.state(watch)?;
        let default =
            StartingPoint { settings: self.default_settings(state.size, state.epochs)?, size: state.size };
        self.write_base(&default.settings)?;
        let ridge = self.train_ridge(watch)?;
        let deadline = Deadline {
            at: begun + self.time.saturating_sub(Duration::from_secs_f64(state.seconds)),
            interrupted: Arc::clone(&self.interrupted),
        };
        let before = state.seconds;
        let mut leader: Option<BestTrial> = None;
        for number in 0..MOST_BRACKETS {
            let bracket = self.bracket(number, &default, leader.as_ref())?;
            let best = [&leader, &ridge].into_iter().flatten().map(|trial| trial.valid_loss);
            let best = best.reduce(f64::min);
            let ended = self.train(&bracket, best, &deadline, watch);
            state.seconds = before + begun.elapsed().as_secs_f64();
            self.keep(&state)?;
            match ended {
                Ok(()) => {}
                Err(error) if error.is::<SearchStopped>() => break,
                // Trials of a later bracket may all fail; the default must not.
                Err(error) if number == 0 => return Err(error),
                Err(_) => {}
            }
            leader = self.leader(&bracket, leader)?;
        }
        self.report(Some(&default), ridge, state.seconds)
    }

    /// Trains ridge regression alone, if it fits: once more in every call, because that takes no time.
    fn train_ridge(&self, watch: &(dyn Fn(SearchEvent) + Sync)) -> Result<Option<BestTrial>> {
        let Some(candidate) = &self.candidates.ridge else { return Ok(None) };
        let settings = self.experiment.ridge_settings(candidate.linear);
        let config = self.experiment.config(&settings)?;
        let folder = self.out.join("ridge");
        remove_folder(&folder)?;
        let summary = runs::train(&config, self.data, &folder, TrainOptions::default(), &mut NoProgress)?;
        let valid_loss = summary.best.map_or(f64::INFINITY, |best| best.valid_nll);
        let name = candidate.name();
        let (result, best) = (Ok(valid_loss), Some(valid_loss));
        watch(SearchEvent::Trial { name: name.clone(), epochs: 0, result, best, left: self.time });
        Ok(Some(BestTrial { name, run: RunFolder::new(&folder), settings, valid_loss }))
    }

    /// When a bracket ends: the default has completed an epoch by then, however slow it is.
    fn deadline_of(&self, bracket: &Bracket, deadline: &Deadline) -> Deadline {
        if bracket.number > 0 {
            return deadline.clone();
        }
        let (at, interrupted, first) =
            (deadline.at, Arc::clone(&self.interrupted), bracket.trials[0].clone());
        // Its best state is written before its last one, without which there is nothing to go on from.
        let has_model = move || first.progress(usize::MAX).is_ok_and(|progress| progress.best.is_some());
        Deadline {
            at: at + FIRST_EPOCH_TIME,
            interrupted: Arc::new(move || interrupted() || (Instant::now() >= at && has_model())),
        }
    }

    fn state_file(&self) -> PathBuf {
        self.out.join("state.json")
    }

    fn keep(&self, state: &SearchState) -> Result<()> {
        files::replace(&self.state_file(), serde_json::to_string(state)?.as_bytes())
    }

    /// What the folder keeps; of a new one, how many epochs there is time for.
    fn state(&self, watch: &(dyn Fn(SearchEvent) + Sync)) -> Result<SearchState> {
        let path = self.state_file();
        if path.exists() {
            let text =
                fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
            return serde_json::from_str(&text).with_context(|| {
                format!("{}: not the state of a search; remove it to start again", path.display())
            });
        }
        let rows = self.data.train.iter().map(crate::data::Sequence::len).sum();
        let size = match self.experiment.is_reducer() {
            true => TrainingSize::for_sequences(self.data.train.len()),
            false => TrainingSize::for_rows(rows),
        };
        let begun = Instant::now();
        let epoch_seconds = self.epoch_seconds(size)?;
        let longest = (FIRST_MODEL_SHARE * self.time.as_secs_f64()).min(FIRST_MODEL_SECONDS);
        let affordable = (longest / epoch_seconds.max(1e-3)) as usize;
        let epochs = affordable.clamp(FEWEST_EPOCHS, size.most_epochs());
        watch(SearchEvent::Planned { epoch_seconds, epochs });
        let state = SearchState { size, epochs, seconds: begun.elapsed().as_secs_f64() };
        self.keep(&state)?;
        Ok(state)
    }

    fn default_settings(&self, size: TrainingSize, epochs: usize) -> Result<Settings> {
        let rows = self.data.train.iter().map(crate::data::Sequence::len).sum();
        let all = self.candidates.first(rows);
        let first = all.first().context("no network fits")?;
        Ok(self.experiment.default_settings(size, epochs).with(&first.values()))
    }

    /// Seconds of an epoch of the default, by training one more than needed: the first also warms up.
    fn epoch_seconds(&self, size: TrainingSize) -> Result<f64> {
        let config = self.experiment.config(&self.default_settings(size, 2)?)?;
        let folder = self.out.join("probe");
        remove_folder(&folder)?;
        let mut watch = LastEpoch(f64::INFINITY);
        runs::train(&config, self.data, &folder, TrainOptions::default(), &mut watch)?;
        remove_folder(&folder)?;
        Ok(watch.0)
    }

    /// Writes the config that trials change, or checks that it is the one of before.
    fn write_base(&self, settings: &Settings) -> Result<()> {
        let path = self.base();
        let halving = self.candidates.search().halving;
        let text = self.experiment.config_text(settings, "The default; trials change some of its values.")
            + &format!("\n[search]\nhalving = {{ factor = {} }}\n", halving.factor);
        if let Ok(before) = fs::read_to_string(&path) {
            ensure!(
                before == text,
                "{} contains another fit, of other data, columns, budget or seed: repeat its command to continue it, or \
                 choose another --out",
                self.out.parent().unwrap_or(self.out).display()
            );
        }
        files::replace(&path, text.as_bytes())
    }

    fn base(&self) -> PathBuf {
        self.out.join("base.toml")
    }

    fn folder(&self, number: usize) -> PathBuf {
        self.out.join(format!("bracket-{number:02}"))
    }

    /// The trials of a bracket, given the best of those before it.
    fn bracket(&self, number: usize, default: &StartingPoint, leader: Option<&BestTrial>) -> Result<Bracket> {
        let rows = self.data.train.iter().map(crate::data::Sequence::len).sum();
        let first = self.candidates.first(rows);
        let plan = SearchPlan {
            config: self.base(),
            overrides: if number == 0 { vec![self.first_stage()?] } else { Vec::new() },
            data_dir: None,
            trials: if number == 0 { first.len() } else { TRIALS },
            out: self.folder(number),
        };
        let values = |index: usize| {
            let drawn = number.saturating_sub(1) * TRIALS + index;
            match leader.filter(|_| number.is_multiple_of(2)) {
                _ if number == 0 => first[index].values(),
                Some(leader) => self.candidates.variation(drawn, default.size, &leader.settings),
                None => self.candidates.trial(drawn, default.size),
            }
        };
        let trials: Result<Vec<Trial>> =
            (0..plan.trials).map(|index| Trial::with_values(&plan, values(index), index)).collect();
        Ok(Bracket { number, default: default.settings.clone(), plan, trials: trials? })
    }

    /// How long both defaults train. Halving as in other brackets would compare them after a ninth of the
    /// epochs, when a network alone has hardly begun, and one that is added to ridge regression has nearly
    /// arrived.
    fn first_stage(&self) -> Result<String> {
        let base = Config::load(&self.base(), &[])?;
        Ok(format!("search.halving.first_epochs={}", base.training.epochs.div_ceil(FIRST_STAGE)))
    }

    fn train(
        &self,
        bracket: &Bracket,
        best: Option<f64>,
        deadline: &Deadline,
        watch: &(dyn Fn(SearchEvent) + Sync),
    ) -> Result<()> {
        let launcher = ChildProcesses {
            quaver: self.quaver.clone(),
            threads: self.threads,
            deadline: Some(self.deadline_of(bracket, deadline)),
        };
        let observer = Observer { search: self, bracket, deadline, watch, best: Mutex::new(best) };
        run_trials(&bracket.plan, bracket.trials.clone(), &Local::new(&launcher, 1), &observer).map(|_| ())
    }

    /// The best trial of a bracket and of those before it.
    fn leader(&self, bracket: &Bracket, before: Option<BestTrial>) -> Result<Option<BestTrial>> {
        let mut leader = before;
        for trial in &bracket.trials {
            let Some(found) = trial.progress(usize::MAX)?.best else { continue };
            if leader.as_ref().is_none_or(|best| found.valid_nll < best.valid_loss) {
                leader = Some(BestTrial {
                    name: self.name(bracket.number, trial),
                    run: trial.located(),
                    settings: bracket.default.with(&trial.values),
                    valid_loss: found.valid_nll,
                });
            }
        }
        Ok(leader)
    }

    /// The name of a trial: its architecture and what else it has drawn.
    fn name(&self, number: usize, trial: &Trial) -> String {
        let network =
            self.candidates.of(&trial.values).map_or("default".to_string(), |candidate| candidate.name());
        format!("{number}.{} {network}", trial.index)
    }

    /// All trials of all calls.
    fn report(
        &self,
        default: Option<&StartingPoint>,
        ridge: Option<BestTrial>,
        seconds: f64,
    ) -> Result<TimedSearchReport> {
        let mut network: Option<BestTrial> = None;
        let mut trials: Vec<(f64, String, usize)> =
            ridge.iter().map(|ridge| (ridge.valid_loss, ridge.name.clone(), 0)).collect();
        let numbers = (0..MOST_BRACKETS).take_while(|number| self.folder(*number).exists());
        for (number, default) in numbers.zip(default.into_iter().cycle()) {
            let bracket = self.bracket(number, default, network.as_ref())?;
            network = self.leader(&bracket, network)?;
            for trial in &bracket.trials {
                let progress = trial.progress(usize::MAX)?;
                let Some(found) = progress.best else { continue };
                trials.push((found.valid_nll, self.name(bracket.number, trial), progress.epochs));
            }
        }
        trials.sort_by(|one, other| one.0.total_cmp(&other.0));
        ensure!(
            network.is_some() || ridge.is_some(),
            "it was stopped before the first model had completed an epoch: repeat the command to go on"
        );
        Ok(TimedSearchReport { network, ridge, trials, was_interrupted: (self.interrupted)(), seconds })
    }
}

/// Removes a folder, if there is one.
fn remove_folder(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove `{}`", folder.display()))?;
    }
    Ok(())
}

/// What trials change.
struct StartingPoint {
    settings: Settings,
    size: TrainingSize,
}

/// Some trials that compete.
struct Bracket {
    number: usize,
    /// Settings that trials change.
    default: Settings,
    plan: SearchPlan,
    trials: Vec<Trial>,
}

/// Passes on what happens in a bracket.
struct Observer<'a> {
    search: &'a TimedSearch<'a>,
    bracket: &'a Bracket,
    deadline: &'a Deadline,
    watch: &'a (dyn Fn(SearchEvent) + Sync),
    best: Mutex<Option<f64>>,
}

impl SearchProgress for Observer<'_> {
    fn trial(&self, trial: &Trial, progress: &TrialProgress, outcome: &TrialOutcome) {
        let result = match (outcome, progress.best) {
            (TrialOutcome::Failed(reason), _) => Err(reason.clone()),
            (TrialOutcome::Done, None) => Err("no epoch completed".to_string()),
            (TrialOutcome::Done, Some(best)) => Ok(best.valid_nll),
        };
        let mut best = self.best.lock().expect("no observer panics");
        *best = result.clone().ok().into_iter().chain(*best).reduce(f64::min);
        (self.watch)(SearchEvent::Trial {
            name: self.search.name(self.bracket.number, trial),
            epochs: progress.epochs,
            result,
            best: *best,
            left: self.deadline.at.saturating_duration_since(Instant::now()),
        });
    }
}

/// Remembers how long the last epoch took.
struct LastEpoch(f64);

impl Progress for LastEpoch {
    fn epoch(&mut self, _metrics: &EpochMetrics, seconds: f64) {
        self.0 = seconds;
    }
}
