//! The training loop: epochs, early stopping, and the files after each epoch.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::architecture::{Architecture, STREAM_WINDOW, StepContext, ValidationLoss};
use super::average::ParameterAverage;
use super::batches_ahead::with_batches_ahead;
use super::folder::RunFolder;
use super::metrics::{EpochMetrics, MetricFiles};
use super::optimiser::clip;
use super::progress::{Progress, RunPlan, StepReport};
use super::schedule;
use super::state::{BestEpoch, RunState};
use super::step::{BatchContext, RunningMean};
use super::truncated_bptt::CarriedStates;
use crate::config::{Config, StateSelection, TrainingConfig};
use crate::data::batch::{self, Batch};
use crate::data::{Dataset, InputGaps, LinearPart, Scaling, Sequence};
use crate::nn::parallel::default_threads;
use crate::random::{Purpose, stream};

/// The result of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RunSummary {
    /// Epochs completed, those before resuming included.
    pub epochs: usize,
    /// The best epoch.
    pub best: Option<BestEpoch>,
    /// Why training ended.
    pub stop: StopReason,
    /// Duration of training in this call, in seconds.
    pub seconds: f64,
    /// What to add to a validation loss for densities in raw units; nothing if the loss is not standardised.
    pub log_scale: Option<f64>,
}

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The maximum number of epochs was reached.
    Epochs,
    /// The validation loss has not improved for `training.patience` epochs.
    Patience,
    /// The time limit was reached.
    Time,
}

/// The validation data as batches: whole sequences, or windows of one stream.
pub(super) fn valid_batches<'a, A: Architecture>(
    data: &'a Dataset,
    scaling: &'a Scaling,
    training: &TrainingConfig,
) -> batch::Batches<'a> {
    if A::STREAM {
        return batch::lanes(&data.valid, scaling, STREAM_WINDOW, 1);
    }
    batch::evaluation(&data.valid, scaling, training.batch)
}

/// The state as it is evaluated and exported: averaged parameters if there are any, and noise that is
/// refitted to the validation data if the config says so.
pub fn evaluated_state<A: Architecture>(state: &RunState<A>, config: &Config, data: &Dataset) -> RunState<A> {
    let mut evaluated = state.for_evaluation();
    if config.training.refit_noise {
        let batches = valid_batches::<A>(data, &state.scaling, &config.training);
        state.spec.refit_noise(&mut evaluated.parameters, batches);
    }
    evaluated
}

/// Sets the noise variance of a state before its first epoch to the one that fits the validation data best.
pub(crate) fn fit_noise<A: Architecture>(state: &mut RunState<A>, config: &Config, data: &Dataset) {
    let batches = valid_batches::<A>(data, &state.scaling, &config.training);
    state.spec.refit_noise(&mut state.parameters, batches);
    if let Some(average) = &mut state.average {
        *average = ParameterAverage::new(&state.parameters);
    }
}

/// A run in progress.
pub(super) struct Run<'a, A> {
    pub(super) config: &'a Config,
    pub(super) data: &'a Dataset,
    pub(super) folder: RunFolder,
    pub(super) metrics: MetricFiles,
    /// The state after the last completed epoch, which is also on disk.
    pub(super) state: RunState<A>,
}

/// Means and counts over one epoch of training.
#[derive(Default)]
struct EpochTotals {
    nll: RunningMean,
    gradient_norm: RunningMean,
    clipped: RunningMean,
    /// Steps left out, in all and since the last one that was not.
    skipped: usize,
    skipped_in_a_row: usize,
}

/// Steps without a finite gradient in a row after which a run ends: one is a batch that overflows, several
/// are a network that does.
const MOST_SKIPPED: usize = 3;

/// Steps of an epoch below which there is a hint.
const FEW_STEPS: usize = 4;

impl<A: Architecture> Run<'_, A> {
    pub(super) fn run(mut self, progress: &mut dyn Progress) -> Result<RunSummary> {
        let clock = Instant::now();
        if self.state.scaling.linear.is_some() && self.state.epoch == 0 && self.state.best.is_none() {
            self.score_start(progress)?;
        }
        let plan = self.plan();
        self.few_steps(plan.steps_per_epoch).iter().for_each(|hint| progress.notice(hint));
        progress.start(&plan);
        let stop = loop {
            if let Some(stop) = self.stop(clock.elapsed()) {
                break stop;
            }
            let begun = Instant::now();
            let metrics = self.epoch(progress)?;
            progress.epoch(&metrics, begun.elapsed().as_secs_f64());
        };
        let seconds = clock.elapsed().as_secs_f64();
        let standardised = self.config.loss_is_standardised();
        let log_scale = standardised.then(|| self.state.scaling.targets.log_scale(&self.data.valid));
        Ok(RunSummary { epochs: self.state.epoch, best: self.state.best, stop, seconds, log_scale })
    }

    /// What to try where an epoch has too few steps for a network to learn much.
    fn few_steps(&self, steps: usize) -> Option<String> {
        let TrainingConfig { chunk, batch, .. } = self.config.training;
        let is_few = steps < FEW_STEPS && self.epochs() > 0 && !A::STREAM && !A::LABELLED && chunk > 0;
        let smaller = [("training.batch", batch, 4), ("training.chunk", chunk, 20)];
        let advice: Vec<String> = smaller
            .into_iter()
            .filter(|(_, value, least)| value > least)
            .map(|(key, _, least)| format!("{key} = {least}"))
            .collect();
        (is_few && !advice.is_empty()).then(|| {
            let rows: usize = self.data.train.iter().map(Sequence::len).sum();
            format!(
                "{rows} training rows make {steps} {} per epoch, with {batch} chunks of {chunk} rows in each: {} would make \
                 more of them, and training.epochs more in all",
                if steps == 1 { "step" } else { "steps" },
                advice.join(" and ")
            )
        })
    }

    /// Epochs to train for: none where there is no network.
    fn epochs(&self) -> usize {
        if self.state.spec.has_network() { self.config.training.epochs } else { 0 }
    }

    /// Scores the linear part alone, with which training begins, and saves it as the best state so far: what
    /// a network does not improve on the validation data is not kept.
    fn score_start(&mut self, progress: &mut dyn Progress) -> Result<()> {
        let mut start = self.state.clone();
        let ValidationLoss { nll: valid_nll, .. } = self.validate(&mut start)?;
        start.best = Some(BestEpoch { epoch: 0, valid_nll });
        evaluated_state(&start, self.config, self.data).save(&self.folder.best_state())?;
        self.folder.write_start_loss(valid_nll)?;
        start.save(&self.folder.last_state())?;
        if let Some(LinearPart { rows, penalty, .. }) = &start.scaling.linear {
            progress.notice(&format!(
                "ridge regression on the last {rows} rows, penalty {penalty}: validation {} {valid_nll:.4}",
                self.config.loss_name()
            ));
        }
        self.state = start;
        Ok(())
    }

    fn plan(&self) -> RunPlan {
        let tensors = &self.state.parameters.tensors;
        RunPlan {
            done: self.state.epoch,
            epochs: self.epochs(),
            steps_per_epoch: self.batches(&self.train_in(1), 1).len(),
            parameters: tensors.iter().map(|tensor| tensor.values.len()).sum(),
            loss: self.config.loss_name(),
            per_token: A::STREAM,
        }
    }

    /// The training sequences of an epoch. Chunks with carried state share one transform.
    fn train_in(&self, epoch: usize) -> Cow<'_, [Sequence]> {
        let TrainingConfig { chunk, carry_state, .. } = self.config.training;
        let train = self.data.train_in(epoch as u64, if carry_state { 0 } else { chunk });
        match self.data.changes.gaps.as_ref().filter(|gaps| self.learns_with(gaps)) {
            Some(gaps) => Cow::Owned(gaps.on_epoch(&train, epoch as u64, chunk)),
            None => train,
        }
    }

    /// A run of an earlier version, whose state has no density of the inputs, goes on without default gaps.
    fn learns_with(&self, gaps: &InputGaps) -> bool {
        self.state.scaling.density.is_some() || !gaps.is_default
    }

    /// The batches of an epoch, in an order that depends only on the seed and the epoch.
    fn batches<'a>(&'a self, train: &'a [Sequence], epoch: usize) -> batch::Batches<'a> {
        let TrainingConfig { chunk, batch, padding, carry_state, .. } = self.config.training;
        let scaling = &self.state.scaling;
        let mut rng = stream(self.config.seed, Purpose::Shuffle { epoch: epoch as u64 });
        if A::LABELLED {
            let balanced = self.config.reduce.as_ref().is_some_and(|reduce| reduce.balanced);
            batch::by_class(train, scaling, batch, balanced, &mut rng)
        } else if carry_state && A::STREAM {
            batch::lanes(train, scaling, chunk, batch)
        } else if carry_state {
            batch::carried(train, scaling, chunk, batch, &mut rng)
        } else {
            batch::training(train, scaling, chunk, batch, &mut rng).padded(padding)
        }
    }

    fn stop(&self, elapsed: Duration) -> Option<StopReason> {
        let TrainingConfig { patience, max_minutes, .. } = self.config.training;
        let best = self.state.best.map_or(0, |best| best.epoch);
        let stale = self.config.stale_epochs(self.state.epoch, best);
        if self.state.epoch >= self.epochs() {
            Some(StopReason::Epochs)
        } else if patience > 0 && stale >= patience {
            Some(StopReason::Patience)
        } else {
            let time_is_up = max_minutes.is_some_and(|minutes| elapsed.as_secs_f64() >= 60.0 * minutes);
            time_is_up.then_some(StopReason::Time)
        }
    }

    /// Trains for one epoch and saves it; a failure leaves the state before it.
    fn epoch(&mut self, progress: &mut dyn Progress) -> Result<EpochMetrics> {
        let mut next = self.state.clone();
        next.epoch += 1;
        let totals = self.learn(&mut next, progress)?;
        let largest = next.parameters.largest();
        self.check_finite("the largest parameter", largest.into(), next.epoch)?;
        let ValidationLoss { nll: valid_nll, kl: valid_kl } = self.validate(&mut next)?;
        let best = match self.config.training.keep {
            StateSelection::Best => self.state.best.is_none_or(|best| valid_nll < best.valid_nll),
            StateSelection::Last => true,
        };
        if best {
            next.best = Some(BestEpoch { epoch: next.epoch, valid_nll });
        }
        let stale = next.epoch - next.best.map_or(0, |best| best.epoch);
        next.rate_cuts += u32::from(schedule::cuts(&self.config.training, stale));
        let metrics = EpochMetrics {
            epoch: next.epoch,
            train_nll: self.train_nll(&totals, next.epoch)?,
            valid_nll,
            gradient_norm: totals.gradient_norm.value().unwrap_or(0.0),
            clipped: totals.clipped.value().unwrap_or(0.0),
            best,
            valid_kl,
            skipped: totals.skipped,
        };
        let done = self.state.epoch;
        self.save(next, &metrics).with_context(|| {
            format!(
                "epoch {} is lost, but the run in `{}` is intact up to epoch {done}: fix the following problem and continue with \
                 --resume",
                metrics.epoch,
                self.folder.path().display()
            )
        })?;
        Ok(metrics)
    }

    /// Runs the optimiser over all batches of an epoch.
    fn learn(&self, next: &mut RunState<A>, progress: &mut dyn Progress) -> Result<EpochTotals> {
        let train = self.train_in(next.epoch);
        let batches = self.batches(&train, next.epoch);
        let count = batches.len();
        with_batches_ahead(default_threads(), batches, |batches| {
            self.learn_from(batches, count, next, progress)
        })
    }

    /// The same from these batches, `count` of them.
    fn learn_from(
        &self,
        batches: &mut dyn Iterator<Item = Batch>,
        count: usize,
        next: &mut RunState<A>,
        progress: &mut dyn Progress,
    ) -> Result<EpochTotals> {
        let training = &self.config.training;
        let limit = if training.clip_norm == 0.0 { f32::INFINITY } else { training.clip_norm };
        let mut totals = EpochTotals::default();
        let divergence_share = self.config.weights.divergence_weight / A::observations(self.data) as f32;
        let mut carried = CarriedStates::default();
        let units = next.spec.carried_units();
        for (index, batch) in batches.enumerate() {
            let start = training.carry_state.then(|| carried.start(&units, &batch));
            let context = BatchContext { divergence_share: Some(divergence_share), start: start.as_deref() };
            // The progress after this step, so that a warm-up does not start at a rate of zero.
            let epochs = self.state.epoch as f64 + (index + 1) as f64 / count as f64;
            let (config, epoch) = (self.config, next.epoch);
            let step = StepContext { batch: &batch, config, context, epoch, index, epochs };
            let Some(mut batch_loss) = next.spec.loss_and_gradient(&next.parameters, &step) else {
                continue;
            };
            let norm = clip(&mut batch_loss.gradients, limit);
            if !(batch_loss.nll.is_finite() && norm.is_finite()) {
                // Its final states are not finite either: the next chunks start from zero.
                carried = CarriedStates::default();
                self.skip(&mut totals, batch_loss.nll, norm, next.epoch)?;
                continue;
            }
            totals.skipped_in_a_row = 0;
            carried = CarriedStates::after(&batch, std::mem::take(&mut batch_loss.states));
            let rate = schedule::learning_rate(training, epochs, self.state.rate_cuts);
            next.optimiser.step(&mut next.parameters, &batch_loss.gradients, rate);
            if let Some(average) = &mut next.average {
                average.add(&next.parameters, training.average);
            }
            totals.nll.add(batch_loss.nll, batch_loss.steps);
            totals.gradient_norm.add(norm, 1);
            totals.clipped.add(if norm > f64::from(limit) { 1.0 } else { 0.0 }, 1);
            let train_nll = totals.nll.value().unwrap_or(batch_loss.nll);
            progress.step(&StepReport { epoch: next.epoch, step: index + 1, train_nll });
        }
        Ok(totals)
    }

    /// Leaves a step out, or ends the run if there have been too many.
    fn skip(&self, totals: &mut EpochTotals, nll: f64, norm: f64, epoch: usize) -> Result<()> {
        totals.skipped += 1;
        totals.skipped_in_a_row += 1;
        if totals.skipped_in_a_row < MOST_SKIPPED {
            return Ok(());
        }
        let what = format!("for {MOST_SKIPPED} steps in a row,");
        self.check_finite(&format!("{what} the training loss"), nll, epoch)?;
        self.check_finite(&format!("{what} the norm of the gradient"), norm, epoch)
    }

    fn train_nll(&self, totals: &EpochTotals, epoch: usize) -> Result<f64> {
        if let (None, true) = (totals.nll.value(), totals.skipped > 0) {
            self.check_finite("the loss or gradient of every step", f64::NAN, epoch)?;
        }
        totals.nll.value().context("data.train: every target is missing")
    }

    fn validate(&self, next: &mut RunState<A>) -> Result<ValidationLoss> {
        let valid = || self.valid_batches();
        let train = || batch::evaluation(&self.data.train, &self.state.scaling, self.config.training.batch);
        let spec = next.spec.clone();
        let validation = spec.validate_by_training(self.config, next.evaluated_parameters(), &valid, &train);
        let validation =
            validation.context("data.valid: every target is missing, so validation is impossible")?;
        self.check_finite("the validation loss", validation.nll, next.epoch)?;
        Ok(validation)
    }

    fn valid_batches(&self) -> batch::Batches<'_> {
        valid_batches::<A>(self.data, &self.state.scaling, &self.config.training)
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

    /// Metrics first, the last state last: after an interruption in between, the epoch is repeated and its
    /// metrics are removed.
    fn save(&mut self, next: RunState<A>, metrics: &EpochMetrics) -> Result<()> {
        self.metrics.append(metrics)?;
        if metrics.best {
            let best = evaluated_state(&next, self.config, self.data);
            best.save(&self.folder.best_state())?;
        }
        next.save(&self.folder.last_state())?;
        self.state = next;
        Ok(())
    }
}
