//! `quaver search`: random search with successive halving.

mod cluster;
mod progress;
mod worker;

use std::env;
use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::value_parser;
use serde_json::json;

use super::print::{print_json, print_text};
use super::text_table;
use crate::config::Config;
use crate::nn::parallel::default_threads;
use crate::report;
use crate::search::engine::queue::QueueEngine;
use crate::search::{self, ChildProcesses, Leaderboard, Local, SearchPlan};
use cluster::{Cluster, EngineOptions};
use progress::SearchConsole;

/// Search hyper-parameters: many trials, the bad ones stopped early
///
/// The section [search] of the config sets the distribution of every searched key, such as
/// training.learning_rate = { log_uniform = [1e-4, 1e-1] }. All trials train for some epochs, the best third
/// of them for three times as many, and so on until training.epochs (search.halving sets other numbers).
/// Every trial is a run of its own in DIR/trials; its values depend only on the seed and its number. After an
/// interruption of any kind, the same command continues the search. DIR/best is the best run, and
/// DIR/report.html shows the importance of the keys.
///
/// Trials train on this machine, or on a cluster whose nodes share DIR (--engine slurm, --engine hyperqueue):
/// the result is the same. See docs/how-to/search-on-a-cluster.md.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver search config.toml --trials 32 --out searches/first
  quaver search config.toml --trials 64 --jobs 2 --out searches/first     continue, with more trials
  quaver search config.toml --trials 16 --out searches/small --set training.epochs=20
  quaver search config.toml --trials 999 --out searches/big --engine slurm --partition cpu --time 2:00:00
  quaver search config.toml --trials 999 --out searches/big --engine slurm --dry-run
  quaver search searches/first --worker                  help a search, on any machine that shares its folder
  quaver export searches/first/best -o model.qvr")]
pub struct Arguments {
    /// The config: data, model, training and search space. With --worker, the folder of the search.
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// Number of trials.
    #[arg(
        long,
        value_name = "N",
        required_unless_present = "worker",
        conflicts_with = "worker",
        value_parser = value_parser!(u32).range(1..=9999)
    )]
    trials: Option<u32>,
    /// Number of trials that train at the same time. On this machine they share the cores [default: 1]; on a
    /// cluster this is the number of workers [default: one per trial, at most 1000].
    #[arg(long, value_name = "J", conflicts_with = "worker", value_parser = value_parser!(u32).range(1..=1000))]
    jobs: Option<u32>,
    /// The folder of the search.
    #[arg(long, value_name = "DIR", required_unless_present = "worker", conflicts_with = "worker")]
    out: Option<PathBuf>,
    /// Folder for relative paths of data, instead of the config's folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Override a value of the config, in all trials.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    engine: EngineOptions,
}

/// Rows of the leaderboard on a terminal.
const SHOWN: usize = 10;

/// Workers on a cluster, unless told otherwise: Slurm's own limit of an array.
const MOST_WORKERS: u32 = 1000;

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.engine.worker {
        return worker::run(&arguments.config, arguments.engine.heartbeat());
    }
    let (Some(out), Some(trials)) = (&arguments.out, arguments.trials) else {
        unreachable!("clap requires both");
    };
    let cluster = arguments.engine.cluster(out)?;
    // Errors in the data are reported once, not once per trial.
    Config::load_with_data(&arguments.config, &arguments.set, arguments.data_dir.as_deref())?.load_data()?;
    let plan = SearchPlan {
        config: arguments.config.clone(),
        overrides: arguments.set.clone(),
        data_dir: arguments.data_dir.clone(),
        trials: trials as usize,
        out: out.clone(),
    };
    if arguments.engine.dry_run {
        return dry_run(arguments, &plan, cluster.as_ref());
    }
    let leaderboard = match cluster {
        None => search_here(arguments, &plan)?,
        Some(cluster) => search_on(arguments, &plan, &cluster)?,
    };
    let title = format!("Search of {}", arguments.config.display());
    report::write(&plan.out.join("report.html"), &search::page(&title, &leaderboard))?;
    if arguments.json {
        let best =
            leaderboard.best().map(|best| json!({ "trial": best.trial, "folder": plan.out.join("best") }));
        let found =
            json!({ "best": best, "trials": leaderboard.trials, "importance": leaderboard.importance });
        print_json(&found)
    } else {
        print_text(&render(&plan, &leaderboard))
    }
}

fn search_here(arguments: &Arguments, plan: &SearchPlan) -> Result<Leaderboard> {
    let jobs = arguments.jobs.unwrap_or(1) as usize;
    let launcher = ChildProcesses {
        quaver: env::current_exe().context("cannot find the path of this program")?,
        threads: (default_threads() / jobs).max(1),
        deadline: None,
    };
    let engine = Local { launcher: &launcher, jobs, heartbeat: arguments.engine.heartbeat() };
    search::run(plan, &engine, &SearchConsole::new())
}

fn search_on(arguments: &Arguments, plan: &SearchPlan, cluster: &Cluster) -> Result<Leaderboard> {
    let queue = cluster.queue();
    queue.check()?;
    let workers = arguments.jobs.unwrap_or(MOST_WORKERS) as usize;
    let engine = QueueEngine { queue, workers, heartbeat: arguments.engine.heartbeat() };
    search::run(plan, &engine, &SearchConsole::new())
}

/// Prints what a search would do.
fn dry_run(arguments: &Arguments, plan: &SearchPlan, cluster: Option<&Cluster>) -> Result<()> {
    let rungs = search::stages(plan)?;
    let mut text = String::new();
    for (number, rung) in rungs.iter().enumerate() {
        let (of, number) = (rungs.len(), number + 1);
        text += &format!("# stage {number} of {of}: {} trials up to epoch {}\n", rung.trials, rung.epochs);
    }
    let workers = |default: u32| arguments.jobs.unwrap_or(default).min(rungs[0].trials as u32) as usize;
    text += &match cluster {
        None => format!("# {} at a time on this machine; nothing is submitted\n", workers(1)),
        Some(cluster) => cluster.described(workers(MOST_WORKERS))?,
    };
    print_text(&text)
}

fn render(plan: &SearchPlan, leaderboard: &Leaderboard) -> String {
    let mut rows = leaderboard.table();
    rows.truncate(SHOWN + 1);
    let mut text = text_table::render(&rows);
    let importance =
        leaderboard.importance.iter().map(|key| format!("{} {:.0} %", key.key, 100.0 * key.explained));
    let out = plan.out.display();
    text += &format!(
        "\nvalidation NLL in nats per step, standardised where targets are real numbers; all {} trials: {out}/leaderboard.csv\n",
        leaderboard.trials.len()
    );
    text += &format!("importance: {} ({out}/report.html)\n", importance.collect::<Vec<_>>().join(", "));
    if let Some(best) = leaderboard.best() {
        text += &format!(
            "best: trial {}, in {out}/best. Next:\n  quaver export {out}/best -o model.qvr\n",
            best.trial
        );
    }
    text
}
