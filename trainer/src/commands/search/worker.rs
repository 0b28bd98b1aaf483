//! `quaver search DIR --worker`: trains trials of a search that another process leads.

use std::env;
use std::path::Path;
use std::process;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::commands::print::print_note;
use crate::nn::parallel::default_threads;
use crate::search::ChildProcesses;
use crate::search::worker::{TrainedTrial, Worker};

/// Takes trials of the search in `out` until none is left that nobody trains.
pub(super) fn run(out: &Path, heartbeat: Duration) -> Result<()> {
    ensure!(
        out.join("trials").is_dir(),
        "`{}` contains no search: is this the folder given with --out, and does this machine see it?",
        out.display()
    );
    let launcher = ChildProcesses {
        quaver: env::current_exe().context("cannot find the path of this program")?,
        threads: default_threads(),
        deadline: None,
    };
    print_note(&format!("process {} takes trials of {}", process::id(), out.display()));
    let worker = Worker::new(out, &launcher, heartbeat, place());
    let trained = |trained: &TrainedTrial| print_note(&super::progress::trial_line(trained));
    worker.run(&AtomicBool::new(false), &|| {}, &trained)?;
    print_note("nothing is left to take");
    Ok(())
}

/// The worker's number among others, so that not all start with the same trial.
fn place() -> usize {
    let number = |name: &str| env::var(name).ok()?.parse().ok();
    let known = ["SLURM_ARRAY_TASK_ID", "HQ_TASK_ID"].into_iter().find_map(number);
    known.unwrap_or(process::id() as usize)
}
