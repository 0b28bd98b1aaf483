//! The training loop: epochs, early stopping, and everything on disk that lets a run go on where it stopped.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use quaver::checkpoint::ModelSpec;

use super::architecture::{Architecture, Judgement, Lesson};
use super::carry::Carried;
use super::folder::RunFolder;
use super::metrics::{EpochMetrics, MetricFiles};
use super::optimiser::{Optimiser, clip};
use super::progress::{Plan, Progress, StepReport};
use super::schedule;
use super::state::{Best, RunState};
use super::step::{Context, RunningMean};
use crate::config::{Config, Keep, Training};
use crate::data::batch;
use crate::data::{Dataset, Scaling, Sequence};
use crate::latent::LatentNets;
use crate::nn::random::{Purpose, stream};

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// Epochs done, those before a resumption included.
    pub epochs: usize,
    /// The best epoch.
    pub best: Option<Best>,
    /// Why training ended.
    pub stop: Stop,
    /// Seconds since this call began to train.
    pub seconds: f64,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// All epochs are done.
    Epochs,
    /// The validation loss has not got better for as many epochs as it may take.
    Patience,
    /// The time is up.
    Time,
}

/// Trains a network on `data` as `config` says, and keeps the run in the folder `out`.
///
/// With `resume`, the run in that folder goes on after its last finished epoch, and ends with the same bits as a run
/// that was never interrupted. A run that was stopped before it had written its first state begins again.
///
/// # Errors
/// When the folder holds another run or none to continue, when a file cannot be written, or when the loss is no longer
/// a number; in that case the state before that epoch stays in the folder.
pub fn train(
    config: &Config,
    data: &Dataset,
    out: &Path,
    resume: bool,
    progress: &mut dyn Progress,
) -> Result<Summary> {
    if config.latent.is_some() {
        train_as::<LatentNets>(config, data, out, resume, progress)
    } else {
        train_as::<ModelSpec>(config, data, out, resume, progress)
    }
}

fn train_as<A: Architecture>(
    config: &Config,
    data: &Dataset,
    out: &Path,
    resume: bool,
    progress: &mut dyn Progress,
) -> Result<Summary> {
    let folder = RunFolder::new(out);
    let metrics = MetricFiles::new(out, config.latent.is_some());
    let fresh = fresh_state::<A>(config, data)?;
    if resume {
        folder.check_config(config)?;
    }
    let state = if resume && folder.last_state().exists() {
        reopen(config, &folder, &metrics, &fresh)?
    } else {
        begin(config, &folder, &metrics, fresh)?
    };
    Run { config, data, folder, metrics, state }.run(progress)
}

/// The state before the first epoch.
fn fresh_state<A: Architecture>(config: &Config, data: &Dataset) -> Result<RunState<A>> {
    let spec = A::design(config, data)?;
    let scaling = Scaling::fit(&data.train);
    let parameters = spec.draw(config, data, &scaling);
    Ok(RunState {
        spec,
        optimiser: Optimiser::new(&config.training, &parameters),
        parameters,
        epoch: 0,
        rate_cuts: 0,
        best: None,
        scaling,
        input_names: data.input_names.clone(),
        target_names: data.target_names.clone(),
    })
}

/// Time steps of the training data with at least one target.
fn observations(data: &Dataset) -> usize {
    let rows = data.train.iter().flat_map(|sequence| sequence.targets.iter());
    rows.filter(|row| row.iter().any(|value| !value.is_nan())).count()
}

/// Lays out a new run. The state comes last: where it is, all else is.
fn begin<A: Architecture>(
    config: &Config,
    folder: &RunFolder,
    metrics: &MetricFiles,
    fresh: RunState<A>,
) -> Result<RunState<A>> {
    folder.create()?;
    folder.write_config(config)?;
    metrics.create()?;
    fresh.save(&folder.last_state())?;
    Ok(fresh)
}

/// Opens a run to go on with.
fn reopen<A: Architecture>(
    config: &Config,
    folder: &RunFolder,
    metrics: &MetricFiles,
    fresh: &RunState<A>,
) -> Result<RunState<A>> {
    let state = RunState::<A>::load(&folder.last_state())?;
    ensure!(
        state.spec == fresh.spec
            && state.scaling == fresh.scaling
            && state.input_names == fresh.input_names
            && state.target_names == fresh.target_names,
        "the data are not those that the run in `{}` began with: restore them, or start another run",
        folder.path().display()
    );
    metrics.truncate(state.epoch)?;
    folder.write_config(config)?;
    Ok(state)
}

/// A run under way.
struct Run<'a, A> {
    config: &'a Config,
    data: &'a Dataset,
    folder: RunFolder,
    metrics: MetricFiles,
    /// The state after the last finished epoch, which is also on disk.
    state: RunState<A>,
}

/// What an epoch of training amounts to.
#[derive(Default)]
struct Tally {
    nll: RunningMean,
    gradient_norm: RunningMean,
    clipped: RunningMean,
}

impl<A: Architecture> Run<'_, A> {
    fn run(mut self, progress: &mut dyn Progress) -> Result<Summary> {
        let clock = Instant::now();
        progress.start(&self.plan());
        let stop = loop {
            if let Some(stop) = self.stop(clock.elapsed()) {
                break stop;
            }
            let begun = Instant::now();
            let metrics = self.epoch(progress)?;
            progress.epoch(&metrics, begun.elapsed().as_secs_f64());
        };
        let seconds = clock.elapsed().as_secs_f64();
        Ok(Summary { epochs: self.state.epoch, best: self.state.best, stop, seconds })
    }

    fn plan(&self) -> Plan {
        let tensors = &self.state.parameters.tensors;
        Plan {
            done: self.state.epoch,
            epochs: self.config.training.epochs,
            steps_per_epoch: self.batches(&self.data.train, 1).len(),
            parameters: tensors.iter().map(|tensor| tensor.values.len()).sum(),
            loss: A::LOSS,
        }
    }

    /// The batches of an epoch, in an order that depends on the seed and the epoch alone.
    fn batches<'a>(&'a self, train: &'a [Sequence], epoch: usize) -> batch::Batches<'a> {
        let Training { chunk, batch, padding, carry_state, .. } = self.config.training;
        let scaling = &self.state.scaling;
        let mut rng = stream(self.config.seed, Purpose::Shuffle { epoch: epoch as u64 });
        if carry_state {
            batch::carried(train, scaling, chunk, batch, &mut rng)
        } else {
            batch::training(train, scaling, chunk, batch, &mut rng).padded(padding)
        }
    }

    fn stop(&self, elapsed: Duration) -> Option<Stop> {
        let Training { epochs, patience, max_minutes, .. } = self.config.training;
        let best = self.state.best.map_or(0, |best| best.epoch);
        let stale = self.config.stale_epochs(self.state.epoch, best);
        if self.state.epoch >= epochs {
            Some(Stop::Epochs)
        } else if patience > 0 && stale >= patience {
            Some(Stop::Patience)
        } else {
            let time_is_up = max_minutes.is_some_and(|minutes| elapsed.as_secs_f64() >= 60.0 * minutes);
            time_is_up.then_some(Stop::Time)
        }
    }

    /// Trains for one epoch and writes it down; what fails leaves the state before it.
    fn epoch(&mut self, progress: &mut dyn Progress) -> Result<EpochMetrics> {
        let mut next = self.state.clone();
        next.epoch += 1;
        let tally = self.learn(&mut next, progress)?;
        let largest = next.parameters.largest();
        self.check_finite("the largest parameter", largest.into(), next.epoch)?;
        let Judgement { nll: valid_nll, kl: valid_kl } = self.validate(&mut next)?;
        let best = match self.config.training.keep {
            Keep::Best => self.state.best.is_none_or(|best| valid_nll < best.valid_nll),
            Keep::Last => true,
        };
        if best {
            next.best = Some(Best { epoch: next.epoch, valid_nll });
        }
        let stale = next.epoch - next.best.map_or(0, |best| best.epoch);
        next.rate_cuts += u32::from(schedule::cuts(&self.config.training, stale));
        let metrics = EpochMetrics {
            epoch: next.epoch,
            train_nll: tally.nll.value().context("data.train: every target is missing")?,
            valid_nll,
            gradient_norm: tally.gradient_norm.value().unwrap_or(0.0),
            clipped: tally.clipped.value().unwrap_or(0.0),
            best,
            valid_kl,
        };
        let done = self.state.epoch;
        self.save(next, &metrics).with_context(|| {
            format!(
                "epoch {} is lost, but the run in `{}` is whole up to epoch {done}: remedy what follows and go on with \
                 --resume",
                metrics.epoch,
                self.folder.path().display()
            )
        })?;
        Ok(metrics)
    }

    /// Steps through all batches of an epoch.
    fn learn(&self, next: &mut RunState<A>, progress: &mut dyn Progress) -> Result<Tally> {
        let training = &self.config.training;
        let limit = if training.clip_norm == 0.0 { f32::INFINITY } else { training.clip_norm };
        let mut tally = Tally::default();
        let divergence_share = self.config.weights.divergence_weight / observations(self.data) as f32;
        let mut carried = Carried::default();
        let units = next.spec.carried_units();
        let train = self.data.train_in(next.epoch as u64);
        let batches = self.batches(&train, next.epoch);
        let count = batches.len() as f64;
        for (index, batch) in batches.enumerate() {
            let start = training.carry_state.then(|| carried.start(&units, &batch));
            let context = Context { divergence_share: Some(divergence_share), start: start.as_deref() };
            // A step counts with what it completes: a warm-up does not begin at zero.
            let epochs = self.state.epoch as f64 + (index + 1) as f64 / count;
            let lesson = Lesson { config: self.config, context, epoch: next.epoch, batch: index, epochs };
            let Some(mut slope) = next.spec.slope(&next.parameters, &batch, &lesson) else { continue };
            carried = Carried::after(&batch, std::mem::take(&mut slope.states));
            let norm = clip(&mut slope.gradients, limit);
            self.check_finite("the training loss", slope.nll, next.epoch)?;
            self.check_finite("the norm of the gradient", norm, next.epoch)?;
            let rate = schedule::learning_rate(training, epochs, self.state.rate_cuts);
            next.optimiser.step(&mut next.parameters, &slope.gradients, rate);
            tally.nll.add(slope.nll, slope.steps);
            tally.gradient_norm.add(norm, 1);
            tally.clipped.add(if norm > f64::from(limit) { 1.0 } else { 0.0 }, 1);
            let train_nll = tally.nll.value().unwrap_or(slope.nll);
            progress.step(&StepReport { epoch: next.epoch, step: index + 1, train_nll });
        }
        Ok(tally)
    }

    fn validate(&self, next: &mut RunState<A>) -> Result<Judgement> {
        let rows = self.config.training.batch;
        let batches = || batch::evaluation(&self.data.valid, &self.state.scaling, rows);
        let judgement = next.spec.judge(self.config, &mut next.parameters, &batches);
        let judgement =
            judgement.context("data.valid: every target is missing, so there is nothing to validate on")?;
        self.check_finite("the validation loss", judgement.nll, next.epoch)?;
        Ok(judgement)
    }

    fn check_finite(&self, what: &str, value: f64, epoch: usize) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        bail!(
            "{what} is {value} in epoch {epoch}, so training has stopped. `{}` holds the state after epoch {}. \
             A smaller training.learning_rate or training.clip_norm often helps; if not, look for extreme values in the data",
            self.folder.last_state().display(),
            self.state.epoch
        )
    }

    /// Metrics first, the last state last: an interruption in between repeats the epoch and drops its metrics.
    fn save(&mut self, next: RunState<A>, metrics: &EpochMetrics) -> Result<()> {
        self.metrics.append(metrics)?;
        if metrics.best {
            next.save(&self.folder.best_state())?;
        }
        next.save(&self.folder.last_state())?;
        self.state = next;
        Ok(())
    }
}
