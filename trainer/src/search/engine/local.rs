//! Trials in child processes of this one.

use std::process;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::{Engine, Stage};
use crate::search::SearchProgress;
use crate::search::launch::Launcher;
use crate::search::sharing::claim::Seat;
use crate::search::sharing::stale::Watcher;
use crate::search::sharing::tickets::{Ticket, Tickets};
use crate::search::worker::{self, HEARTBEAT, TrainedTrial, Worker};

/// Trains several trials at a time on this machine. Workers on other machines may join in.
pub struct Local<'a> {
    /// What trains a trial.
    pub launcher: &'a dyn Launcher,
    /// Number of trials at a time.
    pub jobs: usize,
    /// How often claimants show that they live.
    pub heartbeat: Duration,
}

impl<'a> Local<'a> {
    /// With the usual heartbeat.
    pub fn new(launcher: &'a dyn Launcher, jobs: usize) -> Self {
        Local { launcher, jobs, heartbeat: HEARTBEAT }
    }
}

/// How often trials that others hold are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often the last worker looks whether a trial that this process holds is done.
const LAST_LOOKS_EVERY: Duration = Duration::from_millis(20);

impl Engine for Local<'_> {
    fn train(&self, stage: &Stage<'_>, watch: &dyn SearchProgress) -> Result<()> {
        let watcher = Watcher::new(&stage.out.join("trials"), self.heartbeat);
        let jobs = self.jobs.max(1);
        let (stop, at_work) = (AtomicBool::new(false), AtomicUsize::new(jobs));
        let shared = Shared { stop, at_work, others: Mutex::new((watcher, false)) };
        thread::scope(|scope| {
            let job = || scope.spawn(|| self.work(stage, &shared, watch));
            let jobs: Vec<_> = (0..jobs).map(|_| job()).collect();
            let joined = jobs.into_iter().map(|job| job.join().expect("a worker never panics"));
            joined.collect::<Vec<Result<()>>>().into_iter().collect()
        })
    }
}

/// What the workers of a stage share.
struct Shared {
    /// Whether a problem affects all trials.
    stop: AtomicBool,
    /// Workers that have not ended.
    at_work: AtomicUsize,
    /// The observer of other processes, and whether people know that one is waited for.
    others: Mutex<(Watcher, bool)>,
}

impl Shared {
    /// Ends a worker, unless it is the last: that one stays until nothing is left.
    fn leave(&self) -> bool {
        let leave = |at_work: usize| (at_work > 1).then(|| at_work - 1);
        let left = self.at_work.fetch_update(Ordering::Relaxed, Ordering::Relaxed, leave).is_ok();
        if !left {
            thread::sleep(LAST_LOOKS_EVERY);
        }
        left
    }
}

impl Local<'_> {
    /// Works until no ticket is left, or until those that are left are other workers' of this process.
    fn work(&self, stage: &Stage<'_>, shared: &Shared, watch: &dyn SearchProgress) -> Result<()> {
        let worker = Worker::new(stage.out, self.launcher, self.heartbeat, 0);
        let tickets = Tickets::of(stage.out);
        let trained = |trained: &TrainedTrial| report(stage, trained, watch);
        loop {
            worker
                .run(&shared.stop, &|| watch.epoch(), &trained)
                .inspect_err(|_| shared.stop.store(true, Ordering::Relaxed))?;
            let left = tickets.left()?;
            let is_over = left.is_empty() || shared.stop.load(Ordering::Relaxed);
            if is_over || !self.others_hold(&left, shared, watch)? && shared.leave() {
                return Ok(());
            }
        }
    }

    /// Whether there is something left that this process does not hold: waits a little if others hold it, and
    /// ends their claims if they have ended.
    fn others_hold(&self, left: &[Ticket], shared: &Shared, watch: &dyn SearchProgress) -> Result<bool> {
        let mut others = shared.others.lock().expect("a worker never panics");
        let (seats, ended) = others.0.sweep()?;
        for seat in &ended {
            watch.notice(&format!("trial {} goes on: {} has ended", seat.trial, seat.holder()));
        }
        if !worker::open(left, &seats).is_empty() {
            return Ok(true);
        }
        let is_left = |seat: &&Seat| left.iter().any(|ticket| ticket.trial == seat.trial);
        let Some(other) = seats.iter().filter(is_left).find(|seat| !seat.is_held_by(process::id())) else {
            return Ok(false);
        };
        if !others.1 {
            watch.notice(&format!("waiting for trial {}, which {} trains", other.trial, other.holder()));
        }
        others.1 = true;
        drop(others);
        thread::sleep(self.heartbeat.min(LOOK_EVERY));
        Ok(true)
    }
}

/// Passes on what happened to a trial of the stage.
pub(super) fn report(stage: &Stage<'_>, trained: &TrainedTrial, watch: &dyn SearchProgress) {
    if let Some(trial) = stage.trial(trained.index) {
        watch.trial(trial, &trained.progress, &trained.outcome);
    }
}
