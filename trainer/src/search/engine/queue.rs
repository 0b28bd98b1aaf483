//! Trials by workers that a job queue starts, such as that of a cluster.
//!
//! The queue is asked how many workers it has, and for more while there are trials that nobody trains.
//! Nothing is remembered between two calls of the search: workers that wait in the queue or run are found
//! again by their name. What happens to trials is read from the folder of the search alone, so that it does
//! not matter why a worker has ended.

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::local::report;
use super::{Engine, Stage};
use crate::search::SearchProgress;
use crate::search::launch::TrialOutcome;
use crate::search::sharing::claim::Seat;
use crate::search::sharing::stale::Watcher;
use crate::search::sharing::tickets::{Ticket, Tickets};
use crate::search::worker::{TrainedTrial, open};

/// A job queue that starts workers.
pub trait JobQueue: Sync {
    /// Checks that the queue can be used from here.
    ///
    /// # Errors
    /// When it cannot, with what to do about it.
    fn check(&self) -> Result<()>;

    /// Asks for workers, and returns a line for people.
    ///
    /// # Errors
    /// When they are refused, with what to do about it.
    fn submit(&self, workers: usize) -> Result<String>;

    /// Workers that wait or run.
    ///
    /// # Errors
    /// When the queue does not answer.
    fn queued(&self) -> Result<Queued>;

    /// What the last worker printed, or where to look for it.
    fn last_words(&self) -> String;

    /// Removes workers that have not started, as far as that is possible.
    fn cancel_waiting(&self) {}
}

/// Workers in a queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Queued {
    /// Those that wait.
    pub waiting: usize,
    /// Those that run.
    pub running: usize,
    /// Why they wait, if the queue gives a reason.
    pub reason: String,
}

impl Queued {
    fn all(&self) -> usize {
        self.waiting + self.running
    }
}

/// An engine on a job queue.
pub struct QueueEngine<'a> {
    /// The queue.
    pub queue: &'a dyn JobQueue,
    /// Workers at a time.
    pub workers: usize,
    /// How often claimants show that they live, and how often queue and folder are looked at.
    pub heartbeat: Duration,
}

/// Times in a row that a queue may give no answer.
const MOST_SILENT: usize = 20;
/// Submissions in a row after which not one epoch was completed.
const MOST_FRUITLESS: usize = 3;
/// The longest time between two submissions for one stage.
const LONGEST_PAUSE: Duration = Duration::from_secs(300);

impl Engine for QueueEngine<'_> {
    fn train(&self, stage: &Stage<'_>, watch: &dyn SearchProgress) -> Result<()> {
        let tickets = Tickets::of(stage.out);
        let mut watcher = Watcher::new(&stage.out.join("trials"), self.heartbeat);
        let mut left: BTreeSet<usize> = stage.trials.iter().map(|trial| trial.index).collect();
        let mut supply = Supply::new(self);
        loop {
            let todo = tickets.left()?;
            let is_left = |trial: &usize| todo.iter().any(|ticket| ticket.trial == *trial);
            let (still, done) = left.into_iter().partition(is_left);
            left = still;
            done_trials(stage, &done, watch)?;
            if left.is_empty() {
                return Ok(());
            }
            let (seats, ended) = watcher.sweep()?;
            for seat in &ended {
                watch.notice(&format!("trial {} goes on: {} has ended", seat.trial, seat.holder()));
            }
            supply.look(stage, &todo, &seats, watch)?;
            thread::sleep(self.heartbeat);
        }
    }

    fn finish(&self) {
        self.queue.cancel_waiting();
    }
}

/// Reports trials whose tickets are gone.
fn done_trials(stage: &Stage<'_>, done: &BTreeSet<usize>, watch: &dyn SearchProgress) -> Result<()> {
    for trial in done.iter().filter_map(|index| stage.trial(*index)) {
        let progress = trial.progress(stage.epochs)?;
        let outcome = trial.failure().map_or(TrialOutcome::Done, TrialOutcome::Failed);
        (0..progress.epochs).for_each(|_| watch.epoch());
        report(stage, &TrainedTrial { index: trial.index, progress, outcome }, watch);
    }
    Ok(())
}

/// Sees to it that there are enough workers.
struct Supply<'a> {
    engine: &'a QueueEngine<'a>,
    /// Answers of the queue that are missing since the last one.
    silent: usize,
    /// Looks in a row at which there were too few workers.
    short: usize,
    last: Option<Submission>,
    pause: Duration,
    fruitless: usize,
    shown: Option<Queued>,
}

/// What was left when workers were asked for.
struct Submission {
    at: Instant,
    progress: (usize, u64),
    /// Whether a trial was held since.
    has_worked: bool,
}

impl<'a> Supply<'a> {
    fn new(engine: &'a QueueEngine<'a>) -> Self {
        let pause = engine.heartbeat;
        Supply { engine, silent: 0, short: 0, last: None, pause, fruitless: 0, shown: None }
    }

    fn look(
        &mut self,
        stage: &Stage<'_>,
        todo: &[Ticket],
        seats: &[Seat],
        watch: &dyn SearchProgress,
    ) -> Result<()> {
        let Some(queued) = self.ask(watch)? else { return Ok(()) };
        if let Some(last) = &mut self.last {
            last.has_worked |= seats.iter().any(|seat| seat.claimant.is_some());
        }
        let free = open(todo, seats).len();
        let missing = self.engine.workers.min(todo.len()).saturating_sub(queued.all()).min(free);
        self.show(&queued, watch);
        self.short = if missing == 0 { 0 } else { self.short + 1 };
        // A look may fall between the end of a worker and that of its ticket, or before a queue lists what it
        // has accepted: the first shortage after a submission may be none.
        let is_due = self.last.as_ref().is_none_or(|last| self.short > 1 && last.at.elapsed() >= self.pause);
        if missing == 0 || !is_due {
            return Ok(());
        }
        self.check_fruit(stage, todo, queued.all())?;
        watch.notice(&self.engine.queue.submit(missing)?);
        if self.last.is_some() {
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        }
        let progress = progress(stage, todo);
        self.last = Some(Submission { at: Instant::now(), progress, has_worked: false });
        self.short = 0;
        Ok(())
    }

    /// The workers in the queue; `None` if it gives no answer this time.
    fn ask(&mut self, watch: &dyn SearchProgress) -> Result<Option<Queued>> {
        match self.engine.queue.queued() {
            Ok(queued) => {
                self.silent = 0;
                Ok(Some(queued))
            }
            Err(error) if self.silent >= MOST_SILENT => {
                Err(error).context("jobs that are in the queue stay there; the same command continues")
            }
            Err(error) => {
                if self.silent == 0 {
                    watch.notice(&format!("asking again: {error:#}"));
                }
                self.silent += 1;
                Ok(None)
            }
        }
    }

    fn show(&mut self, queued: &Queued, watch: &dyn SearchProgress) {
        if self.shown.as_ref() == Some(queued) {
            return;
        }
        if queued.all() > 0 {
            let reason =
                if queued.reason.is_empty() { String::new() } else { format!(" ({})", queued.reason) };
            watch.notice(&format!("workers: {} waiting{reason}, {} running", queued.waiting, queued.running));
        }
        self.shown = Some(queued.clone());
    }

    /// Refuses to submit again and again what comes to nothing.
    fn check_fruit(&mut self, stage: &Stage<'_>, todo: &[Ticket], queued: usize) -> Result<()> {
        let Some(last) = self.last.as_ref().filter(|last| last.progress == progress(stage, todo)) else {
            self.fruitless = 0;
            return Ok(());
        };
        if queued > 0 {
            return Ok(());
        }
        let words = self.engine.queue.last_words();
        if !last.has_worked {
            bail!(
                "no worker has taken a trial, and none is in the queue any more: does every node see `{}` and the program \
                 `quaver` under these paths? {words}",
                stage.out.display()
            );
        }
        self.fruitless += 1;
        if self.fruitless >= MOST_FRUITLESS {
            bail!(
                "{MOST_FRUITLESS} times in a row, every worker has ended before it completed an epoch: allow more time or memory. {words}"
            );
        }
        Ok(())
    }
}

/// What changes with every epoch of a trial that is left.
fn progress(stage: &Stage<'_>, todo: &[Ticket]) -> (usize, u64) {
    let trials = todo.iter().filter_map(|ticket| stage.trial(ticket.trial));
    (todo.len(), trials.map(crate::search::Trial::metric_bytes).sum())
}
