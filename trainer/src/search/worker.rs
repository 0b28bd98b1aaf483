//! A worker: takes trials of a search until none is left. Any number of them may work on one search, on any
//! machines that share its folder.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex};
use std::thread;
use std::time::Duration;

use anyhow::Result;

use super::launch::{ClaimLost, Launcher, TrialOutcome, TrialWatch};
use super::sharing::claim::{Claim, Seat, seats};
use super::sharing::tickets::{Ticket, Tickets};
use super::{Trial, TrialProgress};

/// How often a claimant shows that it lives, unless told otherwise.
pub const HEARTBEAT: Duration = Duration::from_secs(10);

/// A worker of the search in a folder.
pub struct Worker<'a> {
    out: PathBuf,
    tickets: Tickets,
    launcher: &'a dyn Launcher,
    heartbeat: Duration,
    /// Where in the list of tickets it starts, so that many workers do not all try the same one.
    start: usize,
}

/// A trial that a worker has trained.
#[derive(Clone, Debug)]
pub struct TrainedTrial {
    /// Its number.
    pub index: usize,
    /// Its progress.
    pub progress: TrialProgress,
    /// Its result.
    pub outcome: TrialOutcome,
}

impl<'a> Worker<'a> {
    /// A worker of the search in `out`.
    pub fn new(out: &Path, launcher: &'a dyn Launcher, heartbeat: Duration, start: usize) -> Self {
        Worker { out: out.to_path_buf(), tickets: Tickets::of(out), launcher, heartbeat, start }
    }

    /// Trains trials until there is none that nobody trains, or until `stop` is set, and calls `trained`
    /// after each. `epoch` is called after every epoch.
    ///
    /// # Errors
    /// When a problem affects not only one trial.
    pub fn run(&self, stop: &AtomicBool, epoch: &dyn Fn(), trained: &dyn Fn(&TrainedTrial)) -> Result<()> {
        while !stop.load(Ordering::Relaxed) {
            let Some((ticket, claim)) = self.take()? else { break };
            if let Some(done) = self.train(ticket, claim, epoch)? {
                trained(&done);
            }
        }
        Ok(())
    }

    /// Claims a trial that has a ticket and is at rest; `None` if there is none.
    fn take(&self) -> Result<Option<(Ticket, Claim)>> {
        let tickets = self.tickets.left()?;
        if tickets.is_empty() {
            return Ok(None);
        }
        let folder = self.out.join("trials");
        let open = open(&tickets, &seats(&folder)?);
        for index in 0..open.len() {
            let ticket = open[(self.start + index) % open.len()];
            if let Some(claim) = Claim::take(&folder, ticket.trial)? {
                return Ok(Some((ticket, claim)));
            }
        }
        Ok(None)
    }

    /// Trains a trial; `None` if somebody else has taken it over.
    fn train(&self, ticket: Ticket, claim: Claim, epoch: &dyn Fn()) -> Result<Option<TrainedTrial>> {
        let trained = self.hold(ticket, &claim, epoch);
        // Also after an error: others need not wait until it looks stale.
        let lasted = claim.release();
        match trained {
            Err(error) if error.is::<ClaimLost>() => Ok(None),
            Err(_) if matches!(lasted, Ok(false)) => Ok(None),
            Err(error) => Err(error),
            Ok(trained) => {
                if !lasted? {
                    return Ok(None);
                }
                self.tickets.remove(ticket)?;
                Ok(Some(trained))
            }
        }
    }

    /// Trains a trial while a heartbeat shows that this process lives.
    fn hold(&self, ticket: Ticket, claim: &Claim, epoch: &dyn Fn()) -> Result<TrainedTrial> {
        let trial = Trial::claimed(&self.out, ticket.trial, claim)?;
        let is_lost = AtomicBool::new(false);
        let (done, ended) = (Mutex::new(false), Condvar::new());
        thread::scope(|scope| {
            scope.spawn(|| {
                let mut count = 0;
                let mut done = done.lock().expect("nobody panics with it");
                while !*done && !is_lost.load(Ordering::Relaxed) {
                    done = ended.wait_timeout(done, self.heartbeat).expect("nobody panics with it").0;
                    count += 1;
                    if !*done && !claim.beat(count) {
                        is_lost.store(true, Ordering::Relaxed);
                    }
                }
            });
            let watch = TrialWatch { epoch, is_lost: &|| is_lost.load(Ordering::Relaxed) };
            let trained = self.train_held(&trial, ticket.epochs, &watch);
            *done.lock().expect("nobody panics with it") = true;
            ended.notify_all();
            trained
        })
    }

    fn train_held(&self, trial: &Trial, epochs: usize, watch: &TrialWatch<'_>) -> Result<TrainedTrial> {
        // Somebody who was killed between releasing it and removing its ticket may have finished it.
        let outcome = match trial.is_done(epochs)? {
            true => TrialOutcome::Done,
            false => {
                trial.set_failure(None)?;
                self.launcher.train(trial, epochs, watch)?
            }
        };
        if let TrialOutcome::Failed(reason) = &outcome {
            trial.set_failure(Some(reason))?;
        }
        Ok(TrainedTrial { index: trial.index, progress: trial.progress(epochs)?, outcome })
    }
}

/// The tickets of trials that nobody holds.
pub(super) fn open(tickets: &[Ticket], seats: &[Seat]) -> Vec<Ticket> {
    let is_free =
        |ticket: &&Ticket| seats.iter().any(|seat| seat.trial == ticket.trial && seat.claimant.is_none());
    tickets.iter().filter(is_free).copied().collect()
}
