//! `quaver search`: many trials of one config, and the best of them.

mod progress;

use std::path::PathBuf;
use std::{env, thread};

use anyhow::{Context, Result};
use clap::value_parser;
use serde_json::json;

use super::print::{print_json, print_text};
use super::text_table;
use crate::config::Config;
use crate::report;
use crate::search::{self, ChildProcesses, Leaderboard, SearchPlan};
use progress::SearchConsole;

/// Search for good settings: many trials, the bad ones stopped early.
///
/// The section [search] of the config says what is drawn for every trial, such as
/// training.learning_rate = { log_uniform = [1e-4, 1e-1] }. All trials train for some epochs, the best third goes on for three
/// times as many, and so forth until training.epochs (search.halving sets other numbers). Every trial is a run of its own in
/// DIR/trials; what it draws depends on the seed and its number alone. When the search is interrupted, in whatever way, the
/// same command goes on with it. DIR/best is the best run, DIR/report.html shows what mattered.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver search config.toml --trials 32 --out searches/first
  quaver search config.toml --trials 64 --jobs 2 --out searches/first     goes on, with more trials
  quaver search config.toml --trials 16 --out searches/small --set training.epochs=20
  quaver export searches/first/best -o model.qvr")]
pub struct Arguments {
    /// Data, model, training, and what to search.
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// How many trials to draw.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=9999))]
    trials: u32,
    /// How many trials train at the same time; they share the cores.
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = value_parser!(u32).range(1..=256))]
    jobs: u32,
    /// The folder of the search.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Where relative paths of data start, instead of the config's folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Replace a value of the config, in all trials.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Rows of the leaderboard that a terminal shows.
const SHOWN: usize = 10;

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    // Data that cannot be read are told once, not once per trial.
    Config::load_with_data(&arguments.config, &arguments.set, arguments.data_dir.as_deref())?.load_data()?;
    let plan = SearchPlan {
        config: arguments.config.clone(),
        overrides: arguments.set.clone(),
        data_dir: arguments.data_dir.clone(),
        trials: arguments.trials as usize,
        jobs: arguments.jobs as usize,
        out: arguments.out.clone(),
    };
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let launcher = ChildProcesses {
        quaver: env::current_exe().context("cannot tell where this program is")?,
        threads: (cores / plan.jobs).max(1),
    };
    let leaderboard = search::run(&plan, &launcher, &SearchConsole::new())?;
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

fn render(plan: &SearchPlan, leaderboard: &Leaderboard) -> String {
    let mut rows = leaderboard.table();
    rows.truncate(SHOWN + 1);
    let mut text = text_table::render(&rows);
    let importance =
        leaderboard.importance.iter().map(|key| format!("{} {:.0} %", key.key, 100.0 * key.explained));
    let out = plan.out.display();
    text += &format!(
        "\nvalidation NLL in nats per step; all {} trials: {out}/leaderboard.csv\n",
        leaderboard.trials.len()
    );
    text += &format!("what mattered: {} ({out}/report.html)\n", importance.collect::<Vec<_>>().join(", "));
    if let Some(best) = leaderboard.best() {
        text += &format!(
            "best: trial {}, in {out}/best. Next:\n  quaver export {out}/best -o model.qvr\n",
            best.trial
        );
    }
    text
}
