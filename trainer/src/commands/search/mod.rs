//! `quaver search`: random search with successive halving.

mod progress;

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
use crate::search::{self, ChildProcesses, Leaderboard, SearchPlan};
use progress::SearchConsole;

/// Search hyper-parameters: many trials, the bad ones stopped early
///
/// The section [search] of the config sets the distribution of every searched key, such as
/// training.learning_rate = { log_uniform = [1e-4, 1e-1] }. All trials train for some epochs, the best third
/// of them for three times as many, and so on until training.epochs (search.halving sets other numbers).
/// Every trial is a run of its own in DIR/trials; its values depend only on the seed and its number. After an
/// interruption of any kind, the same command continues the search. DIR/best is the best run, and
/// DIR/report.html shows the importance of the keys.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  quaver search config.toml --trials 32 --out searches/first
  quaver search config.toml --trials 64 --jobs 2 --out searches/first     continue, with more trials
  quaver search config.toml --trials 16 --out searches/small --set training.epochs=20
  quaver export searches/first/best -o model.qvr")]
pub struct Arguments {
    /// The config: data, model, training and search space.
    #[arg(value_name = "CONFIG.toml")]
    config: PathBuf,
    /// Number of trials.
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=9999))]
    trials: u32,
    /// Number of trials that train at the same time; they share the cores.
    #[arg(long, value_name = "J", default_value_t = 1, value_parser = value_parser!(u32).range(1..=256))]
    jobs: u32,
    /// The folder of the search.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Folder for relative paths of data, instead of the config's folder.
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Override a value of the config, in all trials.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Print one JSON object.
    #[arg(long)]
    json: bool,
}

/// Rows of the leaderboard on a terminal.
const SHOWN: usize = 10;

pub(super) fn run(arguments: &Arguments) -> Result<()> {
    // Errors in the data are reported once, not once per trial.
    Config::load_with_data(&arguments.config, &arguments.set, arguments.data_dir.as_deref())?.load_data()?;
    let plan = SearchPlan {
        config: arguments.config.clone(),
        overrides: arguments.set.clone(),
        data_dir: arguments.data_dir.clone(),
        trials: arguments.trials as usize,
        jobs: arguments.jobs as usize,
        out: arguments.out.clone(),
    };
    let launcher = ChildProcesses {
        quaver: env::current_exe().context("cannot find the path of this program")?,
        threads: (default_threads() / plan.jobs).max(1),
        deadline: None,
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
