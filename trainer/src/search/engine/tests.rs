//! Searches on queues that lose workers, answer late, or start nothing at all.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{Result, bail};

use super::Engine;
use super::queue::{JobQueue, QueueEngine, Queued};
use crate::search::launch::{Launcher, TrialOutcome, TrialWatch};
use crate::search::tests::{CONFIG, InProcess, experiment, files, plan, search};
use crate::search::worker::Worker;
use crate::search::{Leaderboard, NoSearchProgress, SearchProgress, Trial, run};

const HEARTBEAT: Duration = Duration::from_millis(20);

/// A queue whose workers are threads that end after some trials.
struct Threads {
    out: PathBuf,
    /// Trials that a worker completes before it is killed in the middle of the next.
    trials: usize,
    /// Questions without an answer.
    silent: AtomicUsize,
    workers: Mutex<Vec<JoinHandle<()>>>,
    submitted: AtomicUsize,
}

/// A worker's launcher, which is killed after some trials.
struct Killed(AtomicUsize);

impl Launcher for Killed {
    fn train(&self, trial: &Trial, epochs: usize, watch: &TrialWatch<'_>) -> Result<TrialOutcome> {
        match self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)) {
            Ok(_) => InProcess.train(trial, epochs, watch),
            Err(_) => {
                InProcess.train(trial, epochs.div_ceil(2), watch)?;
                bail!("out of time")
            }
        }
    }
}

impl Threads {
    fn new(folder: &Path, trials: usize) -> Self {
        let (silent, submitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Threads { out: folder.join("queue"), trials, silent, workers: Mutex::default(), submitted }
    }

    fn start(&self, workers: usize) {
        for number in 0..workers {
            let (out, launcher) = (self.out.clone(), Killed(AtomicUsize::new(self.trials)));
            let work = move || {
                let worker = Worker::new(&out, &launcher, HEARTBEAT, number);
                drop(worker.run(&AtomicBool::new(false), &|| {}, &|_| {}));
            };
            self.workers.lock().unwrap().push(thread::spawn(work));
        }
    }
}

impl JobQueue for Threads {
    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn submit(&self, workers: usize) -> Result<String> {
        self.submitted.fetch_add(workers, Ordering::Relaxed);
        self.start(workers);
        Ok(String::from("submitted"))
    }

    fn queued(&self) -> Result<Queued> {
        let silent =
            self.silent.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if silent.is_ok() {
            bail!("no answer");
        }
        let workers = self.workers.lock().unwrap();
        let running = workers.iter().filter(|worker| !worker.is_finished()).count();
        Ok(Queued { running, ..Queued::default() })
    }

    fn last_words(&self) -> String {
        String::from("its last words")
    }
}

fn search_on(queue: &dyn JobQueue, folder: &Path, watch: &dyn SearchProgress) -> Result<Leaderboard> {
    let engine = QueueEngine { queue, workers: 2, heartbeat: HEARTBEAT };
    run(&plan(folder, 9, "queue"), &engine, watch)
}

#[test]
fn what_workers_leave_behind_others_continue() {
    let folder = experiment(CONFIG);
    let expected = search(&plan(folder.path(), 9, "whole"));
    let queue = Threads::new(folder.path(), 1);
    queue.silent.store(3, Ordering::Relaxed);
    assert_eq!(search_on(&queue, folder.path(), &NoSearchProgress).unwrap(), expected);
    assert_eq!(files(folder.path().join("queue")), files(folder.path().join("whole")));
    assert!(queue.submitted.load(Ordering::Relaxed) > 6, "workers that were killed are replaced");
}

#[test]
fn workers_that_are_there_are_not_submitted_again() {
    /// Workers of an earlier call, which start as soon as there are tickets.
    struct Waiting(Threads);
    impl JobQueue for Waiting {
        fn check(&self) -> Result<()> {
            Ok(())
        }
        fn submit(&self, _workers: usize) -> Result<String> {
            bail!("submitted twice")
        }
        fn queued(&self) -> Result<Queued> {
            self.0.queued().map(|queued| Queued { waiting: 2, ..queued })
        }
        fn last_words(&self) -> String {
            self.0.last_words()
        }
    }
    impl SearchProgress for Waiting {
        fn rung(&self, _: usize, _: usize, _: &crate::search::halving::Rung, _: usize) {
            self.0.start(2);
        }
    }
    let folder = experiment(CONFIG);
    let queue = Waiting(Threads::new(folder.path(), usize::MAX));
    let found = search_on(&queue, folder.path(), &queue).unwrap();
    assert_eq!(found.trials.len(), 9);
}

#[test]
fn a_trial_of_a_machine_that_is_gone_is_taken_over() {
    struct Vanishing<'a>(&'a Path, AtomicBool);
    impl SearchProgress for Vanishing<'_> {
        fn rung(&self, _: usize, _: usize, _: &crate::search::halving::Rung, _: usize) {
            if !self.1.swap(true, Ordering::Relaxed) {
                let trials = self.0.join("queue/trials");
                std::fs::rename(trials.join("0004"), trials.join("0004@far.0123.4.5.6.7")).unwrap();
            }
        }
    }
    let folder = experiment(CONFIG);
    let expected = search(&plan(folder.path(), 9, "whole"));
    let queue = Threads::new(folder.path(), usize::MAX);
    let watch = Vanishing(folder.path(), AtomicBool::new(false));
    assert_eq!(search_on(&queue, folder.path(), &watch).unwrap(), expected);
}

#[test]
fn jobs_that_come_to_nothing_end_the_search() {
    struct Nothing(AtomicUsize);
    impl JobQueue for Nothing {
        fn check(&self) -> Result<()> {
            Ok(())
        }
        fn submit(&self, _workers: usize) -> Result<String> {
            self.0.fetch_add(1, Ordering::Relaxed);
            Ok(String::from("submitted"))
        }
        fn queued(&self) -> Result<Queued> {
            Ok(Queued::default())
        }
        fn last_words(&self) -> String {
            String::from("exec: quaver: not found")
        }
    }
    let folder = experiment(CONFIG);
    let queue = Nothing(AtomicUsize::new(0));
    let error = search_on(&queue, folder.path(), &NoSearchProgress).unwrap_err().to_string();
    let names = ["no worker has taken a trial", "queue`", "exec: quaver: not found"];
    assert!(names.iter().all(|name| error.contains(name)), "{error}");
    assert_eq!(queue.0.load(Ordering::Relaxed), 1);
}

#[test]
fn workers_that_never_complete_an_epoch_end_the_search() {
    /// Holds a trial for a while, and ends.
    struct Short;
    impl Launcher for Short {
        fn train(&self, _: &Trial, _: usize, _: &TrialWatch<'_>) -> Result<TrialOutcome> {
            thread::sleep(3 * HEARTBEAT);
            bail!("out of memory")
        }
    }
    struct Weak(Threads);
    impl JobQueue for Weak {
        fn check(&self) -> Result<()> {
            Ok(())
        }
        fn submit(&self, _workers: usize) -> Result<String> {
            let out = self.0.out.clone();
            let work = move || {
                drop(Worker::new(&out, &Short, HEARTBEAT, 0).run(&AtomicBool::new(false), &|| {}, &|_| {}));
            };
            self.0.workers.lock().unwrap().push(thread::spawn(work));
            self.0.submitted.fetch_add(1, Ordering::Relaxed);
            Ok(String::from("submitted"))
        }
        fn queued(&self) -> Result<Queued> {
            self.0.queued()
        }
        fn last_words(&self) -> String {
            self.0.last_words()
        }
    }
    let folder = experiment(CONFIG);
    let queue = Weak(Threads::new(folder.path(), 0));
    let error = search_on(&queue, folder.path(), &NoSearchProgress).unwrap_err().to_string();
    assert!(error.contains("before it completed an epoch") && error.contains("its last words"), "{error}");
    assert!(queue.0.submitted.load(Ordering::Relaxed) >= 3);
}

#[test]
fn a_worker_joins_a_search_of_this_machine() {
    let folder = experiment(CONFIG);
    let expected = search(&plan(folder.path(), 9, "whole"));
    let out = folder.path().join("queue");
    let helper = Threads::new(folder.path(), usize::MAX);
    struct Helped<'a>(&'a Threads);
    impl SearchProgress for Helped<'_> {
        fn rung(&self, _: usize, _: usize, _: &crate::search::halving::Rung, _: usize) {
            self.0.start(3);
        }
    }
    let engine = super::local::Local::new(&InProcess, 1);
    let engine: &dyn Engine = &engine;
    assert_eq!(run(&plan(folder.path(), 9, "queue"), engine, &Helped(&helper)).unwrap(), expected);
    assert_eq!(files(out), files(folder.path().join("whole")));
}
